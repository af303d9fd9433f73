import { ServiceError } from "../../domain/Errors.ts"
import type { Definition } from "./Definition.ts"
import type { EngineName } from "./EngineSettings.ts"
import { writtenPath } from "./ForEngine.ts"
import { frame, secretRanges } from "./Frame.ts"
import { formatPath, PipelineInvalid, type PipelineIssue, type Problem } from "./PipelineInvalid.ts"
import { pathKey, type YamlText } from "./YamlText.ts"

const maxShown = 100

/** Makes the error of problems with their places, in the order of the file. */
export const placed = (
  file: string,
  source: YamlText,
  problems: ReadonlyArray<Problem & { readonly offset?: number }>
): PipelineInvalid => {
  const unknownKeys = problems.filter(({ place }) => place === "key").map(({ path }) => path)
  const hidden = secretRanges(source, unknownKeys)
  const issues = problems
    .map((problem) => ({ problem, offset: problem.offset ?? offsetOf(source, problem) }))
    .sort((a, b) => a.offset - b.offset)
    .slice(0, maxShown)
    .map(({ offset, problem }): PipelineIssue => {
      const { col, line } = source.lines.linePos(offset)
      return {
        ...issueOf(file, problem),
        line: Math.max(1, line),
        column: Math.max(1, col),
        frame: frame(source, offset, hidden)
      }
    })
  return new PipelineInvalid({ file, issues })
}

/** Offset of the entry, or of the nearest enclosing one that is in the file. */
const offsetOf = (source: YamlText, { near, path, place }: Problem): number => {
  if (near !== undefined && !source.entries.has(pathKey(path.slice(0, 1)))) return offsetOf(source, { path: near, rule: "", place: "key" })
  const entry = source.entries.get(pathKey(path))
  if (entry !== undefined) {
    const empty = entry.value[0] === entry.value[1]
    return (place === "key" || empty ? entry.key ?? entry.value : entry.value)[0]
  }
  return path.length === 0 ? 0 : offsetOf(source, { path: path.slice(0, -1), rule: "", place: "key" })
}

/** Makes the issue of a problem in a value without a source text. */
export const issueOf = (file: string, { fix, path, rule, suggestion }: Problem): PipelineIssue => ({
  file,
  path: formatPath(path),
  rule,
  fix,
  suggestion
})

/** Makes the error of a pipeline that was not loaded from a file. */
export const invalidPipeline = ({ name }: Definition, problems: ReadonlyArray<Problem>): PipelineInvalid => {
  const file = `pipeline ${JSON.stringify(name)}`
  return new PipelineInvalid({ file, issues: problems.map((problem) => issueOf(file, problem)) })
}

type Invalid = (problems: ReadonlyArray<Problem>) => PipelineInvalid

/** Locates problems of a pipeline as it runs on an engine: in its section under `engines`, where it has one. */
export const invalidOn = (pipeline: Definition, engine: EngineName, invalid: Invalid): Invalid => (problems) =>
  invalid(problems.map((problem) => ({ ...problem, path: writtenPath(pipeline, engine, problem.path) })))

/** Adds the place of a pipeline's field to an error that names the field; returns other errors unchanged. */
export const placedError = (invalid: Invalid) => <E>(error: E): E => {
  if (!(error instanceof ServiceError) || error.field === undefined || !error.message.startsWith(error.field)) return error
  const [issue] = invalid([{ path: error.field.split("."), rule: error.message }]).issues
  return issue === undefined || issue.line === undefined
    ? error
    // The same class: E stands for it.
    : error.with({ message: `${issue.file}:${issue.line}:${issue.column ?? 1}  ${error.message}` }) as E
}
