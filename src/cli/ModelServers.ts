import type { FoundModelServer, ProvenModel } from "../ports/ModelServer.ts"

/**
 * Describes a model server: `Ollama at http://127.0.0.1:11434/v1: answers with llama3.2, embeds with nomic-embed-text
 * (768 dimensions)`.
 */
export const describeServer = ({ answers, embeds, name, url }: FoundModelServer): string => {
  const capabilities = (verb: string, model: ProvenModel | undefined): ReadonlyArray<string> =>
    model === undefined ? [] : [
      model.problem === undefined
        ? `${verb} with ${model.model}${model.dimensions === undefined ? "" : ` (${model.dimensions} dimensions)`}`
        : `lists ${model.model}, which failed: ${model.problem}`
    ]
  return `${name} at ${url}: ${
    [...capabilities("answers", answers), ...capabilities("embeds", embeds)].join(", ") || "lists no model that answers or embeds"
  }`
}

type Answering = FoundModelServer & { readonly answers: ProvenModel }
type Embedding = FoundModelServer & { readonly embeds: ProvenModel & { readonly dimensions: number } }

/** The first server whose model answered. */
export const answeringServer = (servers: ReadonlyArray<FoundModelServer>): Answering | undefined =>
  servers.find((server): server is Answering => server.answers !== undefined && server.answers.problem === undefined)

/** The first server whose model embedded. */
export const embeddingServer = (servers: ReadonlyArray<FoundModelServer>): Embedding | undefined =>
  servers.find((server): server is Embedding => server.embeds?.dimensions !== undefined)
