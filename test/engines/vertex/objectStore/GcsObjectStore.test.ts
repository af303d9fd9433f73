import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { createHash } from "node:crypto"
import { layer as gcsLayer } from "../../../../src/engines/vertex/objectStore/GcsObjectStore.ts"
import { GoogleAuth } from "../../../../src/net/GoogleAuth.ts"
import { layer as httpLayer } from "../../../../src/net/Http.ts"
import { ObjectStore } from "../../../../src/ports/ObjectStore.ts"
import { type FakeGcs, fakeGcs } from "../../../fakes/Gcs.ts"
import { type Asked, sendGoogleError } from "../../../fakes/Http.ts"

const on = (fake: FakeGcs) =>
  gcsLayer({ endpoint: fake.origin, retry: { times: 3, baseMs: 1 } }).pipe(
    Layer.provide(Layer.merge(httpLayer(), GoogleAuth.layerTest("ya29.token")))
  )

const megabytes = (count: number): Buffer => {
  const bytes = Buffer.alloc(count * 1024 * 1024 + 7)
  for (let index = 0; index < bytes.length; index += 4096) bytes.writeUInt32LE(index, Math.min(index, bytes.length - 4))
  return bytes
}
const md5 = (bytes: Uint8Array | undefined) => createHash("md5").update(bytes ?? "").digest("hex")
const isUpload = ({ url }: Asked) => url.pathname.startsWith("/upload/")
const isBlock = (asked: Asked) => isUpload(asked) && asked.method === "PUT"

describe("objects in Cloud Storage", () => {
  const test = (name: string, run: (fake: FakeGcs, store: ObjectStore["Service"]) => Effect.Effect<void, unknown>) =>
    it.live(name, () =>
      Effect.gen(function*() {
        const fake = yield* fakeGcs(2)
        fake.put("acme", "first", "1")
        yield* Effect.flatMap(ObjectStore, (store) => run(fake, store)).pipe(Effect.provide(on(fake)))
      }).pipe(Effect.scoped))

  test(
    "puts, gets, lists and deletes",
    Effect.fnUntraced(function*(fake, store) {
      const head = yield* store.put("gs://acme/a b/\u00fc#?.json", Buffer.from("{}"), { contentType: "application/json" })
      assert.deepInclude(head, { uri: "gs://acme/a b/\u00fc#?.json", size: 2, contentType: "application/json" })
      assert.deepStrictEqual(yield* store.head(head.uri), head)
      assert.strictEqual(yield* store.get(head.uri, 2).pipe(Stream.decodeText(), Stream.mkString), "{}")
      assert.deepInclude(yield* Effect.flip(Stream.runDrain(store.get(head.uri, 1))), { code: "OUT_OF_RANGE" })
      yield* store.put("gs://acme/b", new Uint8Array(0))
      assert.deepStrictEqual((yield* Stream.runCollect(store.list("gs://acme/"))).map(({ uri }) => uri), [
        "gs://acme/a b/\u00fc#?.json",
        "gs://acme/b",
        "gs://acme/first"
      ])
      assert.deepInclude(yield* Effect.flip(store.delete(head.uri, "1")), { code: "ABORTED" })
      yield* store.delete(head.uri, head.revision)
      yield* store.delete(head.uri)
      assert.deepInclude(yield* Effect.flip(store.head(head.uri)), { code: "NOT_FOUND" })
      assert.deepInclude(yield* Effect.flip(store.put("gs://acme", Buffer.from("x"))), { code: "INVALID_ARGUMENT" })
      assert.isTrue(fake.asked.every(({ headers }) => headers.authorization === "Bearer ya29.token"))
    })
  )

  test(
    "writes only where nothing, or what was known, is",
    Effect.fnUntraced(function*(fake, store) {
      const first = yield* store.put("gs://acme/sink", Buffer.from("1"), { when: "absent" })
      assert.deepInclude(yield* Effect.flip(store.put("gs://acme/sink", Buffer.from("2"), { when: "absent" })), { code: "ALREADY_EXISTS" })
      const second = yield* store.put("gs://acme/sink", Buffer.from("2"), { when: { revision: first.revision } })
      assert.deepInclude(
        yield* Effect.flip(store.put("gs://acme/sink", Buffer.from("3"), { when: { revision: first.revision } })),
        { code: "ABORTED" }
      )
      assert.strictEqual(fake.object("acme", "sink")?.generation, second.revision)
    })
  )

  test(
    "knows its own object when the reply to a conditional write was lost",
    Effect.fnUntraced(function*(fake, store) {
      fake.fault(1, isUpload, (response, asked) => {
        const [, , body = ""] = asked.body.toString().split("\r\n\r\n")
        fake.put("acme", "sink", body.slice(0, body.lastIndexOf("\r\n--")))
        response.destroy()
      })
      const head = yield* store.put("gs://acme/sink", Buffer.from("mine"), { when: "absent" })
      assert.strictEqual(head.revision, fake.object("acme", "sink")?.generation)
      fake.fault(1, isUpload, (response) => {
        fake.put("acme", "other", "not mine")
        response.destroy()
      })
      assert.deepInclude(yield* Effect.flip(store.put("gs://acme/other", Buffer.from("mine"), { when: "absent" })), {
        code: "ALREADY_EXISTS"
      })
    })
  )

  test(
    "sends more than 8 MiB in blocks, and goes on from what the service has",
    Effect.fnUntraced(function*(fake, store) {
      const bytes = megabytes(20)
      const pieces = Stream.fromIterable(
        Array.from(
          { length: Math.ceil(bytes.length / 1_000_000) },
          (_, index) => bytes.subarray(index * 1_000_000, (index + 1) * 1_000_000)
        )
      )
      fake.fault(1, isBlock, (response) => sendGoogleError(response, 503, "busy"))
      fake.fault(
        1,
        (asked) => isBlock(asked) && String(asked.headers["content-range"]).startsWith("bytes 8388608-"),
        (response) => void response.destroy()
      )
      const head = yield* store.put("gs://acme/big", pieces, { contentType: "application/pdf", when: "absent" })
      assert.strictEqual(head.size, bytes.length)
      assert.strictEqual(md5(fake.object("acme", "big")?.data), md5(bytes))
      assert.strictEqual(fake.object("acme", "big")?.contentType, "application/pdf")
      assert.isTrue(fake.asked.some(({ headers }) => String(headers["content-range"]).startsWith("bytes */")))
      assert.isBelow(Math.max(...fake.asked.map(({ body }) => body.length)), 8 * 1024 * 1024 + 1)
    })
  )

  test(
    "sends the rest of a block that was taken in part, and gives up when nothing is",
    Effect.fnUntraced(function*(fake, store) {
      fake.takes.bytes = 3 * 1024 * 1024
      const bytes = megabytes(9)
      yield* store.put("gs://acme/big", bytes)
      assert.strictEqual(md5(fake.object("acme", "big")?.data), md5(bytes))
      fake.takes.bytes = 0
      assert.deepInclude(yield* Effect.flip(store.put("gs://acme/none", bytes)), { code: "UNAVAILABLE" })
      assert.isUndefined(fake.object("acme", "none"))
    })
  )

  test(
    "removes what arrived as something else",
    Effect.fnUntraced(function*(fake, store) {
      const bytes = megabytes(9)
      fake.fault(1, isBlock, (response, asked) => {
        asked.body[0] = 1 + (asked.body[0] ?? 0)
        response.writeHead(308, { range: `bytes=0-${8 * 1024 * 1024 - 1}` }).end()
      })
      fake.fault(1, isBlock, (response, { url }) => {
        const name = "damaged"
        fake.put("acme", name, "damaged")
        response.setHeader("content-type", "application/json")
        response.end(
          JSON.stringify({ name, generation: fake.object("acme", name)?.generation, size: "7", md5Hash: "AAAA", url: url.pathname })
        )
      })
      assert.deepInclude(yield* Effect.flip(store.put("gs://acme/damaged", bytes)), { code: "DATA_LOSS" })
      assert.isUndefined(fake.object("acme", "damaged"))
    })
  )

  test(
    "names the bucket and the role when it may not write",
    Effect.fnUntraced(function*(fake, store) {
      fake.fault(1, isUpload, (response) => sendGoogleError(response, 403, "no storage.objects.create access"))
      assert.deepInclude(yield* Effect.flip(store.put("gs://acme/x", Buffer.from("x"))), {
        code: "PERMISSION_DENIED",
        fix: "give the account roles/storage.objectUser on gs://acme"
      })
    })
  )
})
