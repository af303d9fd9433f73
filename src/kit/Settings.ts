import { Schema } from "effect"
import picomatch from "picomatch"
import { glob, withDefault } from "../domain/settings/Rules.ts"

/** A setting with glob patterns, matched against `/`-separated paths: `docs/**`, `*.md`. Default: an empty list. */
export const globs = (description: string) => withDefault(Schema.Array(glob).annotate({ description }), [])

/** An optional setting, with a `description` for the file's schema. */
export const optional = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(Schema.annotateEncoded({ description })(schema) as S)

/**
 * Returns whether a path matches one of `include` (an empty list matches every path) and none of `exclude`. Dots in names are ordinary
 * characters.
 */
export const pathFilter = ({ exclude = [], include = [] }: {
  readonly include?: ReadonlyArray<string>
  readonly exclude?: ReadonlyArray<string>
}): (path: string) => boolean => {
  const taken = include.length === 0 ? () => true : picomatch([...include], { dot: true })
  const left = exclude.length === 0 ? () => false : picomatch([...exclude], { dot: true })
  return (path) => taken(path) && !left(path)
}
