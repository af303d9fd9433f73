import { Result, Schema } from "effect"
import { resolve } from "node:path"
import { isModelFolder, localModelName } from "../../domain/LocalModel.ts"
import { EmbeddingChoice } from "../definition/CorpusSettings.ts"
import type { EngineName } from "../definition/EngineSettings.ts"
import { explain } from "../definition/Explain.ts"
import type { PipelineInvalid } from "../definition/PipelineInvalid.ts"
import { placed } from "../definition/Place.ts"
import { readYaml } from "../definition/YamlText.ts"
import type { NamedEmbedding } from "./Tuning.ts"

const decode = Schema.decodeUnknownResult(EmbeddingChoice, { errors: "all", onExcessProperty: "error" })

/**
 * Reads embedders, each written on one line: `default`, the engine's own; a local model by its folder or its name on the
 * hub; a hosted model by its name; or, in braces, settings as under `corpus.embedding` in a pipeline file. Relative
 * folders are relative to the working directory. `where` names the input in errors.
 */
export const readEmbeddings = (
  where: string,
  texts: ReadonlyArray<string>,
  engine: EngineName
): Result.Result<ReadonlyArray<NamedEmbedding>, PipelineInvalid> =>
  Result.gen(function*() {
    const named: Array<NamedEmbedding> = []
    for (const text of new Set(texts.map((text) => text.trim()))) {
      const embedding = text === "default" ? undefined : yield* readEmbedding(where, text, engine)
      const name = embedding !== undefined && text.startsWith("{") ? nameOf(embedding) : text
      named.push({ name: named.some((other) => other.name === name) ? text : name, embedding })
    }
    return named
  })

const readEmbedding = (where: string, text: string, engine: EngineName): Result.Result<EmbeddingChoice, PipelineInvalid> => {
  const plain = engine === "vertex" ? { model: text } : { local: { model: text } }
  const source = readYaml(text.startsWith("{") ? text : JSON.stringify(plain), process.env)
  if (source.problems.length > 0) return Result.fail(placed(where, source, source.problems))
  return Result.mapBoth(decode(source.value), {
    onFailure: ({ issue }) => placed(where, source, explain(issue, source.value)),
    onSuccess: (embedding) =>
      embedding._tag === "local" && isModelFolder(embedding.model) ? { ...embedding, model: resolve(embedding.model) } : embedding
  })
}

const nameOf = (embedding: EmbeddingChoice): string => embedding._tag === "local" ? localModelName(embedding) : embedding.model
