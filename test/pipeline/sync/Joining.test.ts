import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import type { SyncEvent } from "../../../src/domain/Report.ts"
import { definePipeline } from "../../../src/pipeline/DefinePipeline.ts"
import { diffPipeline } from "../../../src/pipeline/DiffPipeline.ts"
import { corpusOf, planPipeline, runPipeline } from "../../../src/pipeline/RunPipeline.ts"
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
        const named = (name: string) => definePipeline({ name, engine: settings, corpus: { displayName: "Shared" }, sources: { docs: { local: { path: docs } } } })
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
          yield* (yield* Files).upload({ corpus: (yield* corpusOf(first)).name, displayName: "c.md", content: Buffer.from("By hand."), chunking, parsing })
        }))
        assert.notProperty((yield* on(planPipeline(first))).corpus, "others")

        const joins = { files: 3, pipelines: { first: 2 }, unmarked: 1 }
        const planned = yield* on(planPipeline(second))
        assert.deepStrictEqual(planned.corpus, { action: "keep", changes: [], others: joins })
        assert.strictEqual(planned.totals.added, 2)
        assert.include(planned.warnings[0], "joins corpus \"Shared\", which holds 3 files of others (2 of pipeline first, 1 without a pipeline's mark)")
        assert.deepStrictEqual(yield* on(planPipeline(second)), planned)
        const before = yield* compare(second)
        assert.deepStrictEqual([before.joins, before.differences.foreign, before.whose], [joins, 3, ["first", "first", undefined]])

        assert.deepStrictEqual(yield* run(second), [joins])
        assert.deepStrictEqual(yield* run(second), [])
        assert.notProperty((yield* on(planPipeline(second))).corpus, "others")
        const after = yield* compare(second)
        assert.deepStrictEqual([after.joins, after.same, after.whose], [undefined, 2, ["first", "first", undefined]])
        assert.deepStrictEqual((yield* compare(first)).whose, ["second", "second", undefined])
      }).pipe(Effect.scoped))
  })
}
