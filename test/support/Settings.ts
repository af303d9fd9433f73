import { Schema } from "effect"
import { type BuiltInKind, builtInSources, type SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"

/** What a file may write of a source of a kind. */
export type Written<K extends BuiltInKind> = (typeof builtInSources)[K]["Encoded"]

/** Settings as a file writes them, checked, with every default filled in. */
export const settingsOf = <K extends BuiltInKind>(kind: K, written: Written<K>): SettingsOf<K> =>
  Schema.decodeUnknownSync(builtInSources[kind] as unknown as Schema.Codec<SettingsOf<K>, unknown>)(written) // the schema of that kind
