import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { CorpusName } from "../../../src/domain/Corpus.ts"
import { DocumentError, ServiceError } from "../../../src/domain/Errors.ts"
import type { UploadRequest } from "../../../src/domain/RagFile.ts"
import { Corpora } from "../../../src/ports/Corpora.ts"
import { Files } from "../../../src/ports/Files.ts"
import { pages } from "../../../src/ports/Paging.ts"
import { managed, textFile } from "../../conformance/Cases.ts"
import type { Call, FakeVertex } from "../../fakes/Vertex.ts"
import { onFake } from "./Engine.ts"

const marker = { source: "handbook/docs", pathHash: "ab".repeat(16), fingerprint: "1.2.3" }

const newCorpus = Effect.gen(function*() {
  return (yield* (yield* Corpora).create(managed("c"))).name
})

const marked = (corpus: CorpusName, text: string): UploadRequest => ({ ...textFile(corpus, "a.txt", text), marker })

const isUpload = ({ path }: Pick<Call, "path">) => path.startsWith("/upload/")
const uploadsOf = (fake: FakeVertex) => fake.calls.filter(isUpload)

/** The nth upload request, from 0. */
const nthUpload = (fake: FakeVertex, call: Call) => isUpload(call) ? uploadsOf(fake).length - 1 : -1

const megabytes = (n: number) => "0123456789abcde\n".repeat(n * 65_536)

describe("hosted files", () => {
  it.live("uploads, with a marker that comes back, and lists page by page", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        fake.slowness = 1
        const files = yield* Files
        const corpus = yield* newCorpus
        const { file } = yield* files.upload({ ...marked(corpus, "Some \"text\"."), description: "mine" })
        assert.strictEqual(fake.files.get(file.name)?.content, "Some \"text\".")
        assert.deepStrictEqual(file.marker, marker)
        assert.strictEqual(file.description, "mine")
        assert.strictEqual(file.createTime, "2026-01-01T00:00:00.123456Z")
        for (const n of [1, 2, 3]) yield* files.upload(textFile(corpus, `${n}.txt`, `text ${n}`))
        const listed = yield* Stream.runCollect(pages((page) => files.list(corpus, page)))
        assert.deepStrictEqual(listed.map(({ displayName }) => displayName), ["a.txt", "1.txt", "2.txt", "3.txt"])
      })
    ))

  it.live("sends again after a connection dropped before the service acted", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        fake.fault = (call) => nthUpload(fake, call) === 0 ? "drop" : undefined
        const { file } = yield* (yield* Files).upload(marked(yield* newCorpus, "text"))
        assert.deepStrictEqual([...fake.files.keys()], [file.name])
        assert.strictEqual(uploadsOf(fake).length, 2)
      })
    ))

  for (const fault of ["lose", "cut", "garbage"] as const) {
    it.live(`finds the file by its marker when the answer is lost after the service acted (${fault})`, () =>
      onFake((fake) =>
        Effect.gen(function*() {
          fake.fault = (call) => isUpload(call) ? fault : undefined
          const { file } = yield* (yield* Files).upload(marked(yield* newCorpus, "text"))
          assert.deepStrictEqual([...fake.files.keys()], [file.name])
          assert.strictEqual(uploadsOf(fake).length, 1)
        })
      ))
  }

  it.live("deletes the twin that an attempt given up for lost leaves late", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        let lost: Call | undefined
        fake.fault = (call) => {
          if (nthUpload(fake, call) === 0) {
            lost = call
            return { status: 504, error: { status: "DEADLINE_EXCEEDED" } }
          }
          if (isUpload(call) && lost !== undefined) fake.act(lost)
          return undefined
        }
        const { file } = yield* (yield* Files).upload(marked(yield* newCorpus, "text"))
        assert.deepStrictEqual([...fake.files.keys()], [file.name])
      })
    ))

  it.live("does not send again what carries no marker, and says that it does not know", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        fake.fault = (call) => isUpload(call) ? "lose" : undefined
        const { marker: _, ...request } = marked(yield* newCorpus, "text")
        const error = yield* Effect.flip((yield* Files).upload(request))
        assert.strictEqual(error._tag === "ServiceError" && error.code, "UNKNOWN")
        assert.include(error.message, "not known whether the file arrived")
        assert.strictEqual(uploadsOf(fake).length, 1)
      })
    ))

  it.live("goes on with a large file where the connection broke off", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const received = 1_000_000
        fake.fault = (call) => {
          if (nthUpload(fake, call) !== 1) return undefined
          fake.receive(call, received)
          return "drop"
        }
        const text = megabytes(5)
        const { file } = yield* (yield* Files).upload(marked(yield* newCorpus, text))
        assert.isTrue(fake.files.get(file.name)?.content === text)
        const last = uploadsOf(fake).at(-1)
        assert.strictEqual(last?.headers["x-goog-upload-offset"], String(received))
        assert.strictEqual(last?.body.length, text.length - received)
      })
    ))

  it.live("finds a large file whose last answer was lost", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        fake.fault = (call) => nthUpload(fake, call) === 1 ? "lose" : undefined
        const { file } = yield* (yield* Files).upload(marked(yield* newCorpus, megabytes(5)))
        assert.deepStrictEqual([...fake.files.keys()], [file.name])
      })
    ))

  it.live("sends the bytes of a large file to no other origin", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        fake.handle = (call) => {
          if (!isUpload(call)) return false
          call.response.writeHead(200, { "x-goog-upload-url": "http://127.0.0.1:1/elsewhere" }).end("{}")
          return true
        }
        const error = yield* Effect.flip((yield* Files).upload(marked(yield* newCorpus, megabytes(5))))
        assert.include(error.message, "another origin")
      })
    ))

  it.live("replaces: the new one is there before the old one goes", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const files = yield* Files
        const corpus = yield* newCorpus
        const old = (yield* files.upload(marked(corpus, "old"))).file.name
        fake.fault = (call) => {
          if (call.method === "DELETE") assert.strictEqual(fake.files.size, 2)
          return undefined
        }
        const { file } = yield* files.upload({ ...marked(corpus, "new"), replaces: old })
        assert.deepStrictEqual([...fake.files.keys()], [file.name])
      })
    ))

  it.live("a file that the service cannot take leaves the old one alone", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const files = yield* Files
        const corpus = yield* newCorpus
        const old = (yield* files.upload(marked(corpus, "old"))).file.name
        const error = yield* Effect.flip(files.upload({ ...marked(corpus, "unreadable"), replaces: old }))
        assert.instanceOf(error, DocumentError)
        assert.deepStrictEqual([...fake.files.keys()], [old])
      })
    ))

  it.live("an error in the answer names the call", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const files = yield* Files
        const corpus = yield* newCorpus
        fake.handle = ({ path, response }) => {
          if (path.startsWith("/upload/")) response.end(JSON.stringify({ error: { code: 7, message: "no access to the parser" } }))
          return path.startsWith("/upload/")
        }
        const error = yield* Effect.flip(files.upload(marked(corpus, "new")))
        assert.match(error.message, /^UploadRagFile of 127\.0\.0\.1:\d+ failed: no access to the parser$/)
      })
    ))

  it.live("a delete whose answer is lost is done", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const files = yield* Files
        const { file } = yield* files.upload(marked(yield* newCorpus, "text"))
        fake.fault = ({ method }) => method === "DELETE" && fake.files.size === 1 ? "lose" : undefined
        yield* files.delete(file.name)
        assert.strictEqual((yield* Effect.flip(files.delete(file.name))).code, "NOT_FOUND")
      })
    ))

  it.live("refuses what the service does not have", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const files = yield* Files
        const corpus = yield* newCorpus
        const { file } = yield* files.upload(marked(corpus, "text"))
        const before = fake.calls.length
        assert.strictEqual((yield* Effect.flip(files.update(file.name, {}))).code, "UNIMPLEMENTED")
        assert.strictEqual((yield* Effect.flip(files.chunks(file.name, {}))).code, "UNIMPLEMENTED")
        const structured = { ...marked(corpus, "text"), chunking: { strategy: "structure", size: 10, overlap: 0 } as const }
        const error = yield* Effect.flip(files.upload(structured))
        assert.strictEqual(error instanceof ServiceError && error.code, "INVALID_ARGUMENT")
        const large = yield* Effect.flip(files.upload({ ...marked(corpus, ""), content: new Uint8Array(25_000_001) }))
        assert.strictEqual(large instanceof DocumentError && large.problem, "limit")
        assert.strictEqual(fake.calls.length, before)
      })
    ))

  it.live("cuts names that the service would refuse, from the front", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const path = `${"folder/".repeat(30)}name.txt`
        const { file } = yield* (yield* Files).upload({ ...marked(yield* newCorpus, "text"), displayName: path })
        const name = fake.files.get(file.name)?.displayName ?? ""
        assert.strictEqual(Array.from(name).length, 128)
        assert.isTrue(name.startsWith("…") && path.endsWith(name.slice(1)))
      })
    ))
})
