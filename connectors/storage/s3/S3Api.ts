import { AwsV4Signer } from "aws4fetch"
import { Clock, Effect } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { ServiceError } from "../../../src/domain/Errors.ts"
import { type Caller, callOnce, malformed } from "../../../src/net/Call.ts"
import { bodyText, retryAfterOf, transportErrorOf } from "../../../src/net/HttpErrors.ts"
import { retry } from "../../../src/net/Retry.ts"
import type { ObjectApi } from "../Objects.ts"
import type { S3Config } from "../StorageConfig.ts"
import { bareEtag, parseError, parseList } from "./ListXml.ts"
import { s3Error } from "./S3Errors.ts"

type Environment = Readonly<Record<string, string | undefined>>

interface Ask {
  readonly method: "GET" | "HEAD"
  readonly bucket: string
  readonly key?: string
  readonly query?: Readonly<Record<string, string | undefined>>
  /** Headers that are not signed. */
  readonly headers?: Readonly<Record<string, string>>
}

/** S3 and what speaks like it, by ListObjectsV2 and SigV4. The revision is the etag. */
export const s3Api = (caller: Caller, config: S3Config, environment: Environment): ObjectApi => {
  const set = (name: string): string | undefined => environment[name] === "" ? undefined : environment[name]
  const endpoint = config.endpoint ?? set("AWS_ENDPOINT_URL_S3") ?? set("AWS_ENDPOINT_URL")
  const home = config.region ?? set("AWS_REGION") ?? set("AWS_DEFAULT_REGION") ?? "us-east-1"
  /** Where buckets turned out to live. */
  const regions = new Map<string, string>()
  const [accessKeyId, secretAccessKey, sessionToken] = [set("AWS_ACCESS_KEY_ID"), set("AWS_SECRET_ACCESS_KEY"), set("AWS_SESSION_TOKEN")]

  const requestOf = Effect.fnUntraced(function*({ bucket, headers, key = "", method, query = {} }: Ask) {
    if (key.split("/").some((part) => part === "." || part === "..")) {
      return yield* ServiceError.invalid("uri", `s3://${bucket}/${key} has a part that is . or .., which no URL can say`)
    }
    const region = regions.get(bucket) ?? home
    const url = `${baseOf(endpoint, region, bucket)}/${encodeKey(key)}${queryOf(query)}`
    const signed: Record<string, string> = config.requesterPays === true ? { "x-amz-request-payer": "requester" } : {}
    if (config.unsigned === true) return HttpClientRequest.make(method)(url, { headers: { ...signed, ...headers } })
    if (accessKeyId === undefined || secretAccessKey === undefined) {
      return yield* new ServiceError({
        code: "UNAUTHENTICATED",
        message: `there are no credentials for s3://${bucket}`,
        fix: "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or s3.unsigned for a public bucket."
      })
    }
    const now = yield* Clock.currentTimeMillis
    const signer = new AwsV4Signer({
      method,
      url,
      headers: signed,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      service: "s3",
      region,
      datetime: new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, "")
    })
    const ready = yield* Effect.promise(() => signer.sign())
    return HttpClientRequest.make(method)(ready.url, { headers: { ...Object.fromEntries(ready.headers), ...headers } })
  })

  const askOnce = (what: string, ask: Ask, moved = false): Effect.Effect<HttpClientResponse.HttpClientResponse, ServiceError> =>
    Effect.gen(function*() {
      const response = yield* callOnce(caller, what, requestOf(ask), () => true)
      if (response.status >= 200 && response.status < 300) return response
      const body = yield* bodyText(response)
      const region = response.headers["x-amz-bucket-region"] ?? parseError(body).region
      const { bucket } = ask
      if (!moved && region !== undefined && /^[a-z0-9-]{1,30}$/.test(region) && region !== (regions.get(bucket) ?? home)) {
        regions.set(bucket, region)
        return yield* askOnce(what, ask, true)
      }
      const retryAfter = retryAfterOf(response.headers, yield* Clock.currentTimeMillis)
      return yield* s3Error(what, bucket, ask.key, { status: response.status, body, ...(retryAfter === undefined ? {} : { retryAfter }) })
    })

  return {
    list: (bucket, prefix, { after, token }, size) => {
      const what = `the listing of s3://${bucket}/${prefix}`
      return askOnce(what, {
        method: "GET",
        bucket,
        query: {
          "list-type": "2",
          "encoding-type": "url",
          "max-keys": String(size),
          prefix,
          "continuation-token": token,
          "start-after": token === undefined ? after : undefined
        }
      }).pipe(
        Effect.flatMap((response) => Effect.mapError(response.text, (error) => transportErrorOf(what, error))),
        Effect.flatMap((xml) => Effect.try({ try: () => parseList(xml), catch: () => malformed(what, "cut short or no listing") })),
        retry(caller.retry)
      )
    },
    head: (bucket, key) =>
      askOnce(`s3://${bucket}/${key}`, { method: "HEAD", bucket, key, headers: { "accept-encoding": "gzip" } }).pipe(
        retry(caller.retry),
        Effect.map(({ headers }) => ({
          key,
          revision: bareEtag(headers["etag"] ?? ""),
          size: Number(headers["content-length"] ?? 0),
          compressed: headers["content-encoding"] === "gzip",
          ...(headers["content-type"] === undefined ? {} : { contentType: headers["content-type"] }),
          ...(Number.isNaN(Date.parse(headers["last-modified"] ?? ""))
            ? {}
            : { updated: new Date(headers["last-modified"] ?? "").toISOString() })
        }))
      ),
    open: (bucket, key, etag, offset) =>
      askOnce(`s3://${bucket}/${key}`, {
        method: "GET",
        bucket,
        key,
        headers: {
          "accept-encoding": "gzip",
          ...(etag === "" ? {} : { "if-match": `"${etag}"` }),
          ...(offset === 0 ? {} : { range: `bytes=${offset}-` })
        }
      }).pipe(retry(caller.retry))
  }
}

/** Amazon's own buckets by host name, except those whose dots no certificate covers; other services by path. */
const baseOf = (endpoint: string | undefined, region: string, bucket: string): string => {
  if (endpoint !== undefined) return `${endpoint.replace(/\/+$/, "")}/${bucket}`
  return bucket.includes(".") ? `https://s3.${region}.amazonaws.com/${bucket}` : `https://${bucket}.s3.${region}.amazonaws.com`
}

/** As SigV4 wants it: everything but unreserved characters escaped, slashes kept. */
const encodeKey = (key: string): string => key.split("/").map(escape3986).join("/")

const escape3986 = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

const queryOf = (query: Readonly<Record<string, string | undefined>>): string => {
  const pairs = Object.entries(query).flatMap(([name, value]) => value === undefined ? [] : [`${name}=${escape3986(value)}`])
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`
}
