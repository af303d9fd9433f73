import { Effect, FileSystem, Option, Path } from "effect"
import { Command, Flag } from "effect/cli"
import { ExitCode, ServiceError } from "../../domain/Errors.ts"
import type { Comparison, MeasureChange } from "../../pipeline/eval/Comparison.ts"
import type { Evaluation } from "../../pipeline/eval/Evaluation.ts"
import { exitWith } from "../Exit.ts"
import { optionalText, topKFlag } from "../Flags.ts"
import { Output } from "../Output.ts"
import { fromHere } from "../Paths.ts"
import { count, plural } from "../render/Numbers.ts"
import { given, root } from "../Root.ts"
import { onEngine, openPipeline, pipelineArgument, reading } from "../Session.ts"
import type { LoadedPipeline } from "../../pipeline/definition/Load.ts"
import { notTogether, UsageError } from "../UsageError.ts"

const file = (name: string, description: string) =>
  Flag.Path(name).pipe(Flag.map(fromHere), Flag.withDescription(description), Flag.withMetavar("FILE"), Flag.optional)

/** `sluice eval`: runs a pipeline's tests and compares the results with what they expect. */
export const evaluate = Command.make(
  "eval",
  {
    pipeline: pipelineArgument,
    tests: file("tests", "Ask the tests of this file (YAML, JSON, JSON lines or CSV) instead of the pipeline's"),
    topK: topKFlag("Number of contexts, instead of the pipeline's"),
    save: Flag.Boolean("save").pipe(Flag.withDescription("Save the result in the data directory, for --against"), Flag.withDefault(false)),
    against: optionalText("against", "RESULT", "Compare with an earlier result: `last`, the newest that was saved, or a file of --json"),
    compare: Flag.Path("compare").pipe(
      Flag.map(fromHere),
      Flag.withDescription("Run the same tests on this pipeline too, and compare the two. It must have been run"),
      Flag.withMetavar("PIPELINE"),
      Flag.optional
    ),
    candidate: Flag.Boolean("candidate").pipe(
      Flag.withDescription("Run the tests on the candidate as well as on the live corpus, and compare the two"),
      Flag.withDefault(false)
    ),
    judge: Flag.Boolean("judge").pipe(
      Flag.withDescription("Have the pipeline's `judge` judge the answers. --no-judge leaves it out"),
      Flag.withDefault(true)
    ),
    tolerance: Flag.Finite("tolerance").pipe(
      Flag.filter((share) => share >= 0 && share <= 1, () => "Expected a number from 0 to 1"),
      Flag.withDescription("With --against and --candidate: how much a measure may drop. Default 0.02"),
      Flag.withMetavar("0..1"),
      Flag.withDefault(0.02)
    ),
    junit: file("junit", "Write the result as JUnit's XML too"),
    markdown: file("markdown", "Write the result as Markdown too, for a pull request")
  },
  Effect.fn(function*(args) {
    const { dataDir, json } = yield* root
    const output = yield* Output
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const loaded = yield* openPipeline(args.pipeline)
    const [
      { evaluatePipeline },
      { compare, dropped },
      { onlyJudged },
      { readTests },
      store,
      { evaluationJUnit, evaluationMarkdown, recommendation, renderComparison, renderEvaluation },
      { GenerationInUse }
    ] = yield* Effect.promise(() =>
      Promise.all([
        import("../../pipeline/eval/Evaluation.ts"),
        import("../../pipeline/eval/Comparison.ts"),
        import("../../pipeline/eval/Judging.ts"),
        import("../../pipeline/eval/TestFile.ts"),
        import("../../pipeline/eval/SavedEvaluations.ts"),
        import("../render/Evaluation.ts"),
        import("../../pipeline/sync/Generations.ts")
      ])
    )
    const named = given(args.tests)
    const tests = named === undefined ? loaded.pipeline.tests : yield* readTests(named)
    const saved = store.savedEvaluations(path.join(dataDir, "evaluations", loaded.pipeline.name))
    // Read before the questions are asked: a result that cannot be read must not cost them.
    const against = given(args.against)
    const before = against === undefined
      ? undefined
      : against === "last"
      ? yield* saved.last
      : yield* store.readEvaluation(fromHere(against))
    yield* notTogether({ "--against": against !== undefined, "--compare": Option.isSome(args.compare), "--candidate": args.candidate })
    if (args.candidate && args.save) {
      return yield* new UsageError({
        message: "--save is for results of the live corpus, and cannot be used with --candidate",
        fix: "save it once it is promoted: sluice eval --save"
      })
    }
    if (against !== undefined && before === undefined) {
      if (!args.save) return yield* new UsageError({ message: "no result was saved yet", fix: "save one first: sluice eval --save" })
      yield* output.say("no result was saved yet: this is the first one, and there is nothing to compare it with")
    }
    if (args.save) yield* saved.writable
    const unjudged = args.judge ? 0 : onlyJudged(tests)
    if (unjudged > 0) yield* output.say(`without the judge ${plural(unjudged, "answer")} cannot be checked`)
    let asked = 0
    const topK = given(args.topK)
    const ofPipeline = (loaded: LoadedPipeline, generation: "live" | "candidate" = "live") =>
      onEngine(
        loaded,
        reading,
        Effect.provideService(
          evaluatePipeline(loaded.pipeline, {
            tests,
            overrides: { topK },
            judge: args.judge,
            documents: Object.keys(before?.documents ?? {}),
            observe: () =>
              Effect.suspend(() =>
                ++asked % 100 === 0 && asked < tests.length ? output.say(`${count(asked)} of ${count(tests.length)} asked`) : Effect.void
              )
          }),
          GenerationInUse,
          generation
        )
      )
    const write = (name: string | undefined, text: string) =>
      name === undefined
        ? Effect.void
        : Effect.mapError(fs.writeFileString(name, text), () =>
          new UsageError({ message: `${name} cannot be written`, fix: "check the folder and its permissions" }))
    /** Writes the result everywhere except to the screen. */
    const keep = (result: Evaluation, comparison?: Comparison, names?: { readonly before: string; readonly now: string }) =>
      Effect.all([
        write(given(args.junit), evaluationJUnit(result)),
        write(given(args.markdown), evaluationMarkdown(result, comparison, names)),
        args.save ? saved.save(result) : Effect.void
      ], { discard: true })
    const sayWorse = (worse: ReadonlyArray<MeasureChange>) =>
      worse.length === 0
        ? Effect.void
        : output.say(`dropped by more than ${args.tolerance}: ${worse.map(({ measure }) => measure).join(", ")}`)
    const beside = Option.isNone(args.compare) ? undefined : yield* openPipeline(args.compare)
    if (args.candidate) {
      // Before the first promotion there may be no live corpus.
      const live = yield* ofPipeline(loaded).pipe(
        Effect.catchIf((error) => error instanceof ServiceError && error.code === "NOT_FOUND", () => Effect.undefined)
      )
      asked = 0
      const result = yield* ofPipeline(loaded, "candidate")
      const comparison = live === undefined ? undefined : compare(live, result)
      const names = { before: "live", now: "candidate" }
      const worse = comparison === undefined ? [] : dropped(comparison, args.tolerance)
      yield* keep(result, comparison, names)
      if (json) yield* output.json({ ...result, type: "evaluation", generation: "candidate", live, comparison })
      else {
        yield* output.print(renderEvaluation(result, output))
        if (comparison !== undefined) {
          const heading = "The candidate compared with the live corpus:"
          yield* output.print(
            `\n${renderComparison(comparison, output, { heading, ...names })}\n\n${
              recommendation(comparison, "the live corpus", "the candidate")
            }`
          )
        }
        yield* sayWorse(worse)
      }
      return yield* exitWith(result.failed > 0 || worse.length > 0 ? ExitCode.error : ExitCode.done)
    }
    const result = yield* ofPipeline(loaded)
    if (beside !== undefined) {
      const comparison = compare(result, yield* ofPipeline(beside))
      const [mine, theirs] = [fromHere(loaded.file), fromHere(beside.file)]
      yield* keep(result, comparison, { before: mine, now: theirs })
      if (json) return yield* output.json({ version: 1, type: "comparison", pipelines: [mine, theirs], ...comparison })
      yield* output.print(
        `${renderComparison(comparison, output, { heading: `${theirs} beside ${mine}:`, before: mine, now: theirs })}\n\n${
          recommendation(comparison, mine, theirs)
        }`
      )
      return
    }
    const comparison = before === undefined ? undefined : compare(before, result)
    const worse = comparison === undefined ? [] : dropped(comparison, args.tolerance)
    yield* keep(result, comparison)
    if (json) yield* output.json({ ...result, type: "evaluation", comparison })
    else {
      yield* output.print(renderEvaluation(result, output))
      if (comparison !== undefined) yield* output.print(`\n${renderComparison(comparison, output)}`)
      yield* sayWorse(worse)
    }
    return yield* exitWith(result.failed > 0 || worse.length > 0 ? ExitCode.error : ExitCode.done)
  })
).pipe(
  Command.withShortDescription("Test the corpus: ask questions, and compare the results with what is expected."),
  Command.withDescription(
    "Ask the questions under `tests` of the pipeline, or of a file, and compare files, contexts, answers, citations and refusals with what they expect. Prints failures with what was found instead, and each measure with its confidence interval. Exits 1 when a test failed, or when a measure dropped by more than the tolerance relative to the compared result."
  ),
  Command.withExamples([
    { command: "sluice eval pipeline.yaml", description: "the pipeline's own tests" },
    { command: "sluice eval --tests questions.jsonl --junit report.xml", description: "tests of a file, for a CI server" },
    { command: "sluice eval --save --against last", description: "changes since the last result, and whether they are significant" },
    { command: "sluice eval --candidate", description: "compare the candidate with the live corpus, before it is promoted" },
    { command: "sluice eval pipeline.yaml --compare other.yaml", description: "two pipelines on the same questions" }
  ])
)
