import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Embedded from "../../src/compose/EmbeddedEntry.ts"
import { definePipeline } from "../../src/pipeline/definition/DefinePipeline.ts"
import * as Lock from "../../src/state/Lock.ts"
import { pipelineOf } from "../support/Sources.ts"
import { tempFolder } from "../support/TempFolder.ts"

describe("programs beside a writer", () => {
  it.live("ask and plan, any number of them in one process, and are told who writes when they want to", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const docs = join(folder, "docs")
      mkdirSync(docs)
      writeFileSync(join(docs, "leave.md"), "# Leave\n\nFive unused days of annual leave carry over into the next year.\n")
      const dataDir = join(folder, "data")
      const pipeline = pipelineOf(definePipeline({
        name: "handbook",
        corpus: { displayName: "Handbook" },
        sources: { docs: { local: { path: docs } } },
        stages: [{ retrieve: { topK: 3 } }, { generate: { model: "extractive" } }]
      }))
      const on = <A, E, R>(body: Effect.Effect<A, E, R>) => Effect.provide(body, Embedded.layer({ dataDir }), { local: true })
      yield* on(pipeline.run)
      // As another program that runs would.
      yield* Lock.acquire(dataDir, "sluice run other.yaml")
      const asking = on(Effect.gen(function*() {
        const planned = yield* pipeline.plan()
        const { answer } = yield* pipeline.ask("How many days of leave carry over?")
        return [planned.totals.unchanged, answer.text.includes("Five unused days")] as const
      }))
      assert.deepStrictEqual(yield* Effect.all([asking, asking, asking], { concurrency: "unbounded" }), [[1, true], [1, true], [1, true]])
      const refused = yield* Effect.flip(on(pipeline.run))
      assert.isTrue(refused._tag === "StateError" && refused.problem === "locked" && refused.message.includes("sluice run other.yaml"))
    }).pipe(Effect.scoped))
})
