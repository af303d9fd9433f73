import { Effect, Layer } from "effect"
import { tmpdir } from "node:os"
import { CorpusName } from "../domain/Corpus.ts"
import type { FileChunk } from "../domain/Document.ts"
import { ServiceError } from "../domain/Errors.ts"
import { RagFileName } from "../domain/RagFile.ts"
import type { Context, RetrievalRequest } from "../domain/Retrieval.ts"
import { Models } from "../pipeline/Services.ts"
import { CorpusInUse } from "../pipeline/stages/Retrieve.ts"
import type { ChatModel } from "../ports/ChatModel.ts"
import { Files } from "../ports/Files.ts"
import { QueryRewriter } from "../ports/QueryRewriter.ts"
import { Retrieval } from "../ports/Retrieval.ts"
import { TextPool } from "../text/TextPool.ts"
import { localRankers } from "./LocalModels.ts"
import { conversing } from "./Models.ts"

/** A context of a test: its text, and of the rest what the test is about. */
export interface TestContext extends Partial<Omit<Context, "file" | "text">> {
  readonly text: string
  /** The file's name, such as `leave.md`. Default `document.md`. */
  readonly file?: string
}

const testCorpus = CorpusName.make("projects/test/locations/test/ragCorpora/1")

const fileNamed = (name: string): RagFileName => RagFileName.make(`${testCorpus}/ragFiles/${encodeURIComponent(name)}`)

/**
 * Contexts as retrieval gives them, best first: `testContexts([{ text: "Five days carry over.", file: "leave.md" }])`. What
 * is not given is made up: ids from `1` on, scores of 1, 1/2, 1/3 and so on, no headings, the address `memory:///leave.md`.
 */
export const testContexts = (contexts: ReadonlyArray<TestContext>): ReadonlyArray<Context> =>
  contexts.map(({ file = "document.md", ...given }, at) => ({
    chunkId: String(at + 1),
    sourceUri: `memory:///${encodeURI(file)}`,
    sourceDisplayName: file,
    headings: [],
    score: 1 / (at + 1),
    ...given,
    file: fileNamed(file)
  }))

/** What stages of a test are given in the place of an engine. */
export interface TestServicesOptions {
  /**
   * What every retrieval finds, best first, as many as it asks for; or a function of what is asked. A context whose text is
   * one of `chunks` of its file has that chunk's place, headings and bytes.
   */
  readonly contexts?: ReadonlyArray<TestContext> | ((request: RetrievalRequest) => ReadonlyArray<TestContext>)
  /** The chunks of files, by the file's name, for `expand`: their texts in order, or with the headings above them. */
  readonly chunks?: Readonly<Record<string, ReadonlyArray<string | { readonly text: string; readonly headings?: ReadonlyArray<string> }>>>
  /** The model that every stage calls which names one: `scriptedModel([...])`. Default: none, and only `extractive` answers. */
  readonly model?: { readonly chat: ChatModel["Service"] }
}

/**
 * All that a pipeline provides to its stages, and what `condense` needs, without an engine: a stage is run as the function
 * that it is.
 *
 * @example
 * ```ts
 * const stage = compose(retrieve(), onePerFile, generateBy(scriptedModel(["Five days [1: \"Five days carry over.\"]."]).generator))
 * const { answer } = yield* stage({ question: "How many days carry over?" }).pipe(
 *   Effect.provide(testServices({ contexts: [{ text: "Five days carry over.", file: "leave.md" }] }))
 * )
 * ```
 */
export const testServices = (
  { chunks = {}, contexts = [], model }: TestServicesOptions = {}
): Layer.Layer<Retrieval | Files | Models | CorpusInUse | QueryRewriter | TextPool> => {
  const chunksByFile = new Map(Object.entries(chunks).map(([name, texts]) => [fileNamed(name), chunksOfTexts(texts)]))
  const placed = (context: Context): Context => {
    const chunk = chunksByFile.get(context.file)?.find(({ text }) => text === context.text)
    if (chunk === undefined) return context
    const { byteEnd, byteStart, headings, ordinal } = chunk
    return { byteStart, byteEnd, ordinal, ...context, headings: context.headings.length === 0 ? headings : context.headings }
  }
  const noEngine = (what: string) => () => Effect.fail(new ServiceError({ code: "UNIMPLEMENTED", message: `testServices cannot ${what}` }))
  const models = Layer.effect(
    Models,
    Effect.map(localRankers(tmpdir()), (rankers) =>
      Models.of({
        ...conversing(() =>
          model === undefined
            ? Effect.fail(
              new ServiceError({
                code: "UNIMPLEMENTED",
                message: "testServices has no model",
                fix: "give it one: testServices({ model: scriptedModel([...]) })"
              })
            )
            : Effect.succeed(model.chat)
        ),
        searching: noEngine("search a corpus by a model"),
        ranker: rankers.of
      }))
  )
  const rewriter = Layer.effect(
    QueryRewriter,
    Effect.flatMap(Models, ({ rewriter }) => rewriter(model === undefined ? { _tag: "extractive" } : { _tag: "hosted", model: "test" }))
  ).pipe(Layer.orDie)
  return Layer.mergeAll(
    Layer.succeed(CorpusInUse, testCorpus),
    Layer.succeed(Retrieval, {
      retrieve: (request) =>
        Effect.sync(() => {
          const found = testContexts(typeof contexts === "function" ? contexts(request) : contexts).map(placed)
          return found.filter(({ file }) => request.files?.includes(file) ?? true).slice(0, request.topK ?? 10)
        })
    }),
    Layer.succeed(Files, {
      chunks: (name) =>
        Effect.suspend(() => {
          const items = chunksByFile.get(name)
          return items === undefined ? Effect.fail(ServiceError.notFound(name)) : Effect.succeed({ items })
        }),
      upload: noEngine("upload files"),
      import: noEngine("import files"),
      get: noEngine("tell of a file"),
      list: noEngine("list files"),
      update: noEngine("change files"),
      delete: noEngine("delete files")
    }),
    TextPool.layerInline(),
    Layer.provideMerge(rewriter, models)
  )
}

/** Chunks that follow one another, of texts. Their tokens are a quarter of their UTF-16 units. */
const chunksOfTexts = (texts: NonNullable<TestServicesOptions["chunks"]>[string]): ReadonlyArray<FileChunk> => {
  let byteEnd = 0
  return texts.map((given, ordinal) => {
    const { headings = [], text } = typeof given === "string" ? { text: given } : given
    const byteStart = byteEnd
    byteEnd += Buffer.byteLength(text)
    return { ordinal, text, headings, byteStart, byteEnd, tokens: Math.ceil(text.length / 4) }
  })
}
