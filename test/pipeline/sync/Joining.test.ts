import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import type { SyncEvent } from "../../../src/domain/Report.ts"
import { definePipeline } from "../../../src/pipeline/definition/DefinePipeline.ts"
import { corpusOf, diffPipeline, planPipeline, runPipeline } from "../../../src/pipeline/RunPipeline.ts"
import type { Difference } from "../../../src/pipeline/sync/Diff.ts"
import { Files } from "../../../src/ports/Files.ts"
import { Rig, rigs } from "../../support/Rigs.ts"
import { tempFolder, write } from "../../support/TempFolder.ts"

for (const [engine, rig] of rigs) {
  layer(rig, { excludeTestServices: true })(`a second pipeline of the same corpus on the ${engine} engine`, (it) => {
    it.effect("is told by plan, diff and its first run whose files it joins, and never again", () =>
      Effect.gen(function*() {
        const { on, settings } = yield* Rig
        const docs = join(yield* tempFolder, "docs")
        write(docs, { "a.md": "# Valves\n\nOf valves.\n", "b.md": "# Pumps\n\nOf pumps.\n" })
        const named = (name: string) =>
          definePipeline({ name, engine: settings, corpus: { displayName: "Shared" }, sources: { docs: { local: { path: docs } } } })
        const [first, second] = [named("first"), named("second")]
        const run = (pipeline: typeof first) => {
          const events: Array<SyncEvent> = []
          return on(runPipeline(pipeline, { observe: (event) => Effect.sync(() => void events.push(event)) })).pipe(
            Effect.map(() => events.flatMap((event) => event.type === "joins" ? [event.others] : []))
          )
        }
        const compare = (pipeline: typeof first) => {
          const all: Array<Difference> = []
          return on(diffPipeline(pipeline, (difference) => Effect.sync(() => void all.push(difference)))).pipe(
            Effect.map((found) => ({ ...found, whose: all.map((d) => d.type === "foreign" ? d.pipeline : d.type).toSorted() }))
          )
        }

        assert.deepStrictEqual(yield* run(first), [])
        yield* on(Effect.gen(function*() {
          const { chunking, parsing } = first
          yield* (yield* Files).upload({
            corpus: (yield* corpusOf(first)).name,
            displayName: "c.md",
            content: Buffer.from("By hand."),
            chunking,
            parsing
          })
        }))
        assert.isUndefined((yield* on(planPipeline(first))).corpus.others)

        const joins = { files: 3, pipelines: { first: 2 }, unmarked: 1 }
        const planned = yield* on(planPipeline(second))
        assert.deepStrictEqual(planned.corpus, { action: "keep", changes: [], generations: [], others: joins })
        assert.strictEqual(planned.totals.added, 2)
        assert.include(
          planned.warnings[0],
          "joins corpus \"Shared\", which holds 3 files of others (2 of pipeline first, 1 without a pipeline's mark)"
        )
        assert.deepStrictEqual(yield* on(planPipeline(second)), planned)
        const before = yield* compare(second)
        assert.deepStrictEqual([before.joins, before.differences.foreign, before.whose], [joins, 3, ["first", "first", undefined]])

        assert.deepStrictEqual(yield* run(second), [joins])
        assert.deepStrictEqual(yield* run(second), [])
        assert.isUndefined((yield* on(planPipeline(second))).corpus.others)
        const after = yield* compare(second)
        assert.deepStrictEqual([after.joins, after.same, after.whose], [undefined, 2, ["first", "first", undefined]])
        assert.deepStrictEqual((yield* compare(first)).whose, ["second", "second", undefined])
      }).pipe(Effect.scoped))

    it.effect("is the first one under another name, where it says so, and takes its files over", () =>
      Effect.gen(function*() {
        const { embedded, on, settings } = yield* Rig
        const docs = join(yield* tempFolder, "docs")
        write(docs, { "a.md": "# Valves\n\nOf valves.\n", "b.md": "# Pumps\n\nOf pumps.\n" })
        const named = (name: string, renamedFrom?: string) =>
          definePipeline({
            name,
            engine: settings,
            corpus: { displayName: "Renamed" },
            sources: { docs: { local: { path: docs } } },
            ...(renamedFrom === undefined ? {} : { renamedFrom })
          })
        const filesOf = (pipeline: ReturnType<typeof named>) =>
          on(Effect.gen(function*() {
            const { items } = yield* (yield* Files).list((yield* corpusOf(pipeline)).name, {})
            return items.map(({ displayName, marker }) => `${marker?.source} ${displayName}`).toSorted()
          }))
        yield* on(runPipeline(named("old")))
        const texts = embedded()
        const silent = yield* on(planPipeline(named("new")))
        assert.strictEqual(silent.totals.added, 2)
        assert.include(silent.warnings[0], "`renamedFrom: old`")

        const renamed = named("new", "old")
        // What asks finds the corpus before a run has taken it over.
        const before = yield* filesOf(renamed)
        const planned = yield* on(planPipeline(renamed))
        assert.deepInclude(planned.totals, { unchanged: 2, added: 0, deleted: 0, held: 0 })
        assert.deepStrictEqual(planned.warnings, ["takes over 2 files of pipeline old, as renamedFrom says; none of them is stored again"])
        const events: Array<SyncEvent> = []
        const report = yield* on(runPipeline(renamed, { observe: (event) => Effect.sync(() => void events.push(event)) }))
        assert.deepInclude(report.totals, { unchanged: 2, added: 0, deleted: 0, held: 0 })
        assert.deepStrictEqual(events.filter(({ type }) => type === "takesOver" || type === "joins"), [{
          type: "takesOver",
          pipeline: "old",
          files: 2
        }])
        assert.strictEqual(embedded(), texts)
        const after = yield* filesOf(renamed)
        assert.deepStrictEqual(after, engine === "embedded" ? ["new/docs a.md", "new/docs b.md"] : before)
        assert.deepStrictEqual((yield* on(planPipeline(renamed))).warnings, [])

        // Without its ledger, and where files keep their markers, they are known by the old name.
        if (engine === "hosted") {
          const elsewhere = yield* on(planPipeline(renamed), "another machine")
          assert.deepInclude(elsewhere.totals, { unchanged: 2, added: 0 })
          assert.deepStrictEqual(elsewhere.warnings, [])
        }
      }).pipe(Effect.scoped))

    it.effect("that ran once beside the first before it said that it is that one keeps one of each file", () =>
      Effect.gen(function*() {
        const { on, settings } = yield* Rig
        const docs = join(yield* tempFolder, "docs")
        write(docs, { "a.md": "# Valves\n\nOf valves.\n", "b.md": "# Pumps\n\nOf pumps.\n" })
        const named = (name: string, renamedFrom?: string) =>
          definePipeline({
            name,
            engine: settings,
            corpus: { displayName: "Doubled" },
            sources: { docs: { local: { path: docs } } },
            ...(renamedFrom === undefined ? {} : { renamedFrom })
          })
        yield* on(runPipeline(named("older")))
        yield* on(runPipeline(named("newer")))
        const planned = yield* on(planPipeline(named("newer", "older")))
        assert.deepInclude(planned.totals, { unchanged: 2, deleted: 2 })
        assert.deepInclude((yield* on(runPipeline(named("newer", "older")))).totals, { unchanged: 2, deleted: 2 })
        assert.deepInclude((yield* on(planPipeline(named("newer", "older")))).totals, { unchanged: 2, deleted: 0 })
      }).pipe(Effect.scoped))
  })
}
