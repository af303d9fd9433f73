/** OpenAI's embeddings: vectors of texts. */
import { Result, Schema } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { bodyReader, optional } from "../JsonBody.ts"

/** Texts to embed. */
export interface EmbeddingCall {
  readonly model: string
  readonly texts: ReadonlyArray<string>
  /** Length of the vectors; undefined means the model's own. */
  readonly dimensions: number | undefined
  readonly encoding: "float" | "base64"
}

const Tokens = Schema.NonEmptyArray(Schema.Int)

const Request = Schema.Struct({
  model: Schema.NonEmptyString,
  input: Schema.Union([
    Schema.NonEmptyString,
    Schema.NonEmptyArray(Schema.NonEmptyString),
    Tokens,
    Schema.NonEmptyArray(Tokens)
  ]),
  dimensions: optional(Schema.Int.check(Schema.isGreaterThan(0))),
  encoding_format: optional(Schema.Literals(["float", "base64"]))
})

const readRequest = bodyReader(Request)

/** Most texts of one request, as at OpenAI. */
const mostTexts = 2_048

/** Decodes a request for embeddings. Texts given as tokens are refused: only the model that they were made for can read them. */
export const embeddingsFromWire = (body: Uint8Array): Result.Result<EmbeddingCall, ServiceError> =>
  Result.gen(function*() {
    const { dimensions, encoding_format: encoding, input, model } = yield* readRequest(body)
    const given: ReadonlyArray<unknown> = typeof input === "string" ? [input] : input
    const texts = given.filter((text) => typeof text === "string")
    if (texts.length < given.length) {
      return yield* Result.fail(
        ServiceError.invalid(
          "input",
          "has tokens, which this server's embedder does not read",
          "send the text as a string (LangChain's OpenAIEmbeddings: check_embedding_ctx_length=False)"
        )
      )
    }
    if (texts.length > mostTexts) {
      return yield* Result.fail(ServiceError.invalid("input", `has ${texts.length} texts; ${mostTexts} are allowed in a request`))
    }
    return { model, texts, dimensions: dimensions ?? undefined, encoding: encoding ?? "float" }
  })

/** The list of vectors, in the order of the texts. `tokens` is the number of the texts' tokens. */
export const embeddingsToWire = (
  { encoding, model }: EmbeddingCall,
  vectors: ReadonlyArray<Float32Array>,
  tokens: number
): object => ({
  object: "list",
  data: vectors.map((vector, index) => ({
    object: "embedding",
    index,
    embedding: encoding === "float" ? [...vector] : Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64")
  })),
  model,
  usage: { prompt_tokens: tokens, total_tokens: tokens }
})
