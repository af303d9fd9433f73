import { Effect, Layer } from "effect"
import { Importer } from "../../src/engines/embedded/Importer.ts"

/** The imports that the cases of Operations ask for: `gs://fine/…` imports one file, `gs://slow/…` never ends. */
export const importer = Layer.succeed(Importer, {
  run: (request, report) =>
    Effect.gen(function*() {
      const slow = request.source._tag === "storage" && request.source.uris.some((uri) => uri.startsWith("gs://slow/"))
      if (slow) return yield* Effect.never
      const done = { progress: 100, counts: { imported: 1, failed: 0, skipped: 0 }, failures: [] }
      yield* report({ ...done, progress: 50 })
      return done
    })
})
