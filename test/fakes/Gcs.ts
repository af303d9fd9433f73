import { Effect, type Scope } from "effect"
import { createHash } from "node:crypto"
import type { ServerResponse } from "node:http"
import { gunzipSync } from "node:zlib"
import { type Asked, fakeServer, type FakeServer, rangeOf, sendGoogleError, sendJson } from "./Http.ts"

interface Stored {
  readonly data: Buffer
  readonly generation: string
  readonly contentType: string
  readonly contentEncoding?: string
  readonly metadata?: Record<string, string>
}

export interface FakeGcs extends FakeServer {
  readonly put: (bucket: string, name: string, data: string | Buffer, more?: Partial<Stored>) => void
  readonly remove: (bucket: string, name: string) => void
  readonly object: (bucket: string, name: string) => Stored | undefined
  /** Page tokens given out so far are refused from now on. */
  readonly expireTokens: () => void
  readonly requesterPays: Set<string>
  /** Bytes that a resumable session takes of each block; all by default. */
  readonly takes: { bytes: number }
}

/** Where this process finds Cloud Storage, by its environment, until the scope closes. */
export const emulator = (origin: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = process.env["STORAGE_EMULATOR_HOST"]
      process.env["STORAGE_EMULATOR_HOST"] = origin
      return before
    }),
    (before) =>
      Effect.sync(() => {
        if (before === undefined) delete process.env["STORAGE_EMULATOR_HOST"]
        else process.env["STORAGE_EMULATOR_HOST"] = before
      })
  )

/** The Cloud Storage JSON API in memory, as far as documented behaviour goes. */
export const fakeGcs = (pageSize = 1000): Effect.Effect<FakeGcs, never, Scope.Scope> => {
  const buckets = new Map<string, Map<string, Stored>>()
  const sessions = new Map<string, { readonly bucket: string; readonly name: string; readonly contentType: string; data: Buffer }>()
  const requesterPays = new Set<string>()
  const takes = { bytes: Number.POSITIVE_INFINITY }
  let clock = 1_790_000_000_000_000
  let epoch = 0
  let origin = ""

  const put = (bucket: string, name: string, data: string | Buffer, more: Partial<Stored> = {}): Stored => {
    const stored = { data: Buffer.from(data), generation: String(++clock), contentType: "text/plain", ...more }
    const objects = buckets.get(bucket) ?? new Map<string, Stored>()
    buckets.set(bucket, objects.set(name, stored))
    return stored
  }

  const resource = (bucket: string, name: string, stored: Stored) => ({
    kind: "storage#object",
    id: `${bucket}/${name}/${stored.generation}`,
    name,
    bucket,
    generation: stored.generation,
    metageneration: "1",
    contentType: stored.contentType,
    size: String(stored.data.length),
    md5Hash: createHash("md5").update(stored.data).digest("base64"),
    etag: `C${stored.generation}`,
    timeCreated: "2026-09-29T15:40:13.710Z",
    updated: "2026-09-29T15:40:13.710Z",
    ...(stored.contentEncoding === undefined ? {} : { contentEncoding: stored.contentEncoding }),
    ...(stored.metadata === undefined ? {} : { metadata: stored.metadata })
  })

  const list = (bucket: string, objects: Map<string, Stored>, query: URLSearchParams, response: ServerResponse): void => {
    const token = query.get("pageToken")
    const [of, after] = token === null ? [epoch, undefined] : JSON.parse(Buffer.from(token, "base64").toString()) as [number, string]
    if (of !== epoch) return sendGoogleError(response, 400, "Invalid page token.")
    const size = Math.min(pageSize, Number(query.get("maxResults") ?? 1000))
    const names = [...objects.keys()]
      .filter((name) =>
        name.startsWith(query.get("prefix") ?? "") && name >= (query.get("startOffset") ?? "") && (after === undefined || name > after)
      )
      .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    const page = names.slice(0, size)
    sendJson(response, 200, {
      kind: "storage#objects",
      ...(page.length < names.length
        ? { nextPageToken: Buffer.from(JSON.stringify([epoch, page.at(-1)])).toString("base64") }
        : {}),
      // An empty page has no items at all.
      ...(page.length === 0 ? {} : { items: page.map((name) => resource(bucket, name, objects.get(name)!)) })
    })
  }

  const media = (stored: Stored, asked: Asked, response: ServerResponse): void => {
    const headers = { "content-type": stored.contentType, "x-goog-generation": stored.generation }
    if (stored.contentEncoding === "gzip" && !/gzip/.test(String(asked.headers["accept-encoding"]))) {
      return void response.writeHead(200, headers).end(gunzipSync(stored.data))
    }
    const { part, status } = rangeOf(asked.headers.range, stored.data)
    response.writeHead(status, {
      ...headers,
      "content-length": part.length,
      ...(stored.contentEncoding === undefined ? {} : { "content-encoding": stored.contentEncoding })
    }).end(part)
  }

  const upload = (bucket: string, asked: Asked, response: ServerResponse): void => {
    const query = asked.url.searchParams
    const session = sessions.get(query.get("upload_id") ?? "")
    if (session !== undefined) {
      const range = /^bytes (?:(\d+)-\d+|\*)\/(\d+|\*)$/.exec(String(asked.headers["content-range"]))
      if (range?.[1] !== undefined && Number(range[1]) === session.data.length) {
        session.data = Buffer.concat([session.data, asked.body.subarray(0, takes.bytes)])
      }
      if (range?.[2] === String(session.data.length)) {
        return sendJson(
          response,
          200,
          resource(bucket, session.name, put(bucket, session.name, session.data, { contentType: session.contentType }))
        )
      }
      return void response.writeHead(308, session.data.length === 0 ? {} : { range: `bytes=0-${session.data.length - 1}` }).end()
    }
    const name = query.get("name") ?? ""
    const match = query.get("ifGenerationMatch")
    const there = buckets.get(bucket)?.get(name)
    if (match !== null && match !== (there?.generation ?? "0")) {
      return sendGoogleError(response, 412, "At least one of the pre-conditions you specified did not hold.")
    }
    if (query.get("uploadType") === "resumable") {
      const id = `session-${++clock}`
      sessions.set(id, { bucket, name, contentType: String(asked.headers["x-upload-content-type"]), data: Buffer.alloc(0) })
      return void response.writeHead(200, { location: `${origin}/upload/storage/v1/b/${bucket}/o?uploadType=resumable&upload_id=${id}` })
        .end()
    }
    const boundary = /boundary=(\S+)/.exec(String(asked.headers["content-type"]))?.[1] ?? ""
    const text = asked.body.toString("latin1")
    const [, head = "", rest = ""] = text.split(`--${boundary}\r\n`)
    const wanted = JSON.parse(head.slice(head.indexOf("\r\n\r\n") + 4)) as { md5Hash?: string; contentType: string }
    const body = Buffer.from(rest.slice(rest.indexOf("\r\n\r\n") + 4, rest.lastIndexOf(`\r\n--${boundary}--`)), "latin1")
    if (wanted.md5Hash !== createHash("md5").update(body).digest("base64")) {
      return sendGoogleError(response, 400, "Provided MD5 hash does not match calculated.")
    }
    sendJson(response, 200, resource(bucket, name, put(bucket, name, body, { contentType: wanted.contentType })))
  }

  const answer = (asked: Asked, response: ServerResponse): void => {
    const [, kind, rawBucket = "", rawName] = /^\/((?:upload\/)?storage)\/v1\/b\/([^/]+)\/o(?:\/([^/]+))?$/.exec(asked.url.pathname) ?? []
    const bucket = decodeURIComponent(rawBucket)
    const objects = buckets.get(bucket)
    if (kind === undefined) return sendGoogleError(response, 404, "Not Found")
    if (objects === undefined) return sendGoogleError(response, 404, "The specified bucket does not exist.")
    if (requesterPays.has(bucket) && !asked.url.searchParams.has("userProject")) {
      return sendGoogleError(response, 400, "Bucket is a requester pays bucket but no user project provided.")
    }
    if (kind !== "storage") return upload(bucket, asked, response)
    if (rawName === undefined) return list(bucket, objects, asked.url.searchParams, response)
    const name = decodeURIComponent(rawName)
    const stored = objects.get(name)
    if (stored === undefined) return sendGoogleError(response, 404, `No such object: ${bucket}/${name}`)
    const match = asked.url.searchParams.get("ifGenerationMatch")
    if (match !== null && match !== stored.generation) return sendGoogleError(response, 412, "conditionNotMet")
    if (asked.method === "DELETE") {
      objects.delete(name)
      return void response.writeHead(204).end()
    }
    if (asked.url.searchParams.get("alt") === "media") return media(stored, asked, response)
    sendJson(response, 200, resource(bucket, name, stored))
  }

  return Effect.map(fakeServer(answer), (server) => {
    origin = server.origin
    return {
      ...server,
      put: (...args) => void put(...args),
      remove: (bucket, name) => void buckets.get(bucket)?.delete(name),
      object: (bucket, name) => buckets.get(bucket)?.get(name),
      expireTokens: () => void epoch++,
      requesterPays,
      takes
    }
  })
}
