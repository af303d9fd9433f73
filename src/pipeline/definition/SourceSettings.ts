import type { Duration } from "effect"
import { builtInSources } from "../../domain/sources/BuiltInSources.ts"
import { oneOf, type OwnCases } from "../../domain/settings/OneOf.ts"

/** A source of a connector that does not come with Sluice. */
export interface OwnSource {
  readonly _tag: "own"
  /** Key under which a file writes it. */
  readonly kind: string
  readonly settings: {
    /** How often `watch` lists it. */
    readonly poll?: Duration.Duration
    /** Where a hosted engine fetches its files from: `gs://bucket/prefix`. */
    readonly staging?: string
    readonly [name: string]: unknown
  }
}

/** Setting of where documents come from: exactly one kind. `own`: kinds of connectors that do not come with Sluice. */
export const sourceSettings = (own: OwnCases = {}) =>
  oneOf<never, typeof builtInSources, OwnSource>({
    bare: [],
    description: "Where documents come from: exactly one kind.",
    cases: builtInSources,
    own
  })
export type SourceSettings = ReturnType<typeof sourceSettings>["Type"]

/** Key under which a file writes the source. */
export const kindOf = (source: SourceSettings): string => source._tag === "own" ? source.kind : source._tag

/** Settings that every source has, whatever its kind. */
export const commonSettings = (source: SourceSettings): {
  readonly poll?: Duration.Duration
  readonly staging?: string
  readonly listing?: "sluice" | "service"
} => source._tag === "own" ? source.settings : source
