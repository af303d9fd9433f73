import { Schema } from "effect"
import picomatch from "picomatch"
import { text, withDefault } from "../domain/settings/Rules.ts"

/** Glob patterns, matched against `/`-separated paths: `docs/**`, `*.md`. Absent: an empty list. */
export const globs = (description: string) => withDefault(Schema.Array(text).annotate({ description }), [])

/** A setting that may be left out, with a `description` for the file's schema. */
export const optional = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(Schema.annotateEncoded({ description })(schema) as S)

/** Whether a path is one of `include` (empty: every path is) and none of `exclude`. Dots in names are as other letters. */
export const pathFilter = ({ exclude = [], include = [] }: {
  readonly include?: ReadonlyArray<string>
  readonly exclude?: ReadonlyArray<string>
}): (path: string) => boolean => {
  const taken = include.length === 0 ? () => true : picomatch([...include], { dot: true })
  const left = exclude.length === 0 ? () => false : picomatch([...exclude], { dot: true })
  return (path) => taken(path) && !left(path)
}
