import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { FileOutcome } from "../../../src/domain/Report.ts"
import { definePipeline } from "../../../src/pipeline/definition/DefinePipeline.ts"
import { corpusOf, diffPipeline, planPipeline, runPipeline } from "../../../src/pipeline/RunPipeline.ts"
import type { Services } from "../../../src/pipeline/Services.ts"
import type { SyncOptions } from "../../../src/pipeline/sync/Session.ts"
import { Files } from "../../../src/ports/Files.ts"
import { Rig, rigs } from "../../support/Rigs.ts"
import { tempFolder, write } from "../../support/TempFolder.ts"

const guide = ["guide/a.md", "guide/b.md", "guide/c.md", "guide/d.md"]

let pipelines = 0

/** A pipeline of its own, and what can be done with it and to its corpus. */
const setUp = Effect.gen(function*() {
  const rig = yield* Rig
  const folder = yield* tempFolder
  const docs = join(folder, "docs")
  const name = `drift${++pipelines}`
  write(
    docs,
    Object.fromEntries(
      ["a", "b", "c", "d"].map((page) => [`guide/${page}.md`, `# Page ${page}\n\nWhat page ${page} of ${name} says of valves.\n`])
    )
  )
  const pipeline = definePipeline({
    name,
    engine: rig.settings,
    corpus: { displayName: name },
    sources: { docs: { local: { path: docs } } },
    import: { maxDelete: "100%" }
  })
  let machine = "data"
  const on = <A, E>(body: Effect.Effect<A, E, Services>) => Effect.suspend(() => rig.on(body, machine))
  const counts = (totals: object): Record<string, unknown> =>
    Object.fromEntries(Object.entries(totals).filter(([key, n]) => n !== 0 && key !== "listed"))
  /** What a plan, and what a run says of the files it does something with. */
  const told = (outcomes: ReadonlyArray<FileOutcome>) =>
    outcomes.filter(({ outcome }) => outcome !== "unchanged").map(({ outcome, path, reason }) => `${outcome} ${path} ${reason ?? ""}`)
      .toSorted()
  return {
    docs,
    rig,
    run: Effect.fnUntraced(function*(options: SyncOptions = {}) {
      const outcomes: Array<FileOutcome> = []
      const report = yield* on(runPipeline(pipeline, {
        ...options,
        observe: (event) => Effect.sync(() => event.type === "file" && void outcomes.push(event))
      }))
      return { counts: counts(report.totals), told: told(outcomes), note: report.sources[0]?.note }
    }),
    plan: Effect.gen(function*() {
      const outcomes: Array<FileOutcome> = []
      const { totals, warnings } = yield* on(planPipeline(pipeline, {
        observe: (item) => Effect.sync(() => item.type === "file" && void outcomes.push(item))
      }))
      return { counts: counts(totals), told: told(outcomes), warnings }
    }),
    differences: Effect.map(on(diffPipeline(pipeline)), ({ differences, same }) => counts({ same, ...differences })),
    names: on(Effect.gen(function*() {
      const { items } = yield* (yield* Files).list((yield* corpusOf(pipeline)).name, {})
      return items.map(({ displayName }) => displayName).toSorted()
    })),
    /** Somebody else deletes a file, or puts one there. */
    theirDelete: (path: string) =>
      on(Effect.gen(function*() {
        const files = yield* Files
        const { items } = yield* files.list((yield* corpusOf(pipeline)).name, {})
        const found = items.find(({ displayName }) => displayName === path)
        assert.isDefined(found)
        yield* files.delete(found.name)
        return found
      })),
    theirUpload: (displayName: string, text: string, marker?: NonNullable<Parameters<Files["Service"]["upload"]>[0]["marker"]>) =>
      on(Effect.gen(function*() {
        const { chunking, parsing } = pipeline
        yield* (yield* Files).upload({
          corpus: (yield* corpusOf(pipeline)).name,
          displayName,
          content: new TextEncoder().encode(text),
          chunking,
          parsing,
          ...(marker === undefined ? {} : { marker })
        })
      })),
    /** Goes on with the ledger of another machine. */
    moveTo: (other: string) => void (machine = other)
  }
})

for (const [engine, rig] of rigs) {
  layer(rig, { excludeTestServices: true })(`drift on the ${engine} engine`, (it) => {
    it.effect("a file deleted in the corpus is found by plan, put back by run, and not missed by a run that trusts its ledger", () =>
      Effect.gen(function*() {
        const { differences, names, plan, run, theirDelete, theirUpload } = yield* setUp
        yield* run()
        yield* theirUpload("theirs.md", "Put there by hand.")
        yield* theirDelete("guide/b.md")
        assert.deepStrictEqual(yield* differences, { same: 3, missing: 1, foreign: 1 })
        const planned = yield* plan
        assert.deepStrictEqual(planned.counts, { added: 1, unchanged: 3 })
        assert.deepStrictEqual(planned.told, ["added guide/b.md drift"])
        assert.deepStrictEqual(planned.warnings, ["docs: 1 file deleted or changed in the corpus by somebody else"])
        assert.deepStrictEqual(yield* plan, planned)

        assert.deepStrictEqual((yield* run({ checkTarget: false })).counts, { unchanged: 4 })
        const ran = yield* run()
        assert.deepStrictEqual([ran.counts, ran.told], [planned.counts, planned.told])
        assert.strictEqual(ran.note, "1 file deleted or changed in the corpus by somebody else")
        assert.deepStrictEqual(yield* names, [...guide, "theirs.md"])
        assert.deepStrictEqual(yield* run(), { counts: { unchanged: 4 }, told: [], note: undefined })
        assert.deepStrictEqual(yield* differences, { same: 4, foreign: 1 })
      }).pipe(Effect.scoped))

    it.effect("another version of a file under our mark takes nobody in: ours is put back, and the other one goes", () =>
      Effect.gen(function*() {
        const { differences, names, plan, rig, run, theirDelete, theirUpload } = yield* setUp
        yield* run()
        const { marker } = yield* theirDelete("guide/b.md")
        assert.isDefined(marker)
        yield* theirUpload("guide/b.md", "Something else.", { ...marker, fingerprint: "x.y.z" })
        assert.deepStrictEqual((yield* plan).counts, { changed: 1, unchanged: 3 })
        assert.deepStrictEqual((yield* run()).counts, { changed: 1, unchanged: 3 })
        assert.deepStrictEqual(yield* names, guide)
        assert.deepStrictEqual(yield* differences, { same: 4 })
        assert.isAbove(rig.embedded(), 0)
      }).pipe(Effect.scoped))

    it.effect("a file that is there twice under our mark is there once after the next run", () =>
      Effect.gen(function*() {
        const { differences, names, plan, run, theirDelete, theirUpload } = yield* setUp
        yield* run()
        const { marker } = yield* theirDelete("guide/b.md")
        yield* run()
        yield* theirUpload("guide/b.md", "A twin.", marker)
        assert.deepStrictEqual((yield* plan).counts, { unchanged: 4, deleted: 1 })
        assert.deepStrictEqual((yield* run()).counts, { unchanged: 4, deleted: 1 })
        assert.deepStrictEqual(yield* names, guide)
        assert.deepStrictEqual(yield* differences, { same: 4 })
      }).pipe(Effect.scoped))

    it.effect("a folder that moved embeds nothing", () =>
      Effect.gen(function*() {
        const { docs, names, rig, run } = yield* setUp
        yield* run()
        const before = rig.embedded()
        assert.isAbove(before, 0)
        renameSync(join(docs, "guide"), join(docs, "manual"))
        yield* run()
        assert.deepStrictEqual(yield* names, guide.map((path) => path.replace("guide", "manual")))
        assert.strictEqual(rig.embedded(), before)
      }).pipe(Effect.scoped))

    if (engine === "hosted") {
      it.effect("two machines that put files there in turn store each once, and know each other's deletes", () =>
        Effect.gen(function*() {
          const { docs, moveTo, names, rig, run } = yield* setUp
          yield* run()
          moveTo("laptop")
          assert.deepStrictEqual((yield* run()).counts, { unchanged: 4 })
          write(docs, { "new.md": "# New\n\nWritten on the laptop.\n" })
          rmSync(join(docs, "guide/a.md"))
          assert.deepStrictEqual((yield* run()).counts, { added: 1, unchanged: 3, deleted: 1 })
          const before = rig.embedded()
          moveTo("data")
          assert.deepStrictEqual((yield* run()).counts, { unchanged: 4 })
          assert.strictEqual(rig.embedded(), before)
          assert.deepStrictEqual(yield* names, ["guide/b.md", "guide/c.md", "guide/d.md", "new.md"])
        }).pipe(Effect.scoped))
    }
  })
}
