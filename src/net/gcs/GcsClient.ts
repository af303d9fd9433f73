import { Effect } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import type { ServiceError } from "../../domain/Errors.ts"
import { call, type Caller, callJson } from "../Call.ts"
import { gcsError } from "./GcsErrors.ts"
import { GcsObject, GcsPage, objectFields } from "./GcsObject.ts"

export interface GcsOptions {
  /** Default `https://storage.googleapis.com`. */
  readonly endpoint?: string
  /** Project that pays for requests to requester-pays buckets. */
  readonly userProject?: string
}

/** Where a listing goes on: a page token, or after a name when there is no token or it has expired. */
export interface GcsPosition {
  readonly token?: string
  readonly after?: string
}

/** The Cloud Storage JSON API (`storage/v1`). Names of objects are given as they are. */
export interface GcsClient {
  /** One page, names in order of their UTF-8 bytes. At most `size`, 1 to 1000. */
  readonly list: (bucket: string, prefix: string, position: GcsPosition, size: number) => Effect.Effect<GcsPage, ServiceError>
  readonly head: (bucket: string, name: string) => Effect.Effect<GcsObject, ServiceError>
  /** Bytes as stored, from `offset` on, of that generation or `ABORTED`; without one, of the newest. */
  readonly open: (
    bucket: string,
    name: string,
    at: { readonly generation?: string; readonly offset?: number }
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, ServiceError>
  readonly delete: (bucket: string, name: string, generation?: string) => Effect.Effect<void, ServiceError>
}

export const gcsClient = (caller: Caller, options: GcsOptions = {}): GcsClient => {
  const base = endpointOf(options)
  const query = (params: Readonly<Record<string, string | undefined>>): string => queryOf({ ...params, userProject: options.userProject })
  const bucketUrl = (bucket: string) => `${base}/storage/v1/b/${bucket}/o`
  const objectUrl = (bucket: string, name: string) => `${bucketUrl(bucket)}/${encodeURIComponent(name)}`

  return {
    list: (bucket, prefix, { after, token }, size) =>
      callJson(
        caller,
        `the listing of gs://${bucket}/${prefix}`,
        HttpClientRequest.get(
          bucketUrl(bucket) + query({
            prefix,
            maxResults: String(size),
            fields: `nextPageToken,items(${objectFields})`,
            pageToken: token,
            startOffset: token === undefined ? after : undefined
          })
        ),
        GcsPage
      ).pipe(
        Effect.mapError(gcsError(bucket, undefined, "roles/storage.objectViewer")),
        // startOffset includes the name itself.
        Effect.map((page) =>
          token === undefined && page.items?.[0] !== undefined && page.items[0].name === after
            ? { ...page, items: page.items.slice(1) }
            : page
        )
      ),
    head: (bucket, name) =>
      callJson(
        caller,
        `gs://${bucket}/${name}`,
        HttpClientRequest.get(objectUrl(bucket, name) + query({ fields: objectFields })),
        GcsObject
      )
        .pipe(Effect.mapError(gcsError(bucket, name, "roles/storage.objectViewer"))),
    open: (bucket, name, { generation, offset = 0 }) =>
      call(
        caller,
        `gs://${bucket}/${name}`,
        HttpClientRequest.get(objectUrl(bucket, name) + query({ alt: "media", ifGenerationMatch: generation }), {
          headers: { "accept-encoding": "gzip", range: offset === 0 ? undefined : `bytes=${offset}-` }
        })
      ).pipe(Effect.mapError(gcsError(bucket, name, "roles/storage.objectViewer"))),
    delete: (bucket, name, generation) =>
      call(
        caller,
        `the deletion of gs://${bucket}/${name}`,
        HttpClientRequest.delete(objectUrl(bucket, name) + query({ ifGenerationMatch: generation })),
        (status) => status === 204 || status === 200 || status === 404
      ).pipe(Effect.asVoid, Effect.mapError(gcsError(bucket, name, "roles/storage.objectUser")))
  }
}

/** Without a slash at its end. */
export const endpointOf = (options: GcsOptions): string => (options.endpoint ?? "https://storage.googleapis.com").replace(/\/+$/, "")

/** `?a=b&c=d` of what is there; nothing for nothing. */
export const queryOf = (params: Readonly<Record<string, string | undefined>>): string => {
  const pairs = Object.entries(params).flatMap(([name, value]) => value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`])
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`
}

/** The emulator that `STORAGE_EMULATOR_HOST` names, with or without a scheme; it wants no credentials. */
export const emulatorOf = (environment: Readonly<Record<string, string | undefined>>): string | undefined => {
  const host = environment["STORAGE_EMULATOR_HOST"]?.trim()
  return host === undefined || host === "" ? undefined : /^https?:\/\//.test(host) ? host : `http://${host}`
}
