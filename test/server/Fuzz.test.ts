import * as fc from "fast-check"
import { connect } from "node:net"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { routes } from "../../src/wire/Routes.ts"
import { leave, parent, startServer, type TestServer } from "./support/TestServer.ts"
import { seedsOf } from "../support/Seeds.ts"

const runs = seedsOf("SLUICE_FUZZ_RUNS", 150, 2_000)

let server: TestServer
let corpus: string
beforeAll(async () => {
  server = await startServer()
  corpus = await server.corpus()
  await server.upload(corpus, "leave.md", leave)
})
afterAll(() => server.stop())

/** Known fields with unknown values, unknown fields, and nonsense. */
const names = [
  ...new Set(
    JSON.stringify(Object.values(routes).map(({ body, query }) => [Object.keys(body?.fields ?? {}), Object.keys(query.fields)])).match(
      /\w+/g
    )
  ),
  "uris",
  "ragResources",
  "ragCorpus",
  "ragFileIds",
  "parts",
  "text",
  "role",
  "retrieval",
  "inlineData",
  "functionCall",
  "functionResponse",
  "functionDeclarations",
  "responseSchema",
  "responseMimeType",
  "messages",
  "content",
  "dedicatedResources",
  "machineSpec",
  "reservationAffinity",
  "modelGardenSource",
  "containerSpec",
  "ports",
  "acceptEula",
  "__proto__",
  "constructor",
  "toString",
  "@type"
]
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.double(),
    fc.integer(),
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      "",
      "gs://docs/",
      "RESOURCE_TYPE_FILE",
      "1e999",
      "-0",
      "\ud800",
      "publishers/google/models/gemma3@gemma-3-1b-it",
      "ANY_RESERVATION",
      "9223372036854775808"
    ),
    fc.constant("x").map(() => corpus),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(fc.constantFrom(...names), tie("value")), { maxLength: 5 }).map((entries) => Object.fromEntries(entries))
  )
})).value

const segment = fc.oneof(
  fc.constantFrom(
    "projects",
    "locations",
    "ragCorpora",
    "ragFiles",
    "operations",
    "publishers",
    "models",
    "us-central1",
    "p1",
    "..",
    "%2e%2e",
    "%00",
    "%2F",
    "",
    "*",
    "a:b",
    "ragFiles:import",
    "~"
  ),
  fc.string({ unit: "binary-ascii", maxLength: 12 }).map(encodeURIComponent)
)
const verb = fc.constantFrom(
  "",
  ":import",
  ":upload",
  ":wait",
  ":cancel",
  ":generateContent",
  ":streamGenerateContent",
  ":countTokens",
  "/chat/completions",
  ":deploy",
  ":deployPublisherModel",
  ":deployModel",
  ":undeployModel",
  ":rawPredict",
  ":streamRawPredict",
  "/models:upload",
  "/modelGardenEula:accept",
  ":retrieveContexts",
  ":augmentPrompt",
  ":corroborateContent",
  ":nope"
)
const place = fc.oneof(
  fc.constant("").map(() => corpus),
  fc.constant("").map(() => `${corpus}/ragFiles`),
  fc.constantFrom(
    parent,
    `${parent}/ragCorpora`,
    `${parent}/ragEngineConfig`,
    `${parent}/publishers/google/models/m`,
    `${parent}/endpoints/openapi`,
    `${parent}/operations/1`
  ),
  fc.constantFrom(
    `${parent}/endpoints`,
    `${parent}/endpoints/e-1`,
    `${parent}/models`,
    `${parent}/models/m-1`,
    "publishers/*/models",
    "publishers/google/models/gemma3",
    "projects/p1"
  ),
  fc.array(segment, { maxLength: 8 }).map((parts) => parts.join("/"))
)
const path = fc.tuple(fc.constantFrom("/v1/", "/v1beta1/", "/upload/v1/", "/upload/v1beta1/", "/ui/", "/", "//"), place, verb).map((
  parts
) => parts.join(""))
const query = fc.array(
  fc.tuple(
    fc.constantFrom(
      "pageSize",
      "page_size",
      "pageToken",
      "force",
      "alt",
      "$alt",
      "filter",
      "endpointId",
      "listAllVersions",
      "view",
      "is_deployable(true)",
      "upload_id",
      "timeout",
      "x"
    ),
    fc.string({ maxLength: 8 })
  ),
  { maxLength: 3 }
).map((entries) => (entries.length === 0 ? "" : `?${new URLSearchParams(entries as Array<[string, string]>)}`))

describe("whatever a client sends", () => {
  it("gets an answer of the API: never a 500, never silence", { timeout: 240_000 + runs * 200 }, async () => {
    const headers = fc.record({
      "content-type": fc.constantFrom(
        "application/json",
        "multipart/form-data; boundary=b",
        "multipart/related; boundary=\"b\"",
        "text/plain"
      ),
      "x-goog-upload-protocol": fc.constantFrom("", "multipart", "resumable", "raw"),
      "x-goog-upload-command": fc.constantFrom("start", "upload", "upload, finalize", "query", "nonsense"),
      "x-goog-upload-offset": fc.constantFrom("0", "-1", "1e9", "x")
    }, { requiredKeys: [] })
    const body = fc.oneof(
      value.map((json) => JSON.stringify(json) ?? ""),
      fc.string({ unit: "binary" }),
      fc.constantFrom("{", "\"\"", "{'a':", "[[[[", "--b\r\n\r\n\r\n--b--", "\u0000")
    )
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("GET", "POST", "PATCH", "DELETE", "PUT"),
        path,
        query,
        headers,
        body,
        async (method, path, query, headers, body) => {
          // The corpus that the others need stays.
          if (method === "DELETE" && path.includes(corpus)) return
          const response = await fetch(`${server.url}${path}${query}`, {
            method,
            headers,
            ...(method === "GET" ? {} : { body }),
            signal: AbortSignal.timeout(60_000)
          })
          const text = await response.text()
          assert.notInclude([500, 502, 504], response.status, text)
          if (response.status !== 200) {
            const answer = JSON.parse(text)
            const { error } = Array.isArray(answer) ? answer[0] : answer
            assert.strictEqual(error.code, response.status)
            assert.isString(error.status)
          }
        }
      ),
      { numRuns: runs, endOnFailure: true }
    )
  })

  it("even when it is no HTTP", { timeout: 240_000 + runs * 200 }, async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((raw) => Buffer.from(raw)),
      fc.constantFrom(
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET http://evil.example/v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET /v1/x HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
      ).map((text) => Buffer.from(text))
    )
    await fc.assert(
      fc.asyncProperty(bytes, async (bytes) => {
        const heard = await new Promise<string>((resolve, reject) => {
          let text = ""
          const socket = connect(server.port, "127.0.0.1", () => socket.end(bytes))
          socket.setTimeout(60_000, () => {
            reject(new Error("silence"))
            socket.destroy()
          })
          socket.setEncoding("latin1").on("data", (data: string) => void (text += data))
          socket.on("error", () => undefined).on("close", () => resolve(text))
        })
        assert.notMatch(heard, /^HTTP\/1\.1 5/)
      }),
      { numRuns: Math.min(runs, 100) }
    )
    assert.strictEqual((await server.call("GET", `/v1/${corpus}`)).status, 200)
  })
})
