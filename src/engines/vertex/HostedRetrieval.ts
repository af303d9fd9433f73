import { Effect, Layer } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { RetrievalRequest } from "../../domain/Retrieval.ts"
import { Retrieval } from "../../ports/Retrieval.ts"
import { contextsFromWire, retrieveRequestToWire } from "../../wire/rag/Retrievals.ts"
import { routes } from "../../wire/Routes.ts"
import { Transport } from "./Transport.ts"

/**
 * The service's retrieval. It does not correct spelling and does not explain its order; an explanation asked for is
 * refused by name, as is all else that it cannot do.
 */
export const layer: Layer.Layer<Retrieval, never, Transport> = Layer.effect(
  Retrieval,
  Effect.gen(function*() {
    const transport = yield* Transport
    const { parent } = transport
    return Retrieval.of({
      retrieve: Effect.fn("HostedRetrieval.retrieve")(function*(request: RetrievalRequest) {
        if (request.explain === true) {
          return yield* new ServiceError({
            code: "UNIMPLEMENTED",
            message: "the service does not explain its order (explain)",
            fix: "leave explain out, or use the embedded engine"
          })
        }
        const body = yield* Effect.fromResult(retrieveRequestToWire(request))
        const found = yield* transport.call({ route: routes.retrieveContexts, params: { parent }, body, bucket: "retrieve" })
        return contextsFromWire(request.corpus, found)
      })
    })
  })
)
