import { AwsV4Signer } from "aws4fetch"
import { Clock, Effect } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { SaxesParser } from "saxes"
import { codeOfHttp } from "../../src/domain/Codes.ts"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { type Caller, callOnce, malformed } from "../../src/net/Call.ts"
import { bodyText, retryAfterOf, transportErrorOf } from "../../src/net/HttpErrors.ts"
import { redactText } from "../../src/domain/Redact.ts"
import { retry } from "../../src/net/Retry.ts"
import type { ObjectApi, StoredObject } from "./Objects.ts"

interface ListPage {
  readonly objects: ReadonlyArray<StoredObject>
  /** Whether there are more objects. */
  readonly truncated: boolean
  readonly token?: string
}

/** A page of a ListObjectsV2 response. Throws where it is not one, or is cut short. */
const parseList = (xml: string): ListPage => {
  const objects: Array<StoredObject> = []
  const top: Record<string, string> = {}
  let current: Record<string, string> | undefined
  let text = ""
  let depth = 0
  const parser = new SaxesParser()
  parser.on("error", (error) => {
    throw error
  })
  parser.on("opentag", ({ name }) => {
    depth++
    text = ""
    if (depth === 1 && name !== "ListBucketResult") throw new Error(`${name} is no listing`)
    if (depth === 2 && name === "Contents") current = {}
  })
  parser.on("text", (piece) => {
    text += piece
  })
  parser.on("closetag", ({ name }) => {
    if (depth === 2 && name === "Contents") {
      if (current !== undefined) objects.push(objectOf(current))
      current = undefined
    } else if (depth === 3 && current !== undefined) current[name] = text
    else if (depth === 2) top[name] = text
    depth--
  })
  parser.write(xml).close()
  const token = top["NextContinuationToken"]
  // Keys are escaped only where the service understood that this was requested.
  const escaped = top["EncodingType"] === "url"
  return {
    objects: escaped ? objects.map((object) => ({ ...object, key: unescape(object.key) })) : objects,
    truncated: top["IsTruncated"] === "true",
    ...(token === undefined || token === "" ? {} : { token })
  }
}

const unescape = (key: string): string => decodeURIComponent(key.replaceAll("+", " "))

const objectOf = (fields: Readonly<Record<string, string>>): StoredObject => {
  const { ETag: etag, Key: key, LastModified: updated, Size: size } = fields
  if (key === undefined || etag === undefined || size === undefined || !/^\d+$/.test(size)) {
    throw new Error("an object without key, etag or size")
  }
  return { key, revision: bareEtag(etag), size: Number(size), ...(updated === undefined ? {} : { updated }) }
}

const bareEtag = (etag: string): string => etag.replace(/^"(.*)"$/, "$1")

/** The fields of an S3 error body; empty for any other body. */
const parseError = (xml: string): { readonly code?: string; readonly message?: string; readonly region?: string } => {
  const field = (name: string): string | undefined => new RegExp(`<${name}>([^<]{1,500})</${name}>`).exec(xml)?.[1]
  const [code, message, region] = [field("Code"), field("Message"), field("Region")]
  return {
    ...(code === undefined ? {} : { code }),
    ...(message === undefined ? {} : { message }),
    ...(region === undefined ? {} : { region })
  }
}

/** S3's error codes that are more precise than their HTTP status. */
const codes: Readonly<Record<string, ServiceError["code"]>> = {
  InvalidAccessKeyId: "UNAUTHENTICATED",
  SignatureDoesNotMatch: "UNAUTHENTICATED",
  ExpiredToken: "UNAUTHENTICATED",
  InvalidToken: "UNAUTHENTICATED",
  RequestTimeTooSkewed: "UNAUTHENTICATED",
  SlowDown: "RESOURCE_EXHAUSTED",
  TooManyRequests: "RESOURCE_EXHAUSTED",
  RequestTimeout: "UNAVAILABLE",
  InternalError: "INTERNAL",
  InvalidObjectState: "FAILED_PRECONDITION",
  PreconditionFailed: "ABORTED"
}

/** The error of a refusal by S3, with the bucket and the fix. */
const s3Error = (what: string, bucket: string, key: string | undefined, failure: {
  readonly status: number
  readonly body: string
  readonly retryAfter?: number
}): ServiceError => {
  const { code: reason, message } = parseError(failure.body)
  const code = (reason === undefined ? undefined : codes[reason]) ?? (failure.status === 412 ? "ABORTED" : codeOfHttp(failure.status))
  const uri = key === undefined ? `s3://${bucket}` : `s3://${bucket}/${key}`
  const said = reason === undefined ? "" : `: ${reason}${message === undefined ? "" : `, ${redactText(message)}`}`
  const words = wordsOf(code, reason, bucket, uri)
  return new ServiceError({
    code,
    message: words.message ?? `${what} answered ${failure.status}${said}`,
    ...(words.fix === undefined ? {} : { fix: words.fix }),
    ...(reason === undefined ? {} : { reason }),
    ...(failure.retryAfter === undefined ? {} : { retryAfter: failure.retryAfter })
  })
}

const wordsOf = (
  code: ServiceError["code"],
  reason: string | undefined,
  bucket: string,
  uri: string
): { readonly message?: string; readonly fix?: string } => {
  if (reason === "RequestTimeTooSkewed") return { fix: "set this machine's clock" }
  switch (code) {
    case "UNAUTHENTICATED":
      return { fix: "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; session tokens expire" }
    case "PERMISSION_DENIED":
      return { fix: `allow s3:ListBucket on ${bucket} and s3:GetObject on ${bucket}/*; a requester-pays bucket needs s3.requesterPays` }
    case "NOT_FOUND":
      return reason === "NoSuchBucket"
        ? { message: `the bucket s3://${bucket} does not exist`, fix: "correct the bucket's name, or the endpoint" }
        : { message: `${uri} was not found`, fix: "correct the address; the address of a folder ends in /" }
    case "ABORTED":
      return { message: `${uri} changed meanwhile` }
    default:
      return reason === "InvalidObjectState" ? { message: `${uri} is archived`, fix: "restore it from the archive class first" } : {}
  }
}

/** The error of a page that is not the last and names no next one, as of services that know only the first version of listings. */
const endless = (what: string): ServiceError =>
  new ServiceError({
    code: "UNIMPLEMENTED",
    message: `${what} says that there is more, but not where it continues`,
    fix: "use a service, or a version of it, that has ListObjectsV2 with continuation tokens"
  })

type Environment = Readonly<Record<string, string | undefined>>

interface Ask {
  readonly method: "GET" | "HEAD"
  readonly bucket: string
  readonly key?: string
  readonly query?: Readonly<Record<string, string | undefined>>
  /** Headers that are not signed. */
  readonly headers?: Readonly<Record<string, string>>
}

/** S3 and compatible stores, through ListObjectsV2 and SigV4. The revision is the etag. */
export const s3Api = (caller: Caller, config: Partial<NonNullable<SettingsOf<"storage">["s3"]>>, environment: Environment): ObjectApi => {
  const set = (name: string): string | undefined => environment[name] === "" ? undefined : environment[name]
  const endpoint = config.endpoint ?? set("AWS_ENDPOINT_URL_S3") ?? set("AWS_ENDPOINT_URL")
  const home = config.region ?? set("AWS_REGION") ?? set("AWS_DEFAULT_REGION") ?? "us-east-1"
  /** Regions of buckets, as far as they have been found out. */
  const regions = new Map<string, string>()
  const [accessKeyId, secretAccessKey, sessionToken] = [set("AWS_ACCESS_KEY_ID"), set("AWS_SECRET_ACCESS_KEY"), set("AWS_SESSION_TOKEN")]

  const requestOf = Effect.fnUntraced(function*({ bucket, headers, key = "", method, query = {} }: Ask) {
    if (key.split("/").some((part) => part === "." || part === "..")) {
      return yield* ServiceError.invalid("uri", `s3://${bucket}/${key} has a part that is . or .., which no URL can contain`)
    }
    const region = regions.get(bucket) ?? home
    const url = `${baseOf(endpoint, region, bucket)}/${encodeKey(key)}${queryOf(query)}`
    const signed: Record<string, string> = config.requesterPays === true ? { "x-amz-request-payer": "requester" } : {}
    if (config.unsigned === true) return HttpClientRequest.make(method)(url, { headers: { ...signed, ...headers } })
    if (accessKeyId === undefined || secretAccessKey === undefined) {
      return yield* new ServiceError({
        code: "UNAUTHENTICATED",
        message: `there are no credentials for s3://${bucket}`,
        fix: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or s3.unsigned for a public bucket"
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
        Effect.flatMap(({ objects, token, truncated }) =>
          !truncated
            ? Effect.succeed({ objects })
            : token === undefined
            ? Effect.fail(endless(what))
            : Effect.succeed({ objects, token })
        ),
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
          compressed: /\bgzip\b/.test(headers["content-encoding"] ?? ""),
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

/**
 * The base address of a bucket: Amazon's buckets by host name, except for names with dots, which no certificate covers; other services by
 * path.
 */
const baseOf = (endpoint: string | undefined, region: string, bucket: string): string => {
  if (endpoint !== undefined) return `${endpoint.replace(/\/+$/, "")}/${bucket}`
  return bucket.includes(".") ? `https://s3.${region}.amazonaws.com/${bucket}` : `https://${bucket}.s3.${region}.amazonaws.com`
}

/** A key as SigV4 requires it: everything but unreserved characters escaped, slashes kept. */
const encodeKey = (key: string): string => key.split("/").map(escape3986).join("/")

const escape3986 = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

const queryOf = (query: Readonly<Record<string, string | undefined>>): string => {
  const pairs = Object.entries(query).flatMap(([name, value]) => value === undefined ? [] : [`${name}=${escape3986(value)}`])
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`
}
