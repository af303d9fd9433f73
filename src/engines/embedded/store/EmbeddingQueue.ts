import { Context, Deferred, Effect, Layer, Queue } from "effect"
import { ServiceError } from "../../../domain/Errors.ts"
import { Embedder } from "../../../ports/Embedder.ts"
import { now } from "../Timestamp.ts"
import { packSparse, packVector } from "./Vector.ts"
import { Writer } from "./Writer.ts"

/** Texts of one call to the embedder, and calls at the same time. */
const batchSize = 128
const concurrency = 4
/** Texts that may wait; further uploads wait with them. */
const queueSize = 4 * batchSize

export interface TextToEmbed {
  readonly hash: string
  readonly text: string
}

interface Waiting extends TextToEmbed {
  readonly done: Deferred.Deferred<void, ServiceError>
}

/**
 * Embeds the texts of concurrent uploads together, a text that several of them want once, and stores the vectors
 * batch by batch, so that a crash costs the batches in flight and no more.
 */
export class EmbeddingQueue extends Context.Service<EmbeddingQueue, {
  /** Returns when all vectors are stored, with the hashes of the texts that this call had embedded. */
  readonly embed: (texts: ReadonlyArray<TextToEmbed>) => Effect.Effect<ReadonlySet<string>, ServiceError>
}>()("sluice/embedded/store/EmbeddingQueue") {
  static readonly layer: Layer.Layer<EmbeddingQueue, never, Embedder | Writer> = Layer.effect(
    EmbeddingQueue,
    Effect.gen(function*() {
      const embedder = yield* Embedder
      const writer = yield* Writer
      const queue = yield* Queue.bounded<Waiting>(queueSize)
      const inFlight = new Map<string, Deferred.Deferred<void, ServiceError>>()

      const embedBatch = Effect.fn("EmbeddingQueue.batch")(function*(batch: ReadonlyArray<Waiting>) {
        const packed = yield* packedVectors(embedder, batch.map(({ text }) => text))
        const vectors = packed.map((vector, i) => ({ hash: batch[i]!.hash, vector }))
        yield* writer.send("putVectors", { embedder: embedder.id, vectors, at: yield* now })
      })

      const work = Effect.gen(function*() {
        const batch = yield* Queue.takeBetween(queue, 1, batchSize)
        const exit = yield* Effect.exit(embedBatch(batch))
        for (const { done, hash } of batch) {
          inFlight.delete(hash)
          yield* Deferred.done(done, exit)
        }
      })
      yield* Effect.forEach(Array.from({ length: concurrency }), () => Effect.forkScoped(Effect.forever(work)), { discard: true })

      // Uninterruptible: others may already wait for a text that is announced here, so it must come into the queue.
      const enqueue = Effect.fnUntraced(function*(texts: ReadonlyArray<TextToEmbed>) {
        const mine = new Set<string>()
        const waits: Array<Deferred.Deferred<void, ServiceError>> = []
        for (const { hash, text } of texts) {
          const known = inFlight.get(hash)
          const done = known ?? Deferred.makeUnsafe<void, ServiceError>()
          waits.push(done)
          if (known !== undefined) continue
          inFlight.set(hash, done)
          mine.add(hash)
          yield* Queue.offer(queue, { hash, text, done })
        }
        return { mine, waits }
      }, Effect.uninterruptible)

      return EmbeddingQueue.of({
        embed: Effect.fnUntraced(function*(texts) {
          const { mine, waits } = yield* enqueue(texts)
          yield* Effect.forEach(waits, Deferred.await, { discard: true })
          return mine
        })
      })
    })
  )
}

/** One vector per text, as they are stored. */
const packedVectors = Effect.fnUntraced(function*(embedder: Embedder["Service"], texts: ReadonlyArray<string>) {
  const { dimensions, embedSparse, id } = embedder
  const packed = embedSparse === undefined
    ? (yield* embedder.embed(texts, "document")).filter(({ length }) => length === dimensions).map(packVector)
    : (yield* embedSparse(texts, "document")).map((vector) => packSparse(vector, dimensions))
  if (packed.length === texts.length) return packed
  return yield* ServiceError.internal(`embedder ${id} did not give one vector of ${dimensions} dimensions per text`)
})
