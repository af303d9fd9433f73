import { assert, it } from "@effect/vitest"
import { Effect, Tracer } from "effect"
import { traced } from "../../src/domain/Traced.ts"

it.effect("spans of many files are made where a tracer was given, below the span that they run in", () =>
  Effect.gen(function*() {
    const made: Array<Tracer.Span> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        made.push(span)
        return span
      }
    })
    const inside = Effect.map(Effect.option(Effect.currentSpan), (span) => span._tag === "Some" ? span.value.name : undefined)
    const run = Effect.withSpan(traced("one file")(inside), "run")
    assert.strictEqual(yield* run, "run")
    assert.strictEqual(yield* Effect.withTracer(run, tracer), "one file")
    const [whole, file] = made
    assert.deepStrictEqual(made.map(({ name, status }) => [name, status._tag]), [["run", "Ended"], ["one file", "Ended"]])
    assert.strictEqual(file?.parent._tag === "Some" ? file.parent.value.spanId : undefined, whole?.spanId)
  }))
