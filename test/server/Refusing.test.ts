import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import { refusing } from "../../src/server/Call.ts"
import { completionErrorToWire } from "../../src/wire/openai/OpenAiAnswers.ts"

it.effect("refusals of every protocol say when to call again, in whole seconds, where that is known", () =>
  Effect.gen(function*() {
    const refused = (retryAfter?: number) =>
      refusing(completionErrorToWire)(Effect.fail(new ServiceError({ code: "RESOURCE_EXHAUSTED", message: "too many", retryAfter })))
    const { headers, status } = yield* refused(1_200)
    assert.deepStrictEqual([status, headers], [429, { "retry-after": "2" }])
    assert.deepStrictEqual((yield* refused()).headers, {})
  }))
