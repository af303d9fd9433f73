import { Schema } from "effect"

/**
 * Fields of a resource that only the hosted service acts upon, such as its encryption key or how its replicas scale, in
 * the service's own words: stored as given, and returned unchanged.
 */
export const Settings = Schema.Record(Schema.String, Schema.Unknown)
export type Settings = typeof Settings.Type
