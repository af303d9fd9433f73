import type { Definition } from "./Definition.ts"
import { frame, secretRanges } from "./Frame.ts"
import { formatPath, PipelineInvalid, type PipelineIssue, type Problem } from "./PipelineInvalid.ts"
import { pathKey, type YamlText } from "./YamlText.ts"

const maxShown = 100

/** Problems with their places, in the order of the file. */
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

/** The entry itself, or the nearest one around it that is in the file. */
const offsetOf = (source: YamlText, { near, path, place }: Problem): number => {
  if (near !== undefined && !source.entries.has(pathKey(path.slice(0, 1)))) return offsetOf(source, { path: near, rule: "", place: "key" })
  const entry = source.entries.get(pathKey(path))
  if (entry !== undefined) {
    const empty = entry.value[0] === entry.value[1]
    return (place === "key" || empty ? entry.key ?? entry.value : entry.value)[0]
  }
  return path.length === 0 ? 0 : offsetOf(source, { path: path.slice(0, -1), rule: "", place: "key" })
}

/** A problem of a value that has no text. */
export const issueOf = (file: string, { fix, path, rule, suggestion }: Problem): PipelineIssue => ({
  file,
  path: formatPath(path),
  rule,
  fix,
  suggestion
})

/** What is wrong with a pipeline that came from no file. */
export const invalidPipeline = ({ name }: Definition, problems: ReadonlyArray<Problem>): PipelineInvalid => {
  const file = `pipeline ${JSON.stringify(name)}`
  return new PipelineInvalid({ file, issues: problems.map((problem) => issueOf(file, problem)) })
}
