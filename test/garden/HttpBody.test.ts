import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { inMessage, payloadOf } from "../../src/server/http/HttpBody.ts"

const bytes = (value: unknown) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value))
const text = (body: Uint8Array) => Buffer.from(body).toString()

describe("the body of a raw call", () => {
  it("is what is inside, where a client library sent its message", () => {
    const data = Buffer.from([0, 255, 10]).toString("base64")
    for (const message of [{ httpBody: { contentType: "a/b", data } }, { endpoint: "e", http_body: { content_type: "a/b", data } }]) {
      const { body, ...rest } = payloadOf(bytes(message), "application/json")
      assert.deepStrictEqual({ ...rest, body: [...body] }, { contentType: "a/b", inMessage: true, body: [0, 255, 10] })
    }
    assert.deepInclude(payloadOf(bytes({ httpBody: {} }), ""), { contentType: "application/json", inMessage: true })
  })

  it("is itself otherwise, whatever it looks like", () => {
    for (
      const body of [
        "",
        "{",
        "{\"httpBody\":",
        { httpBody: "x" },
        { httpBody: { data: 1 } },
        { httpBody: { data: "eA==" }, model: "mine" },
        { endpoint: "e" },
        [{ httpBody: {} }],
        { prompt: "{\"httpBody\": {}}" }
      ]
    ) {
      assert.deepStrictEqual(payloadOf(bytes(body), "t/t"), { contentType: "t/t", body: bytes(body), inMessage: false })
    }
  })

  it.effect("is answered in messages: one, or an array of them, also of none", () =>
    Effect.gen(function*() {
      const message = { contentType: "a/b", data: Buffer.from("x").toString("base64") }
      const one = inMessage({ contentType: "a/b", body: bytes("x") }, false)
      assert.deepStrictEqual(JSON.parse(text(one.body as Uint8Array)), message) // bytes in, bytes out
      for (const pieces of [[], ["x"], ["x", "x"]]) {
        const { body } = inMessage({ contentType: "a/b", body: Stream.fromIterable(pieces.map(bytes)) }, true)
        const sent = yield* Stream.runCollect(body as Stream.Stream<Uint8Array>) // likewise a stream
        assert.deepStrictEqual(JSON.parse(text(Buffer.concat(sent))), pieces.map(() => message))
      }
      const failure = { status: 422, contentType: "text/plain", body: bytes("no") }
      assert.deepStrictEqual(inMessage(failure, true), failure)
    }))
})
