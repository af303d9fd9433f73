/** The embedded engine: one machine, no account, no network. */
export { embedded as layer, type EmbeddedHostOptions as Options } from "./Host.ts"
export { exportBundle, type ExportOptions, fromBundle } from "./Bundle.ts"
