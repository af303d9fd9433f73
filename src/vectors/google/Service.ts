import type { GoogleAuth } from "../../net/GoogleAuth.ts"
import { unfit } from "../Chunks.ts"
import { decoder, type RestStoreOptions } from "../Rest.ts"

/** Options of every store at Google Cloud. */
export interface GoogleStoreOptions extends RestStoreOptions {
  /** Base URL that replaces the service's own addresses, both regional and public. */
  readonly endpoint?: string | undefined
  readonly auth: GoogleAuth["Service"]
}

/** Decodes responses of a Google service. Errors name `field` of the pipeline file, and the service as `place`. */
export const decoderOf = (field: string, place: string) =>
  decoder(() => unfit(field, `${place} does not answer as its API specifies`, "use a version of Sluice that supports the current API"))

/** Id of a chunk's datapoint, entity or document: `{corpus}/{version}/{ordinal}`. */
export const idOf = (corpus: string, file: string, ordinal: number): string => `${corpus}/${file}/${ordinal}`

/** The version and ordinal in an id of {@link idOf}; undefined for other ids. */
export const placeIn = (id: string): { readonly file: string; readonly ordinal: number } | undefined => {
  const [, file, ordinal] = /^[^/]*\/(.*)\/(\d+)$/.exec(id) ?? []
  return file === undefined ? undefined : { file, ordinal: Number(ordinal) }
}
