import { randomUUID } from "node:crypto"
import { Clock, Effect, Stream } from "effect"
import type { Answer, Exchange } from "../domain/Answer.ts"
import { defined } from "../domain/Defined.ts"
import { ServiceError } from "../domain/Errors.ts"
import { percentDecoded } from "../domain/Percent.ts"
import { lastSegment } from "../domain/ResourceNames.ts"
import type { Limits } from "../mcp/KnowledgeBase.ts"
import { Generator } from "../ports/Generator.ts"
import { QueryRewriter } from "../ports/QueryRewriter.ts"
import { type ChatIdentity, type ChatProtocol, type CorpusChat, modelsToWire, modelToWire } from "../wire/CorpusChats.ts"
import { completions } from "../wire/openai/CorpusCompletions.ts"
import { responses } from "../wire/openai/CorpusResponses.ts"
import { messages } from "../wire/partner/CorpusMessages.ts"
import { breakingWith, json, type RawAnswer, refusing, take } from "./Call.ts"
import { awaitFirst } from "./http/AwaitFirst.ts"
import { knowledgeBases, searchAll, unable, withAllTokens } from "./KnowledgeBases.ts"

export interface CorpusChatOptions {
  /** Limits on what conversations may be answered from. Default: everything. */
  readonly limits?: Limits
  /** Display names or ids of corpora, by further model names that they answer under. */
  readonly models?: Readonly<Record<string, string>>
  /** Counts tokens of the question, the passages and the answer, where the generator reports none. */
  readonly countTokens: (text: string) => number
}

/** Answers a request in the form of its chat protocol, errors included. */
export type ChatRoute = (body: Uint8Array, query: URLSearchParams) => Effect.Effect<RawAnswer>

/** The routes of other protocols: the one of a method and path, if there is one. */
export type ChatRoutes = (method: string, path: string) => ChatRoute | undefined

const prefix = "corpus/"

/** Passages that an answer is made from. */
const passagesOfAnswer = 20
/** Earlier exchanges that a question may refer to. */
const turnsLeantOn = 6

/** Conversations with corpora, by method and path: chat programs use the server as an API of models, each model a corpus. */
export const corpusChats = Effect.fnUntraced(function*({ countTokens, limits, models = {} }: CorpusChatOptions) {
  const { baseOf, listed: corpora, named } = yield* knowledgeBases
  const generator = yield* Generator
  const rewriter = yield* QueryRewriter

  const corpusOf = Effect.fnUntraced(function*(model: string) {
    const name = models[model] ?? (model.startsWith(prefix) ? model.slice(prefix.length) : undefined)
    return name === undefined ? yield* unknownModel(model) : yield* named(name, (id) => `${prefix}${id}`)
  })

  const answering = Effect.fnUntraced(function*({ instruction, maxTokens, model, search, temperature, topP, turns }: CorpusChat) {
    const searched = search === undefined
      ? [yield* corpusOf(model)]
      : yield* Effect.forEach([...new Set(search.stores)], (store) => named(store, (id) => id))
    // The generator has its own limit.
    const bases = yield* Effect.forEach(searched, (corpus) => Effect.fromResult(baseOf(corpus, withAllTokens(limits))))
    const history = exchangesOf(turns).slice(-turnsLeantOn)
    const asked = turns.at(-1)?.text ?? ""
    const question = yield* rewriter.rewrite(asked, history)
    const query = rewriter.searched?.(question, history) ?? question
    const contexts = yield* searchAll(bases.map((base) => ({ base, query })), search ?? { limit: passagesOfAnswer })
    return {
      ...(search === undefined ? {} : { found: { search, question, contexts } }),
      parts: generator.stream({ question, contexts, instruction, sampling: { maxTokens, temperature, topP } }),
      promptTokens: [instruction ?? "", question, ...contexts.map(({ text }) => text)].reduce((sum, text) => sum + countTokens(text), 0)
    }
  }, unable)

  const counted = (answer: Answer, promptTokens: number): Answer => {
    if (answer.usage !== undefined) return answer
    const answerTokens = countTokens(answer.text)
    return { ...answer, usage: { promptTokens, answerTokens, totalTokens: promptTokens + answerTokens } }
  }

  const route = (protocol: ChatProtocol): ChatRoute => (body) =>
    Effect.gen(function*(): Effect.fn.Return<RawAnswer, ServiceError> {
      const chat = yield* take(protocol.read(body))
      const created = yield* Clock.currentTimeMillis
      const { found, parts, promptTokens } = yield* answering(chat)
      const identity: ChatIdentity = { id: randomUUID().replaceAll("-", ""), created, model: chat.model, ...defined({ found }) }
      if (!chat.stream) {
        const last = (yield* Stream.runCollect(parts)).at(-1)
        if (last?._tag !== "done") return yield* ServiceError.internal("the model ended without an answer")
        return json(protocol.whole(identity, counted(last.answer, promptTokens)))
      }
      const write = protocol.stream(identity, chat)
      return {
        contentType: "text/event-stream; charset=utf-8",
        body: Stream.succeed(write.begin(promptTokens)).pipe(
          Stream.concat(
            Stream.map(
              yield* awaitFirst(parts),
              (part) => part._tag === "text" ? write.text(part.text) : write.end(counted(part.answer, promptTokens))
            )
          ),
          (texts) => breakingWith(texts, protocol.broken),
          Stream.encodeText
        )
      }
    }).pipe(refusing(protocol.error))

  /** Corpora, by their display names where no other has the same, and the names given to them. */
  const listed = Effect.map(corpora, (all) => {
    const titles = all.map(({ displayName }) => displayName)
    const own = all.map(({ createTime: created, displayName: title, name }) => ({
      id: prefix + (titles.indexOf(title) === titles.lastIndexOf(title) ? title : lastSegment(name)),
      title,
      created
    }))
    const given = Object.entries(models).map(([id, title]) => ({ id, title, created: new Date(0).toISOString() }))
    return [...own, ...given]
  })

  const failed = refusing(completions.error)

  const list: ChatRoute = () => failed(Effect.map(listed, (models) => json(modelsToWire(models))))

  const show = (id: string): ChatRoute => () =>
    Effect.flatMap(listed, (models) => {
      const found = models.find((model) => model.id === id)
      return found === undefined ? Effect.fail(unknownModel(id)) : Effect.succeed(json(modelToWire(found)))
    }).pipe(failed)

  const routes = new Map<string, ChatRoute>([
    ["POST /v1/chat/completions", route(completions)],
    ["POST /v1/responses", route(responses)],
    ["POST /v1/messages", route(messages)],
    ["GET /v1/models", list]
  ])
  return (method: string, path: string): ChatRoute | undefined => {
    const id = method === "GET" ? /^\/v1\/models\/(.+)$/.exec(path)?.[1] : undefined
    return id === undefined ? routes.get(`${method} ${path}`) : show(percentDecoded(id))
  }
})

const unknownModel = (model: string): ServiceError =>
  ServiceError.notFound(`model "${model}"`, `name a corpus, ${prefix}{name or id}: GET /v1/models lists them`)

/** The questions of a conversation with their answers. */
const exchangesOf = (turns: CorpusChat["turns"]): ReadonlyArray<Exchange> =>
  turns.flatMap(({ role, text }, at): ReadonlyArray<Exchange> => {
    const next = turns[at + 1]
    if (role !== "user" || next?.role !== "assistant") return []
    return [{ question: text, standalone: text, answer: next.text }]
  })
