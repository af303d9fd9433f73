import { Effect, FileSystem } from "effect"
import { Command, Flag } from "effect/cli"
import { optionalInt, optionalText } from "../Flags.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { Output } from "../Output.ts"
import { fromHere } from "../Paths.ts"
import { count, plural } from "../render/Numbers.ts"
import { given, root } from "../Root.ts"
import { onEngine, openPipeline, pipelineArgument, reading } from "../Session.ts"
import { UsageError } from "../UsageError.ts"

/** `sluice questions`: drafts tests of a corpus, and keeps those that the corpus answers from the passage they were drafted from. */
export const questions = Command.make(
  "questions",
  {
    pipeline: pipelineArgument,
    from: optionalText("from", "SOURCE or FOLDER", "Only files of this source, or under this folder"),
    count: optionalInt("count", [1, 1_000], "N", "Tests wanted, 1 to 1000. Default 20"),
    seed: optionalInt("seed", [0, 1_000_000], "N", "Another one gives other tests of the same corpus. Default 1"),
    model: Flag.Boolean("model").pipe(
      Flag.withDescription("Draft with the pipeline's answering model. --no-model drafts from the forms of sentences and headings instead"),
      Flag.withDefault(true)
    ),
    out: Flag.Path("out").pipe(
      Flag.map(fromHere),
      Flag.withDescription("Write the tests to this file, as JSON lines or YAML by its name. Default: JSON lines on stdout"),
      Flag.withMetavar("FILE"),
      Flag.optional
    )
  },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const out = given(args.out)
    const yaml = out !== undefined && /\.ya?ml$/i.test(out)
    if (out !== undefined && !yaml && !/\.jsonl$/i.test(out)) {
      return yield* new UsageError({ message: `${out} is neither .jsonl nor .yaml`, fix: "call it questions.jsonl" })
    }
    const loaded = yield* openPipeline(args.pipeline)
    const [{ draftQuestions }, { writtenTests }] = yield* Effect.promise(() =>
      Promise.all([import("../../pipeline/eval/Questions.ts"), import("../../pipeline/eval/TestFile.ts")])
    )
    const drafted = yield* onEngine(
      loaded,
      reading,
      draftQuestions(loaded.pipeline, { count: given(args.count), seed: given(args.seed), from: given(args.from), model: args.model })
    )
    const { drafting, drafts, files, rejected, stopped, tests } = drafted
    const reasons = Object.entries(rejected).filter(([, count]) => count > 0)
    if (out !== undefined && tests.length > 0) {
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(out, writtenTests(tests, yaml ? "yaml" : "jsonl")).pipe(
        Effect.mapError(() => new UsageError({ message: `${out} cannot be written`, fix: "check the folder and its permissions" }))
      )
    }
    if (json) yield* output.json({ version: 1, type: "questions", ...drafted })
    else if (out === undefined && tests.length > 0) yield* output.print(writtenTests(tests, "jsonl").trimEnd())
    yield* output.say(
      `${plural(tests.length, "test")} of ${plural(files, "file")}; ${drafts - tests.length} of ${plural(drafts, "draft")} rejected${
        reasons.length === 0 ? "" : `: ${reasons.map(([reason, count]) => `${count} ${reason}`).join(", ")}`
      }`
    )
    if (drafting !== undefined) {
      const { failed, model, passages, tokens } = drafting
      yield* output.say(
        `${model} drafted from ${plural(passages, "passage")}${failed === 0 ? "" : `, and failed for ${failed} of them`}${
          tokens.untold === passages - failed
            ? ""
            : `; ${count(tokens.input)} tokens in, ${count(tokens.output)} out, without those of the checks`
        }`
      )
    }
    if (stopped !== undefined) {
      return yield* new ServiceError({
        code: "UNAVAILABLE",
        message: `stopped after five failures in a row: ${stopped}`
      })
    }
    if (tests.length === 0) {
      return yield* new ServiceError({
        code: "FAILED_PRECONDITION",
        message: `no test could be drafted${out === undefined ? "" : `, and ${out} is not written`}`,
        fix: "draft from more documents, with another --seed, or with a model"
      })
    }
  })
).pipe(
  Command.withShortDescription("Draft tests from the corpus, and keep those that it answers."),
  Command.withDescription(
    "Draft tests for `sluice eval`, with the pipeline's answering model, or else from the forms of sentences and headings in the documents. Each question is asked, and kept only if its file is found, a context has the words it was drafted from, and the answer cites them. Without a model, the same corpus and --seed give the same tests."
  ),
  Command.withExamples([
    { command: "sluice questions > questions.jsonl", description: "20 tests of the corpus" },
    { command: "sluice questions --from docs --count 50 --out questions.yaml", description: "from one source or folder" },
    { command: "sluice eval --tests questions.jsonl", description: "run them, now and after each change" }
  ])
)
