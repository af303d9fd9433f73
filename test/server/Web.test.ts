import { request } from "node:http"
import { deflateSync, gzipSync } from "node:zlib"
import { Redacted } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { leave, parent, startServer, type TestServer } from "./support/TestServer.ts"

const page = "https://app.example.org"
const token = "0123456789abcdef0123"

/** `fetch` lets nobody set Origin. */
const ask = (server: TestServer, method: string, path: string, headers: Record<string, string>, body?: Uint8Array | string) =>
  new Promise<{ readonly status: number; readonly headers: NodeJS.Dict<string | string[]>; readonly text: string }>((resolve, reject) => {
    const outgoing = request(`${server.url}${path}`, { method, headers }, (response) => {
      const parts: Array<Buffer> = []
      response.on("data", (part: Buffer) => parts.push(part))
      response.on(
        "end",
        () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(parts).toString() })
      )
    })
    outgoing.on("error", reject)
    outgoing.end(body)
  })

const corpora = `/v1beta1/${parent}/ragCorpora`

describe("web pages", () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer({ origins: [page], token: Redacted.make(token) })
  })
  afterAll(() => server.stop())

  it("call where the operator named their origin", async () => {
    const before = await ask(server, "OPTIONS", corpora, {
      origin: page,
      "sec-fetch-site": "cross-site",
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization, content-type"
    })
    assert.strictEqual(before.status, 204)
    assert.strictEqual(before.headers["access-control-allow-origin"], page)
    assert.strictEqual(before.headers["access-control-allow-headers"], "authorization, content-type")
    assert.include(before.headers["access-control-allow-methods"], "PATCH")
    const called = await ask(server, "GET", corpora, { origin: page, "sec-fetch-site": "cross-site", authorization: `Bearer ${token}` })
    assert.strictEqual(called.status, 200)
    assert.strictEqual(called.headers["access-control-allow-origin"], page)
    const refused = await ask(server, "GET", corpora, { origin: page, "sec-fetch-site": "cross-site" })
    assert.strictEqual(refused.status, 401)
    assert.strictEqual(refused.headers["access-control-allow-origin"], page)
  })

  it("are kept out where it did not", async () => {
    for (const origin of ["https://other.example.org", `${page}.evil.org`, "http://app.example.org", "null"]) {
      const preflight = await ask(server, "OPTIONS", corpora, { origin, "access-control-request-method": "POST" })
      assert.strictEqual(preflight.status, 403, origin)
      assert.isUndefined(preflight.headers["access-control-allow-origin"])
      const call = await ask(server, "GET", corpora, { origin, authorization: `Bearer ${token}` })
      assert.strictEqual(call.status, 403, origin)
      assert.isUndefined(call.headers["access-control-allow-origin"])
    }
  })

  it("are named by origins, and not all of them", async () => {
    for (const origin of ["*", "app.example.org", `${page}/`, `${page}/app`]) {
      const problem = await startServer({ origins: [origin] }).then(async (started) => await started.stop(), String)
      assert.match(String(problem), /--allow-origin/, origin)
    }
  })
})

describe("the server's token", () => {
  it("is taken as a bearer, as x-goog-api-key and as the key of the query", async () => {
    const server = await startServer({ token: Redacted.make(token) })
    try {
      const ok = [
        await ask(server, "GET", corpora, { authorization: `Bearer ${token}` }),
        await ask(server, "GET", corpora, { "x-goog-api-key": token }),
        await ask(server, "GET", `${corpora}?key=${token}`, {}),
        await ask(server, "POST", `/upload${corpora}/1/ragFiles:upload?key=${token}`, {})
      ]
      assert.deepStrictEqual(ok.map(({ status }) => status === 401), [false, false, false, false])
      for (const path of [corpora, `${corpora}?key=`, `${corpora}?key=${token}x`, `${corpora}?keys=${token}`]) {
        assert.strictEqual((await ask(server, "GET", path, {})).status, 401, path)
      }
      assert.strictEqual((await ask(server, "GET", `${corpora}?key=${token}`, { authorization: "Bearer wrong" })).status, 401)
    } finally {
      await server.stop()
    }
  })
})

describe("compressed requests", () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer({ limits: { json: 4 * 1024 * 1024 } })
  })
  afterAll(() => server.stop())

  const create = (body: Uint8Array, encoding: string) =>
    ask(server, "POST", corpora, { "content-type": "application/json", "content-encoding": encoding }, body)
  const json = JSON.stringify({ displayName: "compressed" })

  it("are read", async () => {
    for (
      const [encoding, body] of [["gzip", gzipSync(json)], ["x-gzip", gzipSync(json)], ["deflate", deflateSync(json)], [
        "identity",
        Buffer.from(json)
      ]] as const
    ) {
      const answer = await create(body, encoding)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.include(answer.text, "compressed")
    }
    const corpus = await server.corpus()
    const form = [
      "--b",
      "Content-Disposition: form-data; name=\"metadata\"",
      "",
      "{'rag_file': {'display_name': 'leave.md'}}",
      "--b",
      "Content-Disposition: form-data; name=\"file\"; filename=\"leave.md\"",
      "",
      leave,
      "--b--",
      ""
    ].join("\r\n")
    const upload = await ask(server, "POST", `/upload/v1beta1/${corpus}/ragFiles:upload`, {
      "content-type": "multipart/form-data; boundary=b",
      "content-encoding": "gzip"
    }, gzipSync(form))
    assert.include(upload.text, "ragFile")
  })

  it("expand to no more than they may", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 32))
    const answer = await create(bomb, "gzip")
    assert.strictEqual(answer.status, 400)
    assert.match(answer.text, /expands to more than 4194304 bytes/)
    const small = await create(gzipSync(Buffer.alloc(2 * 1024 * 1024, 32)), "gzip")
    assert.match(small.text, /expands to more than 1048576 bytes/)
  })

  it("are refused by name where they cannot be read", async () => {
    for (
      const [encoding, message] of [["br", /Content-Encoding br/], ["gzip", /is not gzip/], [
        "gzip, gzip",
        /Content-Encoding gzip, gzip/
      ]] as const
    ) {
      const answer = await create(Buffer.from(json), encoding)
      assert.strictEqual(answer.status, 400)
      assert.match(answer.text, message)
    }
  })
})
