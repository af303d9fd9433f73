import { Context, Effect } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import { redactText } from "../domain/Redact.ts"

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
  /** Embeds texts, at most 128 in a call, and up to four calls at the same time: an embedder splits further, limits its own rate, and retries. */
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

/** What an embedder is asked: what it throws, or fails with that is no error of ours, is its failure. */
export const askedOf = <A>(
  { id }: Pick<Embedder["Service"], "id">,
  ask: () => Effect.Effect<A, ServiceError>
): Effect.Effect<A, ServiceError> =>
  Effect.suspend(ask).pipe(
    Effect.mapError((error) =>
      error instanceof ServiceError ? error : ServiceError.internal(`embedder ${id} failed${saidBy(error)}`, error)
    ),
    Effect.catchDefect((thrown) => Effect.fail(ServiceError.internal(`embedder ${id} threw an error${saidBy(thrown)}`, thrown)))
  )

const saidBy = (thrown: unknown): string =>
  thrown instanceof Error ? `: ${redactText(thrown.message)}` : typeof thrown === "string" ? `: ${redactText(thrown)}` : ""

/** What `embed` gives, one vector of the promised length for each text. */
export const embedBy = (
  embedder: Embedder["Service"],
  texts: ReadonlyArray<string>,
  task: EmbeddingTask
): Effect.Effect<ReadonlyArray<Float32Array>, ServiceError> =>
  askedOf(
    embedder,
    () =>
      Effect.flatMap(embedder.embed(texts, task), (vectors) =>
        vectors.length === texts.length && vectors.every(({ length }) =>
            length === embedder.dimensions
          )
          ? Effect.succeed(vectors)
          : Effect.fail(unkept(embedder)))
  )

export const unkept = ({ dimensions, id }: Embedder["Service"]): ServiceError =>
  ServiceError.internal(`embedder ${id} did not give one vector of ${dimensions} dimensions per text`)

/** How far the square of a unit vector's norm may be from 1: what is nearer was rounded. */
const rounding = 1e-4

/** A vector at L2 norm 1, and the zero vector as it is. Where not all of it are finite numbers, that is the error. */
export const unitOf = ({ id }: Embedder["Service"], vector: Float32Array): Float32Array | ServiceError => {
  const squares = squaresOf(vector)
  if (!Number.isFinite(squares)) return unusable(id)
  if (squares === 0 || Math.abs(squares - 1) < rounding) return vector
  const scale = 1 / Math.sqrt(squares)
  return vector.map((value) => value * scale)
}

/** Whether all of a vector are finite numbers. */
export const isFiniteVector = (vector: Float32Array): boolean => Number.isFinite(squaresOf(vector))

/** Of 32-bit floats, the sum of their squares is finite where they are. */
const squaresOf = (vector: Float32Array): number => {
  let squares = 0
  for (let d = 0; d < vector.length; d++) squares += vector[d]! * vector[d]!
  return squares
}

export const unusable = (id: string): ServiceError =>
  ServiceError.internal(`embedder ${id} gave a vector with something other than finite numbers in it`)

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
