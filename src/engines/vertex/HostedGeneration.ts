import { randomUUID } from "node:crypto"
import { Effect, Layer, Stream } from "effect"
import { renamed } from "../../domain/ChatRefusal.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { GenerationRequest } from "../../domain/generation/Generation.ts"
import { generationWarnings, refusedCount, refusedGeneration } from "../../domain/generation/GenerationRules.ts"
import { Generation } from "../../ports/Generation.ts"
import { Quota } from "../../ports/Quota.ts"
import { countToWire, generationResponseFromWire, generationToWire, tokenCountFromWire } from "../../wire/generation/Generations.ts"
import { GenerateContent } from "./GenerateContent.ts"
import { Transport } from "./Transport.ts"

/** Requests per project and day that may ask for log probabilities. */
const logprobsPerDay = 1
const day = 24 * 60 * 60_000

/** Content generation by the service. Rules are checked before a request is sent; for unknown models a warning is logged. */
export const layer: Layer.Layer<Generation, never, GenerateContent | Transport | Quota> = Layer.effect(
  Generation,
  Effect.gen(function*() {
    const calls = yield* GenerateContent
    const quota = yield* Quota
    const { endpoint, project } = yield* Transport
    const bucket = `${endpoint.host}/${project}/logprobs`

    /** Takes a place of the day's quota for a request that needs one; `giveBack` returns it. */
    const admitted = Effect.fnUntraced(function*(model: string, request: GenerationRequest, stream: boolean) {
      const use = { model, stream }
      const refused = refusedGeneration(use, request)
      if (refused !== undefined) return yield* refused
      yield* Effect.forEach(generationWarnings(use, request), (warning) => Effect.logWarning(warning), { discard: true })
      if (request.generationConfig?.responseLogprobs !== true) return { giveBack: Effect.void }
      const holder = randomUUID()
      const holders = yield* Effect.mapError(quota.occupy(bucket, logprobsPerDay, holder, day), quotaLost)
      if (holders.length > 0) return yield* spent
      return { giveBack: Effect.ignore(quota.vacate(bucket, holder)) }
    })

    return Generation.of({
      generate: Effect.fn("Generation.generate")(function*(model: string, request: GenerationRequest) {
        const { giveBack } = yield* admitted(model, request, false)
        return yield* calls.generate(model, generationToWire(request)).pipe(
          Effect.mapBoth({ onFailure: asRequested, onSuccess: generationResponseFromWire }),
          Effect.onError(() => giveBack)
        )
      }),
      stream: (model, request) =>
        Stream.unwrap(Effect.map(admitted(model, request, true), ({ giveBack }) => {
          let started = false
          return calls.stream(model, generationToWire(request)).pipe(
            Stream.map((piece) => {
              started = true
              return generationResponseFromWire(piece)
            }),
            Stream.mapError(asRequested),
            Stream.onExit((exit) => (exit._tag === "Failure" && !started ? giveBack : Effect.void))
          )
        })),
      countTokens: Effect.fn("Generation.countTokens")(function*(model, request) {
        const refused = refusedCount(request)
        if (refused !== undefined) return yield* refused
        return yield* Effect.mapBoth(calls.countTokens(model, countToWire(request)), {
          onFailure: asRequested,
          onSuccess: tokenCountFromWire
        })
      })
    })
  })
)

/** An error with field names in JSON form: the service names fields as in its protos. */
const asRequested = (error: ServiceError): ServiceError =>
  renamed(error, (field) => field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))

const spent = new ServiceError({
  code: "RESOURCE_EXHAUSTED",
  message: `generationConfig.responseLogprobs: ${logprobsPerDay} request a day may ask for log probabilities, and today's was made`,
  violations: [{ field: "generationConfig.responseLogprobs", description: `${logprobsPerDay} request a day may ask for it` }],
  fix: "ask without responseLogprobs, or tomorrow"
})

const quotaLost = (error: { readonly message: string; readonly fix: string }): ServiceError =>
  new ServiceError({ code: "INTERNAL", message: error.message, fix: error.fix })
