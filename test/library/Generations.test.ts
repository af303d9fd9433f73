import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { local } from "../../connectors/index.ts"
import { Embedded, Pipeline } from "../../src/index.ts"
import { fakeOpenAi, sendEmbeddings } from "../fakes/Openai.ts"
import { startServer } from "../server/support/TestServer.ts"
import { tempFolder, write } from "../support/TempFolder.ts"

/** Two sections that one large chunk holds, and small ones do not. */
const keys =
  "# Keys\n\nThe spare keys hang in the porter's lodge behind the mirror.\n\n# Bikes\n\nBikes stand in the inner yard and are locked to the rail there.\n"
const question = "Where do the spare keys hang?"

const setUp = Effect.gen(function*() {
  const folder = yield* tempFolder
  write(join(folder, "docs"), { "keys.md": keys, "leave.md": "# Leave\n\nFive unused days carry over.\n" })
  const fake = yield* fakeOpenAi((request, response) =>
    sendEmbeddings(request, response, (text) => [1, text.length % 7, text.includes("keys") ? 9 : 0, 1])
  )
  const made = (more: { readonly size?: number; readonly model?: string; readonly keep?: number }) =>
    Pipeline.make("p", {
      corpus: {
        displayName: "P",
        ...(more.keep === undefined ? {} : { keepGenerations: more.keep }),
        ...(more.model === undefined ? {} : { embedding: { openai: { url: fake.baseUrl, model: more.model, dimensions: 4 } } })
      },
      sources: { docs: local(join(folder, "docs")) },
      chunking: { strategy: "structure", size: more.size ?? 20, overlap: 0 }
    })
  const dataDir = join(folder, "data")
  const on = Effect.provide(Embedded.layer({ dataDir }))
  /** What was sent to be embedded, questions left out. */
  const sent = () => fake.received.flatMap(({ body }) => body.input).filter((text) => text !== question)
  return { dataDir, fake, folder, made, on, sent }
})

describe("generations of a pipeline", () => {
  it.live("are asked with the embedder that filled each, by whichever file, and embed nothing twice", () =>
    Effect.gen(function*() {
      const { made, on, sent } = yield* setUp
      const [before, after] = [made({ model: "a" }), made({ model: "a", size: 60 })]
      yield* Effect.gen(function*() {
        yield* before.run
        yield* after.runWith({ candidate: true })
        assert.strictEqual(new Set(sent()).size, sent().length)
        // The short document is one chunk for both, and was not sent again.
        assert.strictEqual(sent().filter((text) => text.includes("carry over")).length, 1)
        const [live, candidate] = yield* after.generations
        assert.deepStrictEqual([live?.role, candidate?.role, candidate?.whole], ["live", "candidate", true])
        assert.deepStrictEqual(candidate?.differs, [{ field: "chunking.size", from: "20", to: "60" }])

        const other = made({ model: "b" })
        assert.include((yield* Effect.flip(other.run)).message, "forces replacement")
        yield* other.runWith({ candidate: true })
        const text = Effect.map(other.retrieve(question), ({ contexts }) => contexts[0]?.text)
        assert.include(yield* text, "spare keys")
        // The file names the model of the candidate; what serves is kept up to date by its own.
        assert.deepInclude((yield* other.run).totals, { unchanged: 2 })
        yield* other.promote()
        for (const file of [before, other]) {
          const { contexts } = yield* file.retrieve(question)
          assert.include(contexts[0]?.text, "spare keys")
          assert.deepInclude((yield* file.run).totals, { unchanged: 2 })
        }
        yield* before.rollback
        assert.deepInclude((yield* before.run).totals, { unchanged: 2 })
        assert.deepInclude((yield* other.plan()).totals, { unchanged: 2 })
      }).pipe(on)
    }).pipe(Effect.scoped))

  it.live("stay one corpus for the clients of a server, by the id that they know", () =>
    Effect.gen(function*() {
      const { dataDir, folder, made, on } = yield* setUp
      const [before, after] = [made({ keep: 0 }), made({ size: 60, keep: 0, model: "b" })]
      yield* before.run.pipe(on)
      const server = yield* Effect.acquireRelease(Effect.promise(() => startServer({}, folder)), (server) => Effect.promise(server.stop))
      const listed = async () => (await server.call("GET", "/v1/projects/local/locations/local/ragCorpora")).body.ragCorpora
      const [{ name }] = yield* Effect.promise(listed)
      const found = async () => {
        const { body } = await server.call("POST", "/v1/projects/local/locations/local:retrieveContexts", {
          vertexRagStore: { ragResources: [{ ragCorpus: name }] },
          query: { text: question, similarityTopK: 1 }
        })
        return body.contexts?.contexts?.[0]?.text as string | undefined
      }
      yield* after.runWith({ candidate: true }).pipe(on)
      assert.lengthOf(yield* Effect.promise(listed), 1)
      const { body: { nextPageToken } } = yield* Effect.promise(() => server.call("GET", `/v1/${name}/ragFiles?pageSize=1`))
      assert.notInclude(yield* Effect.promise(found), "Bikes")
      const seen: Array<string | undefined> = []
      const reading = Effect.forever(Effect.promise(async () => void seen.push(await found())))
      yield* Effect.raceFirst(reading, after.promote().pipe(on))
      assert.isTrue(seen.every((text) => text?.includes("spare keys") === true), JSON.stringify(seen.slice(0, 5)))
      assert.include(yield* Effect.promise(found), "Bikes stand")
      const [only, ...others] = yield* Effect.promise(listed)
      assert.deepStrictEqual([only.displayName, others], ["P", []])
      assert.notStrictEqual(only.name, name)
      const { body: files } = yield* Effect.promise(() => server.call("GET", `/v1/${name}/ragFiles`))
      assert.lengthOf(files.ragFiles, 2)
      // A listing that was begun in the one does not go on in the other.
      const mixed = yield* Effect.promise(() => server.call("GET", `/v1/${name}/ragFiles?pageSize=1&pageToken=${nextPageToken}`))
      assert.strictEqual(mixed.status, 400)
      rmSync(join(dataDir, "server"), { recursive: true, force: true })
    }).pipe(Effect.scoped))
})
