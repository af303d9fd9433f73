import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { largestTopK } from "../../domain/Retrieval.ts"
import { measures } from "../../pipeline/eval/Measures.ts"
import { Output } from "../Output.ts"
import { fromHere } from "../Paths.ts"
import { given, root } from "../Root.ts"
import { onEngine, openPipeline, pipelineArgument } from "../Session.ts"
import { UsageError } from "../UsageError.ts"

/** A flag of comma-separated values. */
const list = <A>(name: string, description: string, read: (text: string) => A | undefined, expected: string) =>
  Flag.String(name).pipe(
    Flag.map((text) => text.split(",").map((part) => read(part.trim()))),
    Flag.filter((values) => values.length > 0 && !values.includes(undefined), () => `Expected ${expected}, with commas between them`),
    Flag.map((values) => values.flatMap((value) => value === undefined ? [] : [value])),
    Flag.withDescription(description),
    Flag.withMetavar("VALUES"),
    Flag.optional
  )

const whole = (least: number, most = Number.MAX_SAFE_INTEGER) => (text: string): number | undefined =>
  /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined

/** `sluice tune`: tries settings on the pipeline's tests, and shows which are significantly better. */
export const tune = Command.make(
  "tune",
  {
    pipeline: pipelineArgument,
    tests: Flag.Path("tests").pipe(
      Flag.map(fromHere),
      Flag.withDescription("Use the tests of this file (YAML, JSON, JSON lines or CSV) instead of the pipeline's"),
      Flag.withMetavar("FILE"),
      Flag.optional
    ),
    topK: list("top-k", "How many contexts, such as 8,20", whole(1, largestTopK), `whole numbers from 1 to ${largestTopK}`),
    alpha: list(
      "alpha",
      "Weight of meaning against words, such as 0,0.25,0.5",
      (text) => text !== "" && Number(text) >= 0 && Number(text) <= 1 ? Number(text) : undefined,
      "numbers from 0 to 1"
    ),
    rank: list(
      "rank",
      "none and lexical, the offline ranker",
      (text) => text === "none" || text === "lexical" ? text : undefined,
      "none or lexical"
    ),
    size: list(
      "chunk-size",
      "Chunk sizes in tokens, such as 200,400. A corpus is built for each while it is tried",
      whole(1),
      "whole numbers from 1"
    ),
    overlap: list("chunk-overlap", "Tokens that a chunk shares with the last, such as 0,80", whole(0), "whole numbers from 0"),
    embedder: Flag.String("embedder").pipe(
      Flag.withDescription(
        "An embedder, for which a corpus is built: default, a model's folder or name on the hub, or settings as under corpus.embedding, such as '{ openai: { url: ..., model: ..., dimensions: 768 } }'. May be repeated"
      ),
      Flag.withMetavar("MODEL"),
      Flag.atLeast(0),
      Flag.withDefault([])
    ),
    measure: Flag.Literals("measure", measures).pipe(
      Flag.withDescription("The measure to improve. Default: nDCG@10, if the tests name files"),
      Flag.optional
    )
  },
  Effect.fn(function*({ measure, pipeline, tests: file, ...flags }) {
    const { json } = yield* root
    const output = yield* Output
    const grid = {
      topK: given(flags.topK),
      alpha: given(flags.alpha),
      rank: given(flags.rank),
      size: given(flags.size),
      overlap: given(flags.overlap)
    }
    if (flags.embedder.length === 0 && Object.values(grid).every((values) => values === undefined)) {
      return yield* new UsageError({ message: "there is nothing to try", fix: "give values: sluice tune --alpha 0,0.25,0.5 --top-k 8,20" })
    }
    const loaded = yield* openPipeline(pipeline)
    const [{ tunePipeline }, { readTests }, { readEmbeddings }, { PipelineInvalid }, { issueOf }, { renderTuning, settingText }] =
      yield* Effect
        .promise(() =>
          Promise.all([
            import("../../pipeline/eval/Tuning.ts"),
            import("../../pipeline/eval/TestFile.ts"),
            import("../../pipeline/eval/EmbeddingText.ts"),
            import("../../pipeline/definition/PipelineInvalid.ts"),
            import("../../pipeline/definition/Place.ts"),
            import("../render/Evaluation.ts")
          ])
        )
    const tests = Option.isNone(file) ? loaded.pipeline.tests : yield* readTests(file.value)
    const embedder = yield* Effect.fromResult(readEmbeddings("--embedder", flags.embedder, loaded.pipeline.engine._tag))
    // The live corpus is compared with the settings, even if the file describes a candidate.
    const live = yield* onEngine(loaded, { mode: "read", of: "live" }, (definition) => Effect.succeed(definition))
    const tuning = yield* tunePipeline(live, {
      tests,
      grid: { ...grid, embedder: embedder.length === 0 ? undefined : embedder },
      measure: given(measure),
      session: (pipeline, access, part) =>
        onEngine(
          pipeline === live ? { ...loaded, pipeline } : {
            ...loaded,
            pipeline,
            // The problem is not in the file.
            invalid: (problems) =>
              new PipelineInvalid({
                file: "--embedder",
                kind: "embedder",
                issues: problems.map((problem) => issueOf("--embedder", problem))
              })
          },
          access,
          part
        ),
      observe: (setting, at, of) => output.say(`${at} of ${of}: ${settingText(setting)}`)
    })
    yield* json ? output.json({ type: "tuning", ...tuning }) : output.print(renderTuning(tuning, output))
  })
).pipe(
  Command.withShortDescription("Try settings on the pipeline's tests."),
  Command.withDescription(
    "Try all combinations of settings of retrieval, chunking and embedding on the pipeline's tests. Prints the difference of each to the current pipeline, and recommends one only if it is significantly better. Corpora with other chunks and embedders are built beside the pipeline's and deleted at the end; each embedder embeds a text only once."
  ),
  Command.withExamples([
    { command: "sluice tune --alpha 0,0.25,0.5 --top-k 8,20", description: "settings of retrieval, on the current corpus" },
    { command: "sluice tune --chunk-size 200,400,800 --chunk-overlap 0,80", description: "other chunks, in corpora built beside it" },
    { command: "sluice tune --embedder default --embedder ./all-MiniLM-L6-v2 --alpha 0.25,0.5", description: "other embedders" }
  ])
)
