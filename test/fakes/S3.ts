import { Effect, type Scope } from "effect"
import { createHash, createHmac } from "node:crypto"
import type { ServerResponse } from "node:http"
import { type Asked, fakeServer, type FakeServer, rangeOf } from "./Http.ts"

export const s3Credentials = { AWS_ACCESS_KEY_ID: "AKIDFAKE", AWS_SECRET_ACCESS_KEY: "s3cr3t/fake" }

interface Stored {
  readonly data: Buffer
  readonly etag: string
  readonly headers: Record<string, string>
}

export interface FakeS3 extends FakeServer {
  readonly put: (bucket: string, key: string, data: string | Buffer, headers?: Record<string, string>) => void
  readonly remove: (bucket: string, key: string) => void
  /** Where buckets are, if not in us-east-1. */
  readonly regions: Map<string, string>
  readonly expireTokens: () => void
}

/** ListObjectsV2, HEAD and GET by path, with signatures checked from the ground up. */
export const fakeS3 = (pageSize = 1000): Effect.Effect<FakeS3, never, Scope.Scope> => {
  const buckets = new Map<string, Map<string, Stored>>()
  const regions = new Map<string, string>()
  let epoch = 0

  const fail = (response: ServerResponse, status: number, code: string, message: string, headers: Record<string, string> = {}): void =>
    void response.writeHead(status, { "content-type": "application/xml", ...headers })
      .end(`<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`)

  const list = (bucket: string, objects: Map<string, Stored>, query: URLSearchParams, response: ServerResponse): void => {
    const token = query.get("continuation-token")
    const [of, last] = token === null ? [epoch, undefined] : JSON.parse(Buffer.from(token, "base64").toString()) as [number, string]
    if (of !== epoch) return fail(response, 400, "InvalidArgument", "The continuation token provided is incorrect")
    const after = last ?? query.get("start-after") ?? ""
    const keys = [...objects.keys()].filter((key) => key.startsWith(query.get("prefix") ?? "") && key > after)
      .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    const page = keys.slice(0, Math.min(pageSize, Number(query.get("max-keys") ?? 1000)))
    const more = page.length < keys.length
    // Amazon writes a space as + here.
    const escape = (text: string) => encodeURIComponent(text).replaceAll("%20", "+").replaceAll("%2F", "/")
    response.writeHead(200, { "content-type": "application/xml" }).end(
      `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${bucket}</Name><EncodingType>url</EncodingType><IsTruncated>${more}</IsTruncated>${
        more ? `<NextContinuationToken>${Buffer.from(JSON.stringify([epoch, page.at(-1)])).toString("base64")}</NextContinuationToken>` : ""
      }${
        page.map((key) => {
          const { data, etag } = objects.get(key)!
          return `<Contents><Key>${
            escape(key)
          }</Key><LastModified>2026-10-12T17:50:30.000Z</LastModified><ETag>&quot;${etag}&quot;</ETag><Size>${data.length}</Size><StorageClass>STANDARD</StorageClass></Contents>`
        }).join("")
      }</ListBucketResult>`
    )
  }

  const answer = (asked: Asked, response: ServerResponse): void => {
    const [, bucket = "", rawKey = ""] = /^\/([^/]+)\/?(.*)$/.exec(asked.url.pathname) ?? []
    const region = regions.get(bucket) ?? "us-east-1"
    const objects = buckets.get(bucket)
    if (!signedFor(asked, region)) {
      const scope = /Credential=[^/]+\/\d+\/([^/]+)\//.exec(asked.headers.authorization ?? "")?.[1]
      return scope !== undefined && scope !== region
        ? fail(response, 400, "AuthorizationHeaderMalformed", "the region is wrong", { "x-amz-bucket-region": region })
        : fail(response, 403, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided.")
    }
    if (objects === undefined) return fail(response, 404, "NoSuchBucket", "The specified bucket does not exist")
    if (rawKey === "") return list(bucket, objects, asked.url.searchParams, response)
    const stored = objects.get(decodeURIComponent(rawKey))
    if (stored === undefined) return fail(response, 404, "NoSuchKey", "The specified key does not exist.")
    const match = asked.headers["if-match"]
    if (match !== undefined && match !== `"${stored.etag}"`) {
      return fail(response, 412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
    }
    const { part, status } = rangeOf(asked.headers.range, stored.data)
    response.writeHead(status, {
      etag: `"${stored.etag}"`,
      "last-modified": "Mon, 12 Oct 2026 17:50:30 GMT",
      "content-type": "binary/octet-stream",
      "content-length": part.length,
      ...stored.headers
    }).end(asked.method === "HEAD" ? undefined : part)
  }

  return Effect.map(fakeServer(answer), (server) => ({
    ...server,
    put: (bucket, key, data, headers = {}) => {
      const bytes = Buffer.from(data)
      const objects = buckets.get(bucket) ?? new Map<string, Stored>()
      buckets.set(bucket, objects.set(key, { data: bytes, etag: createHash("md5").update(bytes).digest("hex"), headers }))
    },
    remove: (bucket, key) => void buckets.get(bucket)?.delete(key),
    regions,
    expireTokens: () => void epoch++
  }))
}

/** Signature version 4 as documented: canonical request, string to sign, four keys. */
const signedFor = ({ headers, method, url }: Asked, region: string): boolean => {
  const authorization =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/
      .exec(headers.authorization ?? "")
  if (authorization === null) return false
  const [, id, day = "", scope, names = "", signature] = authorization
  if (id !== s3Credentials.AWS_ACCESS_KEY_ID || scope !== region) return false
  const strict = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  const path = url.pathname.split("/").map((part) => strict(decodeURIComponent(part))).join("/")
  const query = [...url.searchParams].map(([name, value]) => `${strict(name)}=${strict(value)}`).toSorted().join("&")
  const canonical = [
    method,
    path,
    query,
    ...names.split(";").map((name) => `${name}:${String(headers[name])}`),
    "",
    names,
    String(headers["x-amz-content-sha256"])
  ].join("\n")
  const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest()
  const key = ["s3", "aws4_request"].reduce<Buffer>(
    (last, text) => hmac(last, text),
    hmac(hmac(`AWS4${s3Credentials.AWS_SECRET_ACCESS_KEY}`, day), region)
  )
  const toSign = [
    "AWS4-HMAC-SHA256",
    headers["x-amz-date"],
    `${day}/${region}/s3/aws4_request`,
    createHash("sha256").update(canonical).digest("hex")
  ]
  return signature === hmac(key, toSign.join("\n")).toString("hex")
}
