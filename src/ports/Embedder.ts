import { Context, Effect } from "effect"
import { ServiceError } from "../domain/Errors.ts"

/** What a text is embedded as: documents and questions may be embedded differently. */
export type EmbeddingTask = "document" | "query"

/** A vector without its zeros: component numbers, ascending, and the value of each. */
export interface SparseVector {
  readonly components: Uint16Array
  readonly values: Float32Array
}

/**
 * Turns texts into unit vectors: one vector per text, in order, each of length `dimensions` and L2 norm 1 (a text without
 * content gives the zero vector).
 *
 * `id` names everything that determines the numbers (model, version, dimensions); a corpus remembers it, and another id
 * requires a rebuild.
 */
export class Embedder extends Context.Service<Embedder, {
  readonly id: string
  readonly dimensions: number
  readonly embed: (
    texts: ReadonlyArray<string>,
    task: EmbeddingTask
  ) => Effect.Effect<ReadonlyArray<Float32Array>, ServiceError>
  /**
   * Embeds documents like `embed`, but with a result per text, for embedders whose requests can fail for some texts only:
   * what was paid for is then kept. Never fails as a whole.
   */
  readonly embedEach?: (texts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Float32Array | ServiceError>>
  /** Embeds like `embed`, but returns vectors without their zeros, so that long vectors are never written out. */
  readonly embedSparse?: (
    texts: ReadonlyArray<string>,
    task: EmbeddingTask
  ) => Effect.Effect<ReadonlyArray<SparseVector>, ServiceError>
  /**
   * States that `embed` returns for documents what `src/text/hashed` makes of their words: an engine that reads the words
   * anyway can compute the vectors with it instead of calling `embed`.
   */
  readonly hashed?: true
  /**
   * States that vectors are sums over unrelated words: unless a request says otherwise they weigh as those of words do,
   * and a text of unknown words only has the zero vector.
   */
  readonly ofWords?: true
  /**
   * Embeds a question with a weight for each word, for embedders of words: the engine knows how rare each is in its
   * corpus. The vectors of documents are unaffected.
   */
  readonly embedWeighed?: (question: string, weigh: (word: string) => number) => Float32Array
}>()("sluice/ports/Embedder") {}

/**
 * Finds an embedder by its id, for corpora filled by an embedder other than the pipeline's own: the live corpus while the
 * file describes its candidate, and earlier ones. Undefined where the id is unknown. Default: every id is unknown.
 */
export const OtherEmbedders = Context.Reference<(id: string) => Effect.Effect<Embedder["Service"] | undefined>>(
  "sluice/ports/OtherEmbedders",
  { defaultValue: () => () => Effect.undefined }
)

/** Texts refused one by one, with none accepted, after which the service itself is taken to be at fault. */
const refusedAlone = 8

/**
 * Returns one outcome per text from a request that accepts all texts or none. A refusal of the content is narrowed down
 * by halves to the texts that are refused alone; any other failure applies to every text. Where no text is accepted and
 * several are refused alone, the service refuses everything and is not called again: `FAILED_PRECONDITION`.
 */
export const narrowed = <A>(
  request: (texts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<A>, ServiceError>,
  texts: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<A | ServiceError>> =>
  Effect.suspend(() => {
    let taken = 0
    let refused = 0
    let hopeless: ServiceError | undefined
    const ask = (part: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<A | ServiceError>> => {
      if (hopeless !== undefined) return Effect.succeed(part.map(() => hopeless as ServiceError))
      return request(part).pipe(
        Effect.tap(() => Effect.sync(() => void (taken += part.length))),
        Effect.catch((error): Effect.Effect<ReadonlyArray<A | ServiceError>> => {
          if (error.code !== "INVALID_ARGUMENT" && error.code !== "OUT_OF_RANGE") return Effect.succeed(part.map(() => error))
          if (part.length > 1) {
            const half = Math.ceil(part.length / 2)
            return Effect.zipWith(
              ask(part.slice(0, half)),
              Effect.suspend(() => ask(part.slice(half))),
              (first, second) => [...first, ...second]
            )
          }
          refused++
          if (taken === 0 && refused >= refusedAlone) {
            hopeless = new ServiceError({
              code: "FAILED_PRECONDITION",
              message: `every text is refused: ${error.message}`,
              fix: error.fix ?? "check the model and the settings of the embedding service"
            })
          }
          return Effect.succeed([hopeless ?? error])
        })
      )
    }
    return Effect.map(
      ask(texts),
      (outcomes) => hopeless === undefined || taken > 0 ? outcomes : outcomes.map(() => hopeless as ServiceError)
    )
  })
