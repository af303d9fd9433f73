import { Effect } from "effect"
import protobuf from "protobufjs/light.js"
import type { ServiceError } from "../../domain/Errors.ts"

/** Source: grpc/health/v1/health.proto. */
const { nested } = protobuf.Root.fromJSON({
  nested: {
    HealthCheckRequest: { fields: { service: { type: "string", id: 1 } } },
    HealthCheckResponse: { fields: { status: { type: "int32", id: 1 } } }
  }
})

const serving = 1
const notServing = 2

/** `grpc.health.v1.Health/Check`, which answers of the server as a whole; undefined of every other path. */
export const healthService = (ready: Effect.Effect<void, ServiceError>, draining: () => boolean) => {
  const response = nested?.["HealthCheckResponse"] as protobuf.Type // it is made above
  const check = Effect.map(
    Effect.isSuccess(ready),
    (well) => response.encode({ status: well && !draining() ? serving : notServing }).finish()
  )
  return (path: string): Effect.Effect<Uint8Array> | undefined => path === "/grpc.health.v1.Health/Check" ? check : undefined
}
