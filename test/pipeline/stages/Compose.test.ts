import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { expectTypeOf } from "vitest"
import { compose, type ServiceError, type Stage } from "../../../src/index.ts"

/** Adds one mark to a text of a known number of them. */
const mark = <From extends number, To extends number>(_: From, __: To): Stage<Marks<From>, Marks<To>> => ({ text }) =>
  Effect.succeed({ text: `${text}.` })

interface Marks<N extends number> {
  readonly text: string
  readonly count?: N
}

describe("compose", () => {
  it.effect("takes nine stages, each of which takes what the one before gives", () =>
    Effect.gen(function*() {
      const failing: Stage<Marks<8>, Marks<9>, ServiceError> = (input) => Effect.succeed({ text: `${input.text}!` })
      const nine = compose(mark(0, 1), mark(1, 2), mark(2, 3), mark(3, 4), mark(4, 5), mark(5, 6), mark(6, 7), mark(7, 8), failing)
      expectTypeOf(nine).toExtend<Stage<Marks<0>, Marks<9>, ServiceError>>()
      expectTypeOf(nine).not.toExtend<Stage<Marks<0>, Marks<9>>>()
      assert.strictEqual((yield* nine({ text: "" })).text, "........!")
      assert.strictEqual(nine.parts?.length, 9)
      // @ts-expect-error The sixth takes what the sixth gives.
      compose(mark(0, 1), mark(1, 2), mark(2, 3), mark(3, 4), mark(4, 5), mark(6, 7), mark(7, 8))
    }))
})
