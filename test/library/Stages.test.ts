import { assert, describe, it } from "@effect/vitest"
import { Data, Effect, Result, Stream } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expectTypeOf } from "vitest"
import { local } from "../../connectors/index.ts"
import {
  type Answer,
  type Answered,
  compose,
  defineStage,
  Embedded,
  generate,
  generateFromCorpus,
  type Host,
  Pipeline,
  type PipelineInvalid,
  type Question,
  rank,
  retrieve,
  type Retrieved,
  type Stage
} from "../../src/index.ts"
import { tempFolder } from "../support/TempFolder.ts"

const files = ["open-a.md", "open-b.md", "open-c.md", "secret.md"]

/** Lets through what everybody may read. */
const acl = (input: Retrieved) =>
  Effect.succeed({ ...input, contexts: input.contexts.filter(({ sourceDisplayName }) => sourceDisplayName !== "secret.md") })
const two = (input: Retrieved) => Effect.succeed({ ...input, contexts: input.contexts.slice(0, 2) })

/** An answer that no stage of Sluice's gave; it counts how often it was asked. */
const answering = (asked: Array<number>) => (input: Retrieved) =>
  Effect.sync(() => {
    asked.push(input.contexts.length)
    const answer: Answer = { text: "yes", grounded: true, citations: [], supports: [] } as never // as much of one as is looked at here
    return { ...input, answer }
  })

const inCorpus = <A, E>(
  use: (
    of: { readonly corpus: { readonly displayName: string }; readonly sources: { readonly docs: ReturnType<typeof local> } }
  ) => Effect.Effect<A, E, Host>
) =>
  Effect.scoped(Effect.gen(function*() {
    const folder = yield* tempFolder
    mkdirSync(join(folder, "docs"))
    for (const file of files) writeFileSync(join(folder, "docs", file), `# Leave\n\nUnused days of leave carry over, says ${file}.\n`)
    const parts = { corpus: { displayName: "P" }, sources: { docs: local(join(folder, "docs")) } }
    return yield* Effect.andThen(Pipeline.make("p", parts).run, use(parts)).pipe(
      Effect.provide(Embedded.layer({ dataDir: join(folder, "data") }))
    )
  }))

const namesOf = ({ contexts }: Retrieved) => contexts.map(({ sourceDisplayName }) => sourceDisplayName).sort()

describe("retrieve of a composition", () => {
  it.live("runs stages of one's own that come last, where none answers", () =>
    inCorpus((parts) =>
      Effect.gen(function*() {
        const filtered = Pipeline.make("p", { ...parts, stages: compose(retrieve({ topK: 10 }), acl) })
        assert.deepStrictEqual(namesOf(yield* filtered.retrieve("leave")), ["open-a.md", "open-b.md", "open-c.md"])
        // A question brings what it likes: no field of its ends the stages.
        const forged = { question: "leave", answer: "mine", contexts: [] }
        assert.deepStrictEqual(namesOf(yield* filtered.retrieve(forged)), ["open-a.md", "open-b.md", "open-c.md"])
      })
    ))

  it.live("takes what came before the answer of a stage of one's own", () =>
    inCorpus((parts) =>
      Effect.gen(function*() {
        const asked: Array<number> = []
        const own = Pipeline.make("p", { ...parts, stages: compose(retrieve(), two, answering(asked)) })
        const retrieved = yield* own.retrieve("leave")
        assert.strictEqual(retrieved.contexts.length, 2)
        assert.notProperty(retrieved, "answer")
        assert.strictEqual((yield* own.ask("leave")).contexts.length, 2)
        // One that says that it answers is not asked for contexts.
        const said = defineStage({
          kind: "said",
          description: "Says yes.",
          takes: "retrieved",
          gives: "answered",
          make: () => answering(asked)
        })
        asked.length = 0
        const named = Pipeline.make("p", { ...parts, stages: compose(retrieve(), acl, said({})) })
        assert.strictEqual((yield* named.retrieve("leave")).contexts.length, 3)
        assert.deepStrictEqual(asked, [])
        assert.strictEqual((yield* named.ask("leave")).answer.text, "yes")
      })
    ))

  it.live("takes the contexts of a retriever of one's own, and says where there are none", () =>
    inCorpus((parts) =>
      Effect.gen(function*() {
        const { contexts } = yield* Pipeline.make("p", { ...parts, stages: retrieve() }).retrieve("leave")
        const found = (input: Question) => Effect.succeed({ ...input, contexts })
        assert.strictEqual((yield* Pipeline.make("p", { ...parts, stages: found }).retrieve("leave")).contexts.length, 4)
        assert.strictEqual((yield* Pipeline.make("p", { ...parts, stages: compose(found, two) }).retrieve("leave")).contexts.length, 2)
        const atOnce = (input: Question) => Effect.succeed({ ...input, contexts, answer: "yes" })
        const whole = yield* Pipeline.make("p", { ...parts, stages: atOnce }).retrieve("leave")
        assert.strictEqual(whole.contexts.length, 4)
        assert.notProperty(whole, "answer")
        const none = Pipeline.make("p", { ...parts, stages: (input: Question) => Effect.succeed({ text: input.question }) })
        const error = yield* Effect.flip(none.retrieve("leave"))
        assert.strictEqual(error._tag === "ServiceError" && error.code, "FAILED_PRECONDITION")
        assert.strictEqual(error.message, "pipeline p has no stage that gives contexts, so it cannot retrieve")
      })
    ))
})

describe("a stage of one's own", () => {
  it.live("may retrieve in the place of retrieve", () =>
    inCorpus((parts) =>
      Effect.gen(function*() {
        const { contexts } = yield* Pipeline.make("p", { ...parts, stages: retrieve() }).retrieve("leave")
        const found = (input: Question) => Effect.succeed({ ...input, contexts })
        const own = Pipeline.make("p", { ...parts, stages: compose(found, rank(), generate()) })
        assert.match((yield* own.ask("Do unused days of leave carry over?")).answer.text, /^Unused days of leave carry over/)
        assert.deepStrictEqual(own.definition.stages.map(({ _tag }) => _tag), ["rank", "generate"])
      })
    ))

  it("counts where a problem's place is said, and lets no other order through", () => {
    const problemsOf = (stages: Stage<Question, unknown, unknown, unknown>) => {
      const made = Result.try({
        try: () => Pipeline.make("p", { corpus: { displayName: "P" }, sources: {}, stages }),
        catch: (error) => error as PipelineInvalid
      })
      return Result.isFailure(made) ? made.failure.issues.map(({ path, rule }) => `${path} ${rule}`) : []
    }
    const found = (input: Question) => Effect.succeed({ ...input, contexts: [] })
    assert.deepStrictEqual(problemsOf(compose(found, retrieve({ topK: 0 }) as never, generate())), [
      "stages[1].retrieve.topK must be a whole number, 1 or more"
    ])
    assert.deepStrictEqual(problemsOf(compose(retrieve(), two, rank(), generate(), rank() as never)), [
      "stages[4] rank cannot come after generate, which is last"
    ])
    assert.deepStrictEqual(problemsOf(generate() as never), ["stages[0] generate needs a retrieve stage before it"])
    // Its model searches by itself.
    assert.deepStrictEqual(problemsOf(generateFromCorpus({ model: "gemini-2.0-flash" })), [])
  })
})

describe("the order of stages", () => {
  it("that makes no sense does not compile", () => {
    // @ts-expect-error Answers come of contexts.
    compose(generate(), retrieve())
    // @ts-expect-error It is answered.
    compose(retrieve(), generate(), retrieve())
    // @ts-expect-error It is answered, from the contexts in their order.
    compose(retrieve(), generate(), rank())
    // @ts-expect-error It was retrieved.
    compose(retrieve(), retrieve())
  })

  it("takes stages of one's own, whose types are found, and goes back where they take away what was found", () => {
    const asked = (question: Question) => Effect.succeed({ ...question, query: question.question })
    const counted = compose(asked, retrieve(), (input) => Effect.succeed({ ...input, count: input.contexts.length }), rank(), generate())
    expectTypeOf(counted).toExtend<Stage<Question, Answered, unknown, unknown>>()
    const again = compose(
      retrieve(),
      ({ contexts, ...question }) => Effect.succeed({ ...question, query: contexts[0]?.text ?? "" }),
      retrieve()
    )
    expectTypeOf(again).toExtend<Stage<Question, Retrieved, unknown, unknown>>()
    const scored = compose(retrieve(), two, generate(), (answered) => Effect.succeed({ ...answered, score: answered.answer.text.length }))
    expectTypeOf<Effect.Success<ReturnType<typeof scored>>>().toExtend<Answered & { readonly score: number }>()
  })
})

describe("a batch", () => {
  it.live("takes questions that a program has, each with its id", () =>
    inCorpus((parts) =>
      Effect.gen(function*() {
        const p = Pipeline.make("p", parts)
        const asked = Stream.make({ customId: "1", question: "Do unused days of leave carry over?" }, {
          customId: "2",
          question: "Who is it?"
        })
        const answers = yield* Stream.runCollect(p.batch(asked))
        assert.deepStrictEqual(answers.map(({ answer, customId }) => [customId, answer?.grounded]), [["1", true], ["2", false]])
        assert.isTrue(answers.every((answered) => !("carried" in answered)))
      })
    ))
})

describe("a custom stage that fails", () => {
  class Odd extends Data.TaggedError("Odd") {}
  class NoTable extends Error {}
  const failing: Stage<Retrieved, Retrieved, Odd | NoTable | string> = (input) =>
    input.question.startsWith("Odd")
      ? Effect.fail(new Odd())
      : input.question.startsWith("Plain")
      // @effect-diagnostics-next-line globalErrorInEffectFailure:off
      ? Effect.fail(new NoTable("no such table"))
      : input.question.startsWith("Text")
      ? Effect.fail("just text")
      : Effect.succeed(input)
  const questions = ["Odd?", "Plain?", "Text?", "Do unused days of leave carry over?"]

  it.live("costs its question, in a batch and in an evaluation, which says how it failed", () =>
    inCorpus((parts) =>
      Effect.gen(function*() {
        const p = Pipeline.make("p", { ...parts, stages: compose(retrieve(), failing, generate()) })
        const answers = yield* Stream.runCollect(
          p.batch(Stream.fromIterable(questions.map((question) => ({ customId: question, question }))))
        )
        assert.deepStrictEqual(
          answers.map(({ answer, error }) => error === undefined ? answer?.grounded : `${error.code} ${error.message}`),
          [
            "UNKNOWN Odd",
            "UNKNOWN no such table",
            "UNKNOWN just text",
            true
          ]
        )
        const { results } = yield* p.evaluate({ tests: questions.map((question) => ({ question, answer: { contains: ["carry"] } })) })
        assert.deepStrictEqual(results.map(({ error }) => error === undefined ? undefined : `${error.code} ${error.message}`), [
          "Odd Odd",
          "UNKNOWN no such table",
          "UNKNOWN just text",
          undefined
        ])
      })
    ))
})

describe("the files of a question", () => {
  it.live("are named by ids, and a path is told how else to narrow by it", () =>
    inCorpus((parts) =>
      Effect.gen(function*() {
        const p = Pipeline.make("p", parts)
        const { contexts: [first] } = yield* p.retrieve("leave")
        const id = first?.file.split("/").at(-1) ?? ""
        for (const file of [id, first?.file ?? ""]) {
          assert.deepStrictEqual((yield* p.retrieve("leave", { files: [file] })).contexts.map(({ file }) => file), [first?.file])
        }
        for (const file of ["people/leave-policy.md", "open-a.md"]) {
          const error = yield* Effect.flip(p.retrieve("leave", { files: [file] }))
          assert.strictEqual(error._tag === "ServiceError" && error.code, "INVALID_ARGUMENT")
          assert.match("fix" in error ? error.fix ?? "" : "", /^take ids from sluice files list; to narrow by path, /)
        }
      })
    ))
})
