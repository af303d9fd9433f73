import { Result } from "effect"
import { decode } from "../../../../src/pipeline/definition/Decode.ts"
import { formatPath } from "../../../../src/pipeline/definition/PipelineInvalid.ts"
import type { PipelineFile } from "../../../../src/pipeline/definition/Definition.ts"

export const secret = "projects/123/secrets/kb/versions/latest"

/** The least a pipeline can be. */
export const minimal = {
  name: "handbook",
  corpus: { displayName: "Handbook" },
  sources: { docs: { local: { path: "./docs" } } }
} as const satisfies PipelineFile

export const withSource = (source: unknown): unknown => ({ ...minimal, sources: { s: source } })
export const withVectorDb = (vectorDb: unknown): unknown => ({ ...minimal, corpus: { displayName: "Handbook", vectorDb } })
export const withStages = (...stages: ReadonlyArray<unknown>): unknown => ({ ...minimal, stages })
export const withRetrieve = (retrieve: unknown): unknown => withStages({ retrieve })

/** `path: rule` of everything wrong; empty when nothing is. */
export const problemsOf = (written: unknown): ReadonlyArray<string> =>
  Result.match(decode(written), {
    onSuccess: () => [],
    onFailure: (problems) => problems.map(({ path, rule }) => `${formatPath(path)}: ${rule}`)
  })
