import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { local } from "../../connectors/index.ts"
import * as Embedded from "../../src/compose/EmbeddedEntry.ts"
import { definePipeline } from "../../src/pipeline/definition/DefinePipeline.ts"
import * as Pipeline from "../../src/pipeline/Pipeline.ts"
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

  it.live("answer the next question from what another process has written since the last one", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const docs = join(folder, "docs")
      mkdirSync(docs)
      const dataDir = join(folder, "data")
      const pipeline = Pipeline.make("handbook", { corpus: { displayName: "Handbook" }, sources: { docs: local(docs) } })
      const program = join(folder, "program.ts")
      const at = (path: string) => JSON.stringify(join(import.meta.dirname, "../..", path))
      writeFileSync(
        program,
        `
import { Effect } from ${at("node_modules/effect/dist/index.js")}
import { Embedded, Pipeline } from ${at("src/index.ts")}
import { local } from ${at("connectors/index.ts")}
const pipeline = Pipeline.make("handbook", { corpus: { displayName: "Handbook" }, sources: { docs: local(${JSON.stringify(docs)}) } })
const does = process.argv[2] === "promote" ? Effect.andThen(pipeline.runWith({ candidate: true }), pipeline.promote()) : pipeline.run
await Effect.runPromise(Effect.provide(does, Embedded.layer({ dataDir: ${JSON.stringify(dataDir)} })))
`
      )
      const elsewhere = (what: "run" | "promote") => Effect.promise(() => promisify(execFile)(process.execPath, [program, what]))
      const write = (days: string) => writeFileSync(join(docs, "leave.md"), `# Leave\n\n${days} unused days of annual leave carry over.\n`)

      yield* Effect.gen(function*() {
        write("Five")
        yield* pipeline.run
        const ask = Effect.map(
          pipeline.retrieve("unused days of leave", { hybrid: { alpha: 0 } }),
          ({ contexts }) => contexts.map(({ file, text }) => ({ file, text }))
        )
        const before = yield* ask
        assert.match(before.map(({ text }) => text).join(), /Five unused/)
        write("Seven")
        yield* elsewhere("run")
        assert.match((yield* ask).map(({ text }) => text).join(), /^(?!.*Five).*Seven unused/s)
        write("Nine")
        yield* elsewhere("promote")
        const promoted = yield* ask
        assert.match(promoted.map(({ text }) => text).join(), /^(?!.*Seven).*Nine unused/s)
        // Of another corpus, which took the place of the one that was asked.
        assert.notStrictEqual(corpusOf(promoted[0]?.file ?? ""), corpusOf(before[0]?.file ?? ""))
      }).pipe(Effect.provide(Embedded.layer({ dataDir })))
    }).pipe(Effect.scoped))
})

const corpusOf = (file: string): string => file.slice(0, file.indexOf("/ragFiles/"))
