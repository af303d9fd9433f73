import { Runtime, Schema } from "effect"
import { ExitCode } from "../../domain/Errors.ts"

/** Where in the value: `["stages", 0, "retrieve", "topK"]`. */
export type ValuePath = ReadonlyArray<string | number>

/** A broken rule, before it is known where in the file it is. Never holds the offending value of a secret field. */
export interface Problem {
  readonly path: ValuePath
  readonly rule: string
  readonly fix?: string
  /** The key or value that was probably meant. */
  readonly suggestion?: string
  /** Which part of the entry at `path` is wrong; default `value`. */
  readonly place?: "key" | "value"
  /** The entry it has to do with, where the file has nothing of `path`. */
  readonly near?: ValuePath
}

/** One broken rule, for people and for `--json`. */
export const PipelineIssue = Schema.Struct({
  file: Schema.String,
  /** From 1; absent where the pipeline is a TypeScript value. */
  line: Schema.optional(Schema.Int),
  column: Schema.optional(Schema.Int),
  /** Such as `stages[0].retrieve.topK`; empty for the whole file. */
  path: Schema.String,
  rule: Schema.String,
  fix: Schema.optional(Schema.String),
  suggestion: Schema.optional(Schema.String),
  /** The lines around it, secrets masked, a caret under the place. */
  frame: Schema.optional(Schema.String)
})
export type PipelineIssue = typeof PipelineIssue.Type

/** The pipeline cannot be used as it is written. Holds every broken rule, not the first. */
export class PipelineInvalid extends Schema.TaggedError<PipelineInvalid>()("PipelineInvalid", {
  file: Schema.String,
  issues: Schema.Array(PipelineIssue)
}) {
  override readonly [Runtime.errorExitCode] = ExitCode.invalid

  override get message(): string {
    const count = this.issues.length === 1 ? "1 problem" : `${this.issues.length} problems`
    return [`${this.file} is not a valid pipeline: ${count}`, ...this.issues.map(render)].join("\n\n")
  }
}

const render = (issue: PipelineIssue): string => {
  const place = issue.line === undefined ? issue.file : `${issue.file}:${issue.line}:${issue.column ?? 1}`
  const advice = [
    ...(issue.suggestion === undefined ? [] : [`did you mean ${issue.suggestion}?`]),
    ...(issue.fix === undefined ? [] : [issue.fix])
  ]
  return [
    issue.path === "" ? place : `${place}  ${issue.path}`,
    `  ${issue.rule}`,
    ...advice.map((line) => `  fix: ${line}`),
    ...(issue.frame === undefined ? [] : ["", issue.frame])
  ].join("\n")
}

/** `stages[0].retrieve.topK`. */
export const formatPath = (path: ValuePath): string =>
  path.map((key, at) => {
    if (typeof key === "number") return `[${key}]`
    return /^[A-Za-z_][\w-]*$/.test(key) ? `${at === 0 ? "" : "."}${key}` : `[${JSON.stringify(key)}]`
  }).join("")
