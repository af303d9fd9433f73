import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ServiceError } from "../../src/domain/Errors.ts"
import { healthMethods, healthProtos } from "../../src/server/grpc/Health.ts"

it.effect("whoever watches is told at once, again when it changes, and to the end when the server drains", () =>
  Effect.gen(function*() {
    let well = true
    let draining = false
    const ready = Effect.suspend(() => well ? Effect.void : Effect.fail(new ServiceError({ code: "UNAVAILABLE", message: "busy" })))
    const response = healthProtos.lookupType("grpc.health.v1.HealthCheckResponse")
    const told: Array<unknown> = []
    const watch = healthMethods(ready, () => draining).get("/grpc.health.v1.Health/Watch")!
    const watching = yield* Effect.forkChild(
      Stream.runForEach(watch.begin()(new Uint8Array()), (message) =>
        Effect.sync(() => told.push(response.toObject(response.decode(message), { enums: String })["status"])))
    )
    const later = TestClock.adjust("10 seconds")
    yield* later
    assert.deepStrictEqual(told, ["SERVING"])
    well = false
    yield* later
    well = true
    yield* later
    draining = true
    yield* later
    assert.deepStrictEqual(told, ["SERVING", "NOT_SERVING", "SERVING", "NOT_SERVING"])
    yield* Fiber.join(watching)
  }))
