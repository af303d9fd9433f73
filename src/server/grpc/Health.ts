import { Effect, Schedule, Stream } from "effect"
import protobuf from "protobufjs/light.js"
import type { ServiceError } from "../../domain/Errors.ts"
import type { OwnMethods } from "./Own.ts"

/** Source: grpc/health/v1/health.proto. */
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
                Health: {
                  methods: {
                    Check: { requestType: "HealthCheckRequest", responseType: "HealthCheckResponse" },
                    Watch: { requestType: "HealthCheckRequest", responseType: "HealthCheckResponse", responseStream: true }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
} as protobuf.INamespace) // whose methods need no comment

/** Pause between two checks of a watch. */
const pause = "1 second"

/**
 * `grpc.health.v1.Health`, which reports the health of the whole server: `Check` once, `Watch` at once and after every change,
 * until the server drains.
 */
export const healthMethods = (ready: Effect.Effect<void, ServiceError>, draining: () => boolean): OwnMethods => {
  const response = healthProtos.lookupType("grpc.health.v1.HealthCheckResponse")
  const { values } = response.lookupEnum("ServingStatus")
  const serving = Effect.map(Effect.isSuccess(ready), (well) => well && !draining())
  const told = (well: boolean): Uint8Array => response.encode({ status: values[well ? "SERVING" : "NOT_SERVING"] }).finish()
  const watch = Stream.fromEffectSchedule(serving, Schedule.spaced(pause)).pipe(
    Stream.takeUntil(draining),
    Stream.changes,
    Stream.map(told)
  )
  const method = (answer: Stream.Stream<Uint8Array, ServiceError>) => ({ open: true, stream: false, begin: () => () => answer })
  return new Map([
    ["/grpc.health.v1.Health/Check", method(Stream.fromEffect(Effect.map(serving, told)))],
    ["/grpc.health.v1.Health/Watch", method(watch)]
  ])
}
