import type { FoundModelServer } from "../ports/ModelServer.ts"
import { answeringServer, embeddingServer } from "./ModelServers.ts"

/**
 * Writes a first pipeline for a folder: complete, commented, and valid as it is. `own` is the file's own path in the folder,
 * if it is in there: such a folder is often that of a program, with files that are not documents.
 */
export const starter = (folder: string, path: string, own: string | undefined, servers: ReadonlyArray<FoundModelServer> = []): string => {
  const title = folder.replace(/[-_.]+/g, " ").trim() || "Documents"
  const name = folder.toLowerCase().replace(/[^a-z0-9._-]+/g, "-").replace(/^[^a-z0-9]+|-+$/g, "").slice(0, 63) || "documents"
  return `# A Sluice pipeline. What each key means: sluice schema, or hover in an editor that has the schema.

name: ${JSON.stringify(name)}

# Where it runs: embedded is this machine, with no account and no network.
# On Vertex AI: engine: { vertex: { project: \${PROJECT}, location: us-central1 } }
engine: embedded

corpus:
  displayName: ${JSON.stringify(title.charAt(0).toUpperCase() + title.slice(1))}
${embeddingBlock(servers)}

# Any number of sources, each under a name of your choice.
sources:
  docs:
    local:
      path: ${JSON.stringify(path)}
      # include: ["**/*.md", "**/*.pdf"]   # default: every file that can be read
${excluded(own)}

# structure keeps headings, tables and code whole and carries the heading path; fixed cuts every \`size\` tokens.
chunking: { strategy: structure, size: 400, overlap: 0 }

import:
  maxDelete: 10%                           # more deletes than this, and than 20, wait for --yes
  # budget: { embeddedTokens: 5M }         # stop there; the next run goes on

# What \`sluice ask\` does, left to right.
stages:
  - retrieve: { topK: 20 }                 # what an answer is chosen from; a model reads, and costs, less with 8
${generateBlock(servers)}
`
}

const excluded = (own: string | undefined): string =>
  own === undefined
    ? `      # exclude: ["drafts/**"]             # .sluiceignore files work too`
    : `      exclude: [${JSON.stringify(own)}, "**/node_modules/**"]   # .sluiceignore files work too; .gitignore is not read`

const keyOf = ({ signed }: FoundModelServer): string => signed ? ", apiKey: projects/local/secrets/openai/versions/latest" : ""

/** Comment on where the key is read from, which is never in the file. */
const keyNote = ({ signed }: FoundModelServer): string => signed ? "   # the key is read from SLUICE_SECRET_OPENAI" : ""

const generateBlock = (servers: ReadonlyArray<FoundModelServer>): string => {
  const server = answeringServer(servers)
  return server === undefined
    ? `  - generate: { model: extractive }        # answers in sentences of the corpus; needs no model
  # - generate: { model: { openai: { url: "http://127.0.0.1:11434/v1", model: llama3.2 } } }   # by a model server`
    : `  - generate: { model: { openai: { url: ${JSON.stringify(server.url)}, model: ${JSON.stringify(server.answers.model)}${
      keyOf(server)
    } } } }${keyNote(server)}
  # - generate: { model: extractive }      # answers in sentences of the corpus; needs no model`
}

const embeddingBlock = (servers: ReadonlyArray<FoundModelServer>): string => {
  const server = embeddingServer(servers)
  const settings = server === undefined
    ? `url: "http://127.0.0.1:11434/v1", model: nomic-embed-text, dimensions: 768`
    : `url: ${JSON.stringify(server.url)}, model: ${JSON.stringify(server.embeds.model)}, dimensions: ${server.embeds.dimensions}${
      keyOf(server)
    }`
  return `  # The offline embedder needs no model. Another embeds everything again when it is changed.
  # embedding: { openai: { ${settings} } }`
}
