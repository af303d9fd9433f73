import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { local } from "../../connectors/index.ts"
import { Embedded, Pipeline } from "../../src/index.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { startServer } from "./support/TestServer.ts"

const parent = "projects/p1/locations/us-central1"

/** A bundle of a pipeline of this name, with one document. */
const bundleOf = Effect.fnUntraced(function*(folder: string, name: string, text: string) {
  const cwd = join(folder, name)
  write(join(cwd, "docs"), { [`${name}.md`]: text })
  const pipeline = Pipeline.make(name, { corpus: { displayName: `The ${name}` }, sources: { docs: local(join(cwd, "docs")) } })
  const file = join(folder, `${name}.bundle`)
  yield* Effect.andThen(pipeline.run, Embedded.exportBundle(pipeline, file)).pipe(
    Effect.provide(Embedded.layer({ dataDir: join(cwd, ".sluice") }))
  )
  return file
})

describe("serve --bundle", () => {
  it.live("serves the corpora of bundles beside its own, to be read and not to be changed", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const handbook = yield* bundleOf(folder, "handbook", "# Leave\n\nFive unused days of annual leave carry over into the next year.\n")
      const guide = yield* bundleOf(folder, "guide", "# Keys\n\nThe spare keys hang in the porter's lodge behind the mirror.\n")
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => startServer({ bundles: [handbook, guide] })),
        (server) => Effect.promise(() => server.stop())
      )
      yield* Effect.promise(async () => {
        const own = await server.call("POST", `/v1/${parent}/ragCorpora`, { displayName: "Own" })
        assert.strictEqual(own.status, 200)
        const listed = await server.call("GET", `/v1/${parent}/ragCorpora`)
        const corpora: ReadonlyArray<{ name: string; displayName: string }> = listed.body.ragCorpora
        assert.sameMembers(corpora.map(({ displayName }) => displayName), ["Own", "The handbook", "The guide"])
        // A page at a time there are as many, each once.
        const paged: Array<string> = []
        for (let token = ""; token !== undefined;) {
          const { body } = await server.call("GET", `/v1/${parent}/ragCorpora?pageSize=1&pageToken=${encodeURIComponent(token)}`)
          paged.push(...body.ragCorpora.map(({ displayName }: { displayName: string }) => displayName))
          token = body.nextPageToken
        }
        assert.sameMembers(paged, ["Own", "The handbook", "The guide"])
        const nameOf = (wanted: string) => corpora.find(({ displayName }) => displayName === wanted)?.name ?? ""
        const found = async (...names: ReadonlyArray<string>) => {
          const { body } = await server.call("POST", `/v1beta1/${parent}:retrieveContexts`, {
            query: { text: "where do the spare keys hang?" },
            vertex_rag_store: { rag_resources: names.map((name) => ({ rag_corpus: name })) }
          })
          return body.contexts.contexts.map(({ sourceUri }: { sourceUri: string }) => sourceUri)
        }
        assert.deepStrictEqual(await found(nameOf("The guide")), ["docs/guide.md"])
        // Those of bundles and its own together.
        assert.deepStrictEqual(await found(nameOf("The handbook"), nameOf("The guide"), nameOf("Own")), [
          "docs/guide.md",
          "docs/handbook.md"
        ])
        // What is in a bundle is counted and drawn from the bundle.
        const id = nameOf("The guide").split("/").at(-1) ?? ""
        const shown = async (path: string) => (await server.call("GET", `/ui/api/corpora/${id}/${path}`)).body
        assert.deepStrictEqual(await shown("facets?keys=title"), [{ key: "title", values: [{ value: "Keys", files: 1 }], without: 0 }])
        assert.deepStrictEqual((await shown("map")).points.map(({ path }: { path: string }) => path), ["guide.md"])
        const { body: { ragFiles } } = await server.call("GET", `/v1/${nameOf("The guide")}/ragFiles`)
        assert.deepStrictEqual(ragFiles.map(({ displayName }: { displayName: string }) => displayName), ["guide.md"])
        const completion = await server.call("POST", "/v1/chat/completions", {
          model: "corpus/The handbook",
          messages: [{ role: "user", content: "How many days of leave carry over?" }]
        })
        assert.include(completion.body.choices[0].message.content, "Five unused days")
        for (
          const [method, path, body] of [
            ["DELETE", ragFiles[0].name, undefined],
            ["PATCH", nameOf("The guide"), { displayName: "Mine" }],
            ["DELETE", nameOf("The guide"), undefined]
          ] as const
        ) {
          const refused = await server.call(method, `/v1/${path}`, body)
          assert.deepInclude(refused.body.error, { code: 400, status: "FAILED_PRECONDITION" })
          assert.match(refused.body.error.message, /guide\.bundle is a bundle, which can only be read/)
        }
        assert.strictEqual((await server.call("DELETE", `/v1/${nameOf("Own")}`)).status, 200)
      })
    }).pipe(Effect.scoped))

  it.live("does not start with two bundles of one corpus, or one that is none", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const first = yield* bundleOf(folder, "handbook", "# Leave\n\nFive days carry over.\n")
      const second = join(folder, "second.bundle")
      copyFileSync(first, second)
      const start = (bundles: ReadonlyArray<string>) =>
        Effect.promise(() => startServer({ bundles }).then(() => "started", (error: Error) => error.message))
      assert.match(yield* start([first, second]), /handbook\.bundle and .*second\.bundle are of one corpus, that of pipeline handbook/)
      write(folder, { "none.bundle": "nothing" })
      assert.match(yield* start([join(folder, "none.bundle")]), /none\.bundle is not a bundle of Sluice/)
    }).pipe(Effect.scoped))
})
