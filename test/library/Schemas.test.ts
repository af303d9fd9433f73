import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { local } from "../../connectors/index.ts"
import { Answer, Citation, Context, Embedded, Pipeline, Report } from "../../src/index.ts"
import { tempFolder } from "../support/TempFolder.ts"

/** Where a value has undefined for what is not there. */
const undefinedIn = (value: unknown, path = ""): ReadonlyArray<string> =>
  value === undefined
    ? [path]
    : typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([key, inner]) => undefinedIn(inner, `${path}.${key}`))

describe("what a pipeline returns", () => {
  it.live("is what the exported schemas encode", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* tempFolder
      mkdirSync(join(folder, "docs"))
      writeFileSync(join(folder, "docs/leave.md"), "# Leave\n\nFive unused days of leave carry over.\n")
      writeFileSync(join(folder, "docs/plain.txt"), "Travel is approved by managers.\n")
      writeFileSync(join(folder, "docs/broken.pdf"), "%PDF-1.4\n")
      const p = Pipeline.make("p", { corpus: { displayName: "P" }, sources: { docs: local(join(folder, "docs")) } })
      yield* Effect.gen(function*() {
        const found: Array<string> = []
        const encodes = <A, I>(name: string, schema: Schema.Codec<A, I>, value: A) =>
          Effect.result(Schema.encodeEffect(schema)(value)).pipe(
            Effect.map((encoded) => {
              if (encoded._tag === "Failure") found.push(`${name}: ${encoded.failure.message}`)
              found.push(...undefinedIn(value, name))
            })
          )
        const plan = yield* p.plan()
        found.push(...undefinedIn(plan, "plan"))
        yield* encodes("report", Report, yield* p.run)
        yield* encodes("report again", Report, yield* p.run)
        found.push(
          ...undefinedIn(yield* p.plan(), "plan again"),
          ...undefinedIn(yield* p.generations, "generations"),
          ...undefinedIn(yield* p.diff, "diff")
        )
        const contexts = Schema.Array(Context)
        yield* encodes("contexts", contexts, (yield* p.retrieve("leave")).contexts)
        yield* encodes("explained", contexts, (yield* p.retrieve("leave approved", { explain: true })).contexts)
        for (
          const question of [
            "How many days of leave carry over?",
            "Who approves travel?",
            "Who is the king of Spain?",
            "How many days of leave are paid in Peru?"
          ]
        ) {
          const answered = yield* p.ask(question)
          yield* encodes(question, Answer, answered.answer)
          yield* encodes("citations", Schema.Array(Citation), answered.answer.citations)
          found.push(...undefinedIn(answered, "answered"))
        }
        const evaluation = yield* p.evaluate({ tests: [{ question: "Who approves travel?", files: ["plain.txt"] }] })
        found.push(...undefinedIn(evaluation, "evaluation"))
        assert.deepStrictEqual(found, [])
      }).pipe(Effect.provide(Embedded.layer({ dataDir: join(folder, "data") })))
    })))
})
