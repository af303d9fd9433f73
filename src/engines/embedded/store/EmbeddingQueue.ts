import { Clock, Context, Deferred, Effect, Exit, Layer, Queue, type Scope } from "effect"
import { ServiceError } from "../../../domain/Errors.ts"
import { askedOf, embedBy, Embedder, isFiniteVector, narrowed, unkept, unusable } from "../../../ports/Embedder.ts"
import { budgetSpent } from "../../../ports/EmbeddingBudget.ts"
import { now } from "../../../domain/Stamps.ts"
import type { NewVector } from "./Commands.ts"
import { Reader } from "./Reader.ts"
import { packSparse, packVector } from "./Vector.ts"
import { Writer } from "./Writer.ts"

/** Most texts of one call to the embedder. */
export const textsAtOnce = 128
const batchSize = textsAtOnce
/** Calls to the embedder at a time. */
const concurrency = 4
/** Texts that may wait; uploads beyond that wait for a place in the queue. */
const queueSize = 4 * batchSize

export interface TextToEmbed {
  readonly hash: string
  readonly text: string
}

export interface Embedded {
  /** Hashes of the texts that were sent to the embedder by this call. */
  readonly sent: ReadonlySet<string>
  /** Vectors that are not stored yet, and are to be committed with the file that needs them. */
  readonly vectors: ReadonlyArray<NewVector>
}

interface Waiting extends TextToEmbed {
  /** Whether the text was sent to the embedder. */
  readonly done: Deferred.Deferred<boolean, ServiceError>
}

/** Failed calls in a row after which the embedder is not called for a while. */
const tries = 3
/** Milliseconds for which it is then not called. */
const restMs = 30_000

/**
 * Embeds the texts of concurrent uploads together, each text once, and stores the vectors batch by batch, so that a crash loses only the
 * batches in flight. A text that the embedder refuses fails the files that have it. An embedder that fails again and again is not called
 * for a while, and uploads fail at once with `FAILED_PRECONDITION`.
 */
export class EmbeddingQueue extends Context.Service<EmbeddingQueue, {
  /** Returns when all texts have vectors. Until the scope closes, no other caller counts the same texts as sent by it. */
  readonly embed: (texts: ReadonlyArray<TextToEmbed>) => Effect.Effect<Embedded, ServiceError, Scope.Scope>
}>()("sluice/embedded/store/EmbeddingQueue") {
  static readonly layer: Layer.Layer<EmbeddingQueue, never, Embedder | Reader | Writer> = Layer.effect(
    EmbeddingQueue,
    Effect.gen(function*() {
      const embedder = yield* Embedder
      const reader = yield* Reader
      const writer = yield* Writer
      const queue = yield* Queue.bounded<Waiting>(queueSize)
      const inFlight = new Map<string, Deferred.Deferred<boolean, ServiceError>>()
      let failures = 0
      let restUntil = 0
      let lastFailure: ServiceError | undefined

      /** Embeds the texts of a batch that have no vector yet, and returns the outcome of each, by hash. */
      const embedBatch = Effect.fn("EmbeddingQueue.batch")(function*(batch: ReadonlyArray<Waiting>) {
        const at = yield* now
        // Another upload, or another process, may have embedded a text since this upload checked.
        const missing = new Set(yield* reader.withoutVector(embedder.id, batch.map(({ hash }) => hash)))
        const wanted = batch.filter(({ hash }) => missing.has(hash))
        const packed = wanted.length === 0 ? [] : yield* packedVectors(embedder, wanted.map(({ text }) => text))
        const outcomes = new Map(wanted.map(({ hash }, i) => [hash, packed[i]!]))
        const vectors = [...outcomes].flatMap(([hash, vector]) => vector instanceof ServiceError ? [] : [{ hash, vector }])
        if (vectors.length > 0) yield* writer.send("putVectors", { embedder: embedder.id, vectors, at })
        return outcomes
      })

      const guarded = Effect.fnUntraced(function*(batch: ReadonlyArray<Waiting>) {
        const started = yield* Clock.currentTimeMillis
        if (failures >= tries && started < restUntil && lastFailure !== undefined) return yield* givenUp(failures, lastFailure)
        const outcomes = yield* embedBatch(batch)
        const errors = [...outcomes.values()].filter((outcome) => outcome instanceof ServiceError)
        const [error] = errors
        if (errors.length < outcomes.size) failures = 0
        else if (error?.retryable === true && error.reason !== budgetSpent) {
          failures++
          lastFailure = error
          restUntil = (yield* Clock.currentTimeMillis) + restMs
        }
        return outcomes
      })

      const work = Effect.gen(function*() {
        const batch = yield* Queue.takeBetween(queue, 1, batchSize)
        const exit = yield* Effect.exit(guarded(batch))
        for (const { done, hash } of batch) {
          inFlight.delete(hash)
          const outcome = exit._tag === "Success" ? exit.value.get(hash) : undefined
          yield* Deferred.done(
            done,
            exit._tag === "Failure"
              ? Exit.failCause(exit.cause)
              : outcome instanceof ServiceError
              ? Exit.fail(outcome)
              : Exit.succeed(outcome !== undefined)
          )
        }
      })
      yield* Effect.forEach(Array.from({ length: concurrency }), () => Effect.forkScoped(Effect.forever(work)), { discard: true })

      // Uninterruptible: others may already wait for a text that is announced here, so it must reach the queue.
      const enqueue = Effect.fnUntraced(function*(texts: ReadonlyArray<TextToEmbed>) {
        const mine: Array<readonly [hash: string, done: Deferred.Deferred<boolean, ServiceError>]> = []
        const waits: Array<Deferred.Deferred<boolean, ServiceError>> = []
        for (const { hash, text } of texts) {
          const known = inFlight.get(hash)
          const done = known ?? Deferred.makeUnsafe<boolean, ServiceError>()
          waits.push(done)
          if (known !== undefined) continue
          inFlight.set(hash, done)
          mine.push([hash, done])
          yield* Queue.offer(queue, { hash, text, done })
        }
        return { mine, waits }
      }, Effect.uninterruptible)

      /** Texts that {@link local} embeds, until their files are committed. */
      const underWay = new Set<string>()

      /** Embeds with an embedder that costs nothing: its texts need no queue, and no commit before the file's own. */
      const local = (embedSparse: NonNullable<Embedder["Service"]["embedSparse"]>) =>
        Effect.fnUntraced(function*(texts: ReadonlyArray<TextToEmbed>) {
          const packed = yield* packedSparse(embedder, embedSparse, texts.map(({ text }) => text))
          const sent = new Set(texts.flatMap(({ hash }) => underWay.has(hash) ? [] : [hash]))
          yield* Effect.acquireRelease(
            Effect.sync(() => sent.forEach((hash) => underWay.add(hash))),
            () => Effect.sync(() => sent.forEach((hash) => underWay.delete(hash)))
          )
          return { sent, vectors: texts.map(({ hash }, i) => ({ hash, vector: packed[i]! })) }
        })

      if (embedder.embedSparse !== undefined) return EmbeddingQueue.of({ embed: local(embedder.embedSparse) })
      return EmbeddingQueue.of({
        embed: Effect.fnUntraced(function*(texts) {
          const { mine, waits } = yield* enqueue(texts)
          yield* Effect.forEach(waits, Deferred.await, { discard: true })
          const sent = new Set<string>()
          for (const [hash, done] of mine) if (yield* Deferred.await(done)) sent.add(hash)
          return { sent, vectors: [] }
        })
      })
    })
  )
}

const givenUp = (failures: number, { fix, message }: ServiceError): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `embedding failed ${failures} times in a row and is not tried any more; the last time: ${message}`,
    fix: fix ?? "check the embedding service, then run again: what was embedded is kept"
  })

/** One packed vector per text, or the reason why it has none. */
const packedVectors = Effect.fnUntraced(function*(embedder: Embedder["Service"], texts: ReadonlyArray<string>) {
  const { dimensions, embedEach, id, ofWords } = embedder
  const outcomes = yield* embedEach === undefined
    ? narrowed((part) => embedBy(embedder, part, "document"), texts)
    : askedOf(embedder, () => embedEach(texts))
  if (outcomes.length !== texts.length) return yield* unkept(embedder)
  return outcomes.map((outcome, i) => {
    if (outcome instanceof ServiceError) return outcome
    if (outcome.length !== dimensions) return unkept(embedder)
    if (!isFiniteVector(outcome)) return unusable(id)
    // An embedder of words may know no word of a text, for example in another script. Such a text is found by BM25 alone.
    return ofWords === true || outcome.some((value) => value !== 0) || !/[\p{L}\p{N}]/u.test(texts[i]!)
      ? packVector(outcome)
      : ServiceError.internal(`embedder ${id} gave a vector of zeros for a text with words`)
  })
})

const packedSparse = Effect.fnUntraced(function*(
  embedder: Embedder["Service"],
  embedSparse: NonNullable<Embedder["Service"]["embedSparse"]>,
  texts: ReadonlyArray<string>
) {
  const vectors = texts.length === 0 ? [] : yield* askedOf(embedder, () => embedSparse(texts, "document"))
  if (vectors.length !== texts.length) return yield* unkept(embedder)
  if (!vectors.every(({ values }) => isFiniteVector(values))) return yield* unusable(embedder.id)
  return vectors.map((vector) => packSparse(vector, embedder.dimensions))
})
