import { Runtime, Schema } from "effect"
import { ExitCode } from "../../domain/Errors.ts"
import { plural } from "../../domain/Numbers.ts"

/** Path in the value: `["stages", 0, "retrieve", "topK"]`. */
export type ValuePath = ReadonlyArray<string | number>

/** A broken rule, before its place in the file is known. Never contains the value of a secret field. */
export interface Problem {
  readonly path: ValuePath
  readonly rule: string
  readonly fix?: string
  /** The key or value that was probably meant. */
  readonly suggestion?: string
  /** Which part of the entry at `path` is wrong; default `value`. */
  readonly place?: "key" | "value"
  /** A related entry, for where the file has nothing at `path`. */
  readonly near?: ValuePath
}

/** One broken rule, for people and for `--json`. */
export const PipelineIssue = Schema.Struct({
  file: Schema.String,
  /** Line from 1; absent where the pipeline is a TypeScript value. */
  line: Schema.optional(Schema.Int),
  column: Schema.optional(Schema.Int),
  /** Path such as `stages[0].retrieve.topK`; empty for the whole file. */
  path: Schema.String,
  rule: Schema.String,
  fix: Schema.optional(Schema.String),
  suggestion: Schema.optional(Schema.String),
  /** The surrounding lines, with secrets masked and a caret under the place. */
  frame: Schema.optional(Schema.String)
})
export type PipelineIssue = typeof PipelineIssue.Type

/** The pipeline is not valid. Contains every broken rule, not just the first. */
export class PipelineInvalid extends Schema.TaggedError<PipelineInvalid>()("PipelineInvalid", {
  file: Schema.String,
  issues: Schema.Array(PipelineIssue),
  /** What it should be; absent for a pipeline. */
  kind: Schema.optional(Schema.String)
}) {
  override readonly [Runtime.errorExitCode] = ExitCode.invalid

  override get message(): string {
    const { file, issues, kind = "pipeline" } = this
    return [`${file} is not a valid ${kind}: ${plural(issues.length, "problem")}`, ...issues.map(render)].join("\n\n")
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

/** Formats a path as `stages[0].retrieve.topK`. */
export const formatPath = (path: ValuePath): string =>
  path.map((key, at) => {
    if (typeof key === "number") return `[${key}]`
    return /^[A-Za-z_][\w-]*$/.test(key) ? `${at === 0 ? "" : "."}${key}` : `[${JSON.stringify(key)}]`
  }).join("")
