import { Result } from "effect"
import { type Extensions, noExtensions } from "../Extensions.ts"
import type { Definition } from "./Definition.ts"
import { decode } from "./Decode.ts"
import type { Environment } from "./Environment.ts"
import type { Finding } from "./Explain.ts"
import type { PipelineInvalid, Problem, ValuePath } from "./PipelineInvalid.ts"
import { placed } from "./Place.ts"
import { pathKey, readYaml, type YamlText } from "./YamlText.ts"

export interface ParsedPipeline {
  readonly pipeline: Definition
  /** Extensions of the modules that the file uses. */
  readonly extensions: Extensions
  /** Makes the error for problems found later, with the place of each in the file. */
  readonly invalid: (problems: ReadonlyArray<Problem>) => PipelineInvalid
}

/** Parses a pipeline from YAML or JSON text; `file` is its name in errors. Local paths stay as written. */
export const parsePipeline = (
  text: string,
  file: string,
  env: Environment,
  extensions: Extensions = noExtensions
): Result.Result<ParsedPipeline, PipelineInvalid> => {
  const source = readYaml(text, env)
  const structural = source.problems.filter(({ path }) => path.length === 0)
  if (structural.length > 0) return Result.fail(placed(file, source, structural))
  const decoded = decodeWithEnvironment(source, extensions)
  if (source.problems.length === 0 && Result.isSuccess(decoded)) {
    return Result.succeed({ pipeline: decoded.success, extensions, invalid: (problems) => placed(file, source, problems) })
  }
  const findings = Result.isFailure(decoded) ? decoded.failure : []
  // A value left empty by a missing variable breaks other rules too; reporting those would only distract.
  const first = new Set(source.problems.map(({ path }) => pathKey(path)))
  const others = findings.filter(({ path }) => !first.has(pathKey(path)))
  return Result.fail(placed(file, source, [...source.problems, ...others]))
}

/** A variable's value is text; where the schema expects a number or a boolean, it is read as one. */
const decodeWithEnvironment = (source: YamlText, extensions: Extensions): Result.Result<Definition, ReadonlyArray<Finding>> => {
  const decoded = decode(source.value, extensions)
  if (Result.isSuccess(decoded)) return decoded
  const wanted = decoded.failure.filter(({ meant, path }) => meant !== undefined && source.entries.get(pathKey(path))?.fromEnvironment)
  if (wanted.length === 0) return decoded
  return decode(wanted.reduce((value, { meant, path }) => replace(value, path, meant), source.value), extensions)
}

const replace = (value: unknown, [key, ...rest]: ValuePath, by: unknown): unknown => {
  if (key === undefined) return by
  if (Array.isArray(value)) return value.map((item, index) => index === key ? replace(item, rest, by) : item)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, name === key ? replace(item, rest, by) : item]))
}
