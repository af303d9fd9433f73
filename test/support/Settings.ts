import { Schema } from "effect"
import { type BuiltInKind, builtInSources, type SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"

/** Settings of a kind of source as a pipeline file may write them. */
export type Written<K extends BuiltInKind> = (typeof builtInSources)[K]["Encoded"]

/** Decodes settings as a pipeline file writes them, with every default filled in. */
export const settingsOf = <K extends BuiltInKind>(kind: K, written: Written<K>): SettingsOf<K> =>
  Schema.decodeUnknownSync(builtInSources[kind] as unknown as Schema.Codec<SettingsOf<K>, unknown>)(written) // the schema of that kind
