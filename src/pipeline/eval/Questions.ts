import { createHash } from "node:crypto"
import { Effect, Stream } from "effect"
import { defined } from "../../domain/Defined.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { RagFile } from "../../domain/RagFile.ts"
import type { Passage } from "../../ports/Drafter.ts"
import { Files } from "../../ports/Files.ts"
import { pages } from "../../ports/Paging.ts"
import { answerStages, askPipeline, generateStage, retrieveFrom } from "../AskPipeline.ts"
import { corpusOf } from "../RunPipeline.ts"
import type { Definition } from "../definition/Definition.ts"
import type { GeneratorSettings } from "../definition/StageSettings.ts"
import type { EvaluationTest } from "../definition/TestSettings.ts"
import { ExtensionsInUse } from "../Extensions.ts"
import { Models } from "../Services.ts"

/** A question, and the words of a document that answer it. */
export interface Draft {
  readonly question: string
  readonly span: string
}

/** Why a draft was rejected. */
export type Rejection =
  /** The same question was drafted from another passage: it has no single answer. */
  | "ambiguous"
  /** A model drafted it, and the passage does not contain the words that should answer it. */
  | "invented"
  /** The file is not found. */
  | "not found"
  /** The file is found, but none of its contexts has the span. */
  | "other passage"
  | "refused"
  /** The answer cites other words. */
  | "other words"
  /** The question could not be answered. */
  | "failed"

/** What the model that drafted did. */
export interface Drafting {
  readonly model: string
  /** Passages it was given. */
  readonly passages: number
  /** Passages for which it failed. */
  readonly failed: number
  /** Tokens of the calls that reported them; `untold` counts the calls that did not. */
  readonly tokens: { readonly input: number; readonly output: number; readonly untold: number }
}

/** Result of drafting questions of a corpus. */
export interface Drafted {
  readonly tests: ReadonlyArray<EvaluationTest>
  readonly drafts: number
  readonly rejected: Readonly<Record<Rejection, number>>
  /** Files read. */
  readonly files: number
  /** What the model did; absent where no model drafted. */
  readonly drafting?: Drafting
  /** Why it stopped early: the error that kept occurring. */
  readonly stopped?: string
}

/** Options of drafting questions. */
export interface DraftOptions {
  /** Number of tests to make. Default 20. */
  readonly count?: number
  /**
   * Seed of the selection: another seed selects other questions of the same corpus; the same seed the same ones, where no
   * model drafts. Default 1.
   */
  readonly seed?: number
  /** Restricts files to the source of this name, or to this folder. Default: all files. */
  readonly from?: string
  /** Whether the pipeline's answering model drafts, where there is one. Default true. */
  readonly model?: boolean
}

const defaultCount = 20
/** Files examined per requested test: most have no definition, and most drafts are rejected. */
const filesPerTest = 10
/** Chunks examined per file, and tests made of it, at most. */
const chunksPerFile = 50
const testsPerFile = 3
/** Tests per file whose question is words without a question mark, such as a heading, at most. */
const keywordsPerFile = 1
/** Chunks per file that a model is given, each in one call, and questions that it may draft of each, at most. */
const passagesPerFile = 4
const draftsPerPassage = 2
/** Files processed concurrently. */
const concurrency = 4
/** Failures in a row after which nothing more is asked: each has had all of its retries. */
const mostFailures = 5

/**
 * Drafts tests of a pipeline's corpus: with the pipeline's answering model, or by the forms of sentences and headings where
 * there is none. Each question is asked, and kept only if its file is found, a context has its span, and the answer cites it
 * there; a pipeline without a generate stage is only searched. Files and passages are selected by `seed` and their
 * content, so that without a model the same corpus gives the same tests whatever its history. `UNIMPLEMENTED` where the
 * engine does not return texts.
 */
export const draftQuestions = Effect.fn("draftQuestions")(function*(
  pipeline: Definition,
  { count = defaultCount, from, model = true, seed = 1 }: DraftOptions = {}
) {
  const files = yield* Files
  const { name: corpus } = yield* corpusOf(pipeline)
  const answers = answerStages(pipeline, yield* ExtensionsInUse) !== undefined
  const order = (text: string) => createHash("sha256").update(`${seed} ${text}`).digest("hex")
  const chosen = yield* pages((page) => files.list(corpus, page)).pipe(
    Stream.filter((file) => from === undefined || isFrom(pipeline.name, from, file)),
    Stream.runFold(() => new Lowest<RagFile>(count * filesPerTest), (lowest, file) => lowest.add(order(file.displayName), file))
  )
  if (from !== undefined && chosen.values.length === 0) {
    return yield* ServiceError.notFound(`a file from ${from}`, "name a source of the pipeline, or a folder that holds files of the corpus")
  }
  const trying = new Trying()
  const drafter = yield* drafterOf(pipeline, model, trying)

  /** The drafts of one file with their outcomes, in order. */
  const ofFile = Effect.fnUntraced(function*(file: RagFile) {
    const { items } = yield* files.chunks(file.name, { size: chunksPerFile })
    const outcomes: Array<{ readonly question: string; readonly problem?: Rejection; readonly test: EvaluationTest }> = []
    const made = () => outcomes.filter(({ problem }) => problem === undefined).length
    // The order of passages is random too: a document does not start with what is worth asking.
    const passages = items.toSorted((a, b) => order(a.text) < order(b.text) ? -1 : 1)
    for (
      const chunk of drafter.isModel
        ? passages.filter(({ text }) => text.length >= shortestPassage).slice(0, passagesPerFile)
        : passages
    ) {
      if (made() >= testsPerFile || trying.stopped !== undefined) break
      for (const { question, span } of yield* drafter.draft(chunk)) {
        if (made() >= testsPerFile) break
        if (!asks(question) && outcomes.filter((other) => !asks(other.question)).length >= keywordsPerFile) continue
        const isKnown = outcomes.some((other) => isSame(other.question, question))
        const problem = isKnown ? "ambiguous" : !plain(chunk.text).includes(plain(span)) || span.length < shortestQuoted
          ? "invented"
          : yield* trying.once(verify(pipeline, { question, span, file, answers }), () => "failed" as const)
        const path = file.displayName
        outcomes.push({ question, problem, test: { question, files: [path], contexts: [span], ...(answers ? { cites: [path] } : {}) } })
      }
    }
    return outcomes
  })

  const rejected: Record<Rejection, number> = {
    ambiguous: 0,
    invented: 0,
    "not found": 0,
    "other passage": 0,
    refused: 0,
    "other words": 0,
    failed: 0
  }
  const tests: Array<EvaluationTest> = []
  const asked = new Set<string>()
  let [drafts, read] = [0, 0]
  yield* Stream.fromIterable(chosen.values).pipe(
    Stream.mapEffect(ofFile, { concurrency }),
    Stream.takeUntil((outcomes) => {
      read += 1
      for (const { problem, question, test } of outcomes) {
        if (tests.length >= count) break
        drafts += 1
        const known = question.toLowerCase()
        const why = asked.has(known) ? "ambiguous" : problem
        asked.add(known)
        if (why === undefined) tests.push(test)
        else rejected[why] += 1
      }
      return tests.length >= count
    }),
    Stream.runDrain
  )
  const drafted: Drafted = { tests, drafts, rejected, files: read, drafting: drafter.drafting(), stopped: trying.stopped }
  return defined(drafted)
}, Effect.scoped)

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

const asks = (question: string): boolean => /[?？؟]$/.test(question)

/** Counts failures in a row. */
class Trying {
  /** Message of the last failure, once there are too many. */
  stopped: string | undefined
  #failures = 0

  /** Runs an effect, and returns `failed()` where it fails. */
  once<A, B, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>, failed: () => B): Effect.Effect<A | B, never, R> {
    return effect.pipe(
      Effect.tap(() => Effect.sync(() => void (this.#failures = 0))),
      Effect.catch((error) =>
        Effect.sync(() => {
          if (++this.#failures >= mostFailures) this.stopped = error.message
          return failed()
        })
      )
    )
  }
}

/** Drafts with the pipeline's answering model where it has one that may be used, else by the forms of sentences and headings. */
const drafterOf = Effect.fnUntraced(function*(pipeline: Definition, mayUseModel: boolean, trying: Trying) {
  const extractive: GeneratorSettings = { _tag: "extractive" }
  const settings = mayUseModel
    ? yield* generateStage(pipeline).pipe(Effect.map(({ model }) => model), Effect.orElseSucceed(() => extractive))
    : extractive
  const isModel = settings._tag !== "extractive"
  const drafter = yield* (yield* Models).drafter(settings)
  let [passages, failed, input, output, untold] = [0, 0, 0, 0, 0]
  return {
    isModel,
    draft: Effect.fnUntraced(function*(passage: Passage) {
      passages += 1
      const drafted = yield* trying.once(drafter.draft(passage, isModel ? draftsPerPassage : Infinity), () => undefined)
      if (drafted === undefined) {
        failed += 1
        return []
      }
      if (drafted.usage === undefined) untold += 1
      input += drafted.usage?.inputTokens ?? 0
      output += drafted.usage?.outputTokens ?? 0
      return drafted.drafts
    }),
    drafting: (): Drafting | undefined =>
      isModel ? { model: drafter.model, passages, failed, tokens: { input, output, untold } } : undefined
  }
})

/** Whether a file is of a source, or in a folder. */
const isFrom = (pipeline: string, from: string, { displayName, marker, sourceUri }: RagFile): boolean => {
  const folder = from.replace(/^\.\//, "").replace(/\/+$/, "")
  return marker?.source === `${pipeline}/${from}` || displayName.startsWith(`${folder}/`) ||
    (URL.parse(sourceUri, "sluice:///")?.pathname.includes(`/${encodeURI(folder.replace(/^\//, ""))}/`) ?? false)
}

/** The values with the lowest keys, in their order; keeps at most `most`. */
class Lowest<A> {
  readonly #most: number
  #kept: Array<readonly [key: string, value: A]> = []

  constructor(most: number) {
    this.#most = most
  }

  add(key: string, value: A): this {
    this.#kept.push([key, value])
    if (this.#kept.length >= 2 * this.#most) this.#cut()
    return this
  }

  get values(): ReadonlyArray<A> {
    this.#cut()
    return this.#kept.map(([, value]) => value)
  }

  #cut(): void {
    this.#kept = this.#kept.toSorted(([a], [b]) => a < b ? -1 : 1).slice(0, this.#most)
  }
}

interface Verified extends Draft {
  readonly file: RagFile
  readonly answers: boolean
}

/** Why the corpus does not answer a question from the passage it was drafted from; undefined where it does. */
const verify = Effect.fnUntraced(function*(pipeline: Definition, { answers, file, question, span }: Verified) {
  const { answer, contexts } = answers
    ? yield* askPipeline(pipeline, { question })
    : { answer: undefined, ...(yield* retrieveFrom(pipeline, { question })) }
  const own = contexts.filter((context) => context.file === file.name)
  const wanted = plain(span)
  if (own.length === 0) return "not found"
  if (!own.some(({ text }) => plain(text).includes(wanted))) return "other passage"
  if (answer === undefined) return undefined
  if (!answer.grounded || answer.citations.length === 0) return "refused"
  const cited = answer.citations.some((citation) => {
    const quote = plain(citation.quote)
    return citation.file === file.name && quote !== "" && (quote.includes(wanted) || wanted.includes(quote))
  })
  return cited ? undefined : "other words"
})

const plain = (text: string): string => text.replace(/\s+/g, " ").trim()

/** Length of a passage, in UTF-16 units, below which a model is not asked: it says too little. */
const shortestPassage = 25
/** Least length of a quote, in UTF-16 units: shorter ones occur anywhere. */
const shortestQuoted = 10
