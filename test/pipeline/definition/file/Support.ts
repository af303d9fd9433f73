import { Result } from "effect"
import type { Environment } from "../../../../src/pipeline/definition/Environment.ts"
import { type ParsedPipeline, parsePipeline } from "../../../../src/pipeline/definition/Parse.ts"
import type { PipelineInvalid, PipelineIssue } from "../../../../src/pipeline/definition/PipelineInvalid.ts"

export const parsed = (text: string, env: Environment = {}): ParsedPipeline => Result.getOrThrow(parsePipeline(text, "p.yaml", env))

export const invalid = (text: string, env: Environment = {}): PipelineInvalid => {
  const result = parsePipeline(text, "p.yaml", env)
  if (Result.isSuccess(result)) throw new Error("expected the pipeline to be refused")
  return result.failure
}

export const issues = (text: string, env: Environment = {}): ReadonlyArray<PipelineIssue> => invalid(text, env).issues

/** `line:column path` of every issue. */
export const places = (text: string, env: Environment = {}): ReadonlyArray<string> =>
  issues(text, env).map(({ column, line, path }) => `${line}:${column} ${path}`.trim())

export const minimalYaml = `name: handbook
corpus: { displayName: Handbook }
sources: { docs: { local: { path: ./docs } } }
`
