import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { hashEmbedder } from "../../src/models/HashEmbedder.ts"
import { command } from "../support/Command.ts"
import { events } from "../support/Finished.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { fakeWeaviate } from "../fakes/Weaviate.ts"

const real = process.env["WEAVIATE_URL"] ?? ""

const theirs = {
  "101": ["gs://acme/hr/leave.pdf", ["Unused days of annual leave carry over until March.", "Leave is asked for in writing."]],
  "102": ["gs://acme/hr/travel.pdf", ["Hotels in Osaka are paid up to 120 euros a night."]]
} as const

/** A collection as the service fills it: what it documents, and nothing of ours. */
const filled = Effect.fnUntraced(function*(vectorOf: (text: string) => Effect.Effect<ReadonlyArray<number>>) {
  const { origin } = real === "" ? yield* fakeWeaviate() : { origin: real }
  const collection = `Others${Date.now()}`
  const send = (method: string, path: string, body?: object) =>
    Effect.promise(() =>
      fetch(`${origin}/v1${path}`, {
        method,
        headers: { "content-type": "application/json" },
        body: body === undefined ? null : JSON.stringify(body)
      }).then((response) => response.status === 200 && method !== "DELETE" ? response.json() : undefined)
    )
  yield* Effect.addFinalizer(() => send("DELETE", `/schema/${collection}`))
  const names = ["fileId", "corpusId", "chunkId", "chunkDataType", "chunkData", "fileOriginalUri"]
  yield* send("POST", "/schema", {
    class: collection,
    vectorizer: "none",
    vectorIndexConfig: { distance: "cosine" },
    properties: names.map((name) => ({ name, dataType: ["text"], tokenization: "field" }))
  })
  let id = 0
  for (const [fileId, [fileOriginalUri, texts]] of Object.entries(theirs)) {
    for (const [at, chunkData] of texts.entries()) {
      const properties = { fileId, corpusId: "4611", chunkId: `${fileId}${9 + at}`, chunkDataType: "TEXT", chunkData, fileOriginalUri }
      const object = { class: collection, id: `00000000-0000-4000-8000-00000000000${++id}`, properties, vector: yield* vectorOf(chunkData) }
      yield* send("POST", "/batch/objects", { objects: [object] })
    }
  }
  /** Objects of theirs that are there. */
  const left = Effect.map(
    send("GET", `/objects?class=${collection}&limit=100`),
    (listed) =>
      (Reflect.get(Object(listed), "objects") as ReadonlyArray<{ readonly properties: { readonly corpusId: string } }>).filter(
        ({ properties }) => properties.corpusId === "4611"
      ).length
  )
  return { collection, origin, left }
})

const own = (text: string) => Effect.map(Effect.orDie(hashEmbedder.embed([text], "document")), ([vector]) => [...vector!])

const scene = Effect.fnUntraced(function*(vectorOf: Parameters<typeof filled>[0]) {
  const cwd = yield* tempFolder
  const made = yield* filled(vectorOf)
  write(cwd, {
    "pipeline.yaml": `
name: others
corpus: { displayName: Others, vectorDb: { weaviate: { httpEndpoint: "${made.origin}", collectionName: ${made.collection} } } }
sources: { docs: { local: { path: ./docs } } }
`
  })
  write(join(cwd, "docs"), { "roof.md": "# Roof\n\nThe roof is checked in autumn.\n" })
  return { ...made, cli: (...args: ReadonlyArray<string>) => Effect.promise(() => command([...args, "--data-dir", "data"], { cwd })) }
})

describe("a collection that the service filled", () => {
  it.live("is taken into the corpus by the first run, is listed, shown and found, and stays as it is", () =>
    Effect.gen(function*() {
      const { cli, left } = yield* scene(own)
      const plan = yield* cli("plan", "pipeline.yaml")
      assert.include(plan.stdout.replace(/\s+/g, " "), "2 files found in collection")
      const doctor = yield* cli("doctor", "pipeline.yaml")
      assert.match(doctor.stdout.replace(/\s+/g, " "), /has 0 chunks .* and beside them 3 of 1 corpora that are not Sluice's/)
      const first = yield* cli("run", "pipeline.yaml", "--json")
      assert.strictEqual(first.code, 0, first.stdout + first.stderr)
      assert.deepInclude(events(first).at(-1)?.["report"], { embedded: 1 })
      const listed = yield* cli("files", "list", "--pipeline", "pipeline.yaml", "--json")
      const files = events(listed)
      assert.sameMembers(files.map((file) => file["displayName"]), ["leave.pdf", "travel.pdf", "roof.md"])
      const leave = files.find((file) => file["displayName"] === "leave.pdf")
      assert.strictEqual(leave?.["sourceUri"], "gs://acme/hr/leave.pdf")
      const shown = yield* cli("files", "show", String(leave?.["name"]), "--pipeline", "pipeline.yaml")
      assert.match(shown.stdout.replace(/\s+/g, " "), /carry over until March\..*asked for in writing/)
      const found = yield* cli("retrieve", "--pipeline", "pipeline.yaml", "--json", "What happens to unused days of annual leave?")
      assert.match(found.stdout, /^[^]*?"sourceUri": ?"gs:\/\/acme\/hr\/leave\.pdf"/)
      const again = yield* cli("run", "pipeline.yaml", "--json")
      assert.deepInclude(events(again).at(-1)?.["report"], { embedded: 0, chunks: 0 })
      const relisted = yield* cli("files", "list", "--pipeline", "pipeline.yaml", "--json")
      assert.lengthOf(events(relisted), 3)
      assert.strictEqual(yield* left, 3)
    }).pipe(Effect.scoped))

  it.live("is left alone where another model made its vectors", () =>
    Effect.gen(function*() {
      const { cli, left } = yield* scene(() => Effect.succeed(Array.from({ length: hashEmbedder.dimensions }, () => 1)))
      const first = yield* cli("run", "pipeline.yaml")
      assert.strictEqual(first.code, 0, first.stderr)
      assert.include(first.stderr.replace(/\s+/g, " "), "2 files that others put into collection")
      const listed = yield* cli("files", "list", "--pipeline", "pipeline.yaml", "--json")
      assert.lengthOf(events(listed), 1)
      assert.strictEqual(yield* left, 3)
    }).pipe(Effect.scoped))
})
