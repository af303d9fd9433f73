import { Effect } from "effect"
import protobuf from "protobufjs/light.js"
import type { ServiceError } from "../../domain/Errors.ts"
import type { OwnMethods } from "./Own.ts"

/** Source: grpc/health/v1/health.proto; of its methods, the one that is answered. */
export const healthProtos = protobuf.Root.fromJSON({
  nested: {
    grpc: {
      nested: {
        health: {
          nested: {
            v1: {
              nested: {
                HealthCheckRequest: { fields: { service: { type: "string", id: 1 } } },
                HealthCheckResponse: {
                  fields: { status: { type: "ServingStatus", id: 1 } },
                  nested: { ServingStatus: { values: { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } } }
                },
                Health: { methods: { Check: { requestType: "HealthCheckRequest", responseType: "HealthCheckResponse" } } }
              }
            }
          }
        }
      }
    }
  }
} as protobuf.INamespace) // whose methods need no comment

/** `grpc.health.v1.Health`, which answers of the server as a whole. */
export const healthMethods = (ready: Effect.Effect<void, ServiceError>, draining: () => boolean): OwnMethods => {
  const response = healthProtos.lookupType("grpc.health.v1.HealthCheckResponse")
  const { values } = response.lookupEnum("ServingStatus")
  const check = Effect.map(
    Effect.isSuccess(ready),
    (well) => response.encode({ status: values[well && !draining() ? "SERVING" : "NOT_SERVING"] }).finish()
  )
  return new Map([["/grpc.health.v1.Health/Check", { open: true, stream: false, begin: () => () => check }]])
}
