import { Effect, type Layer, Layer as Layers, Scope } from "effect"
import { join } from "node:path"
import { ServiceError } from "../domain/Errors.ts"
import type { LocalEmbedding, LocalModel } from "../domain/LocalModel.ts"
import type { Embedder } from "../ports/Embedder.ts"
import type { Ranker, Rankers } from "../ports/Ranker.ts"

/** Folder of models from the hub, and the hub: `HF_ENDPOINT`, as for its own tools. */
const optionsIn = (dataDir: string) => ({ cache: join(dataDir, "models"), hub: process.env["HF_ENDPOINT"] })

/** An embedder of a local model. */
export const localEmbedder = (settings: LocalEmbedding, dataDir: string): Layer.Layer<Embedder, ServiceError> =>
  Layers.unwrap(Effect.promise(async () => (await import("../models/LocalEmbedder.ts")).layer(settings, optionsIn(dataDir))))

/** Makes rankers of local cross encoders. Each model is opened once, and stays open as long as the scope. */
export const crossEncoders = Effect.fnUntraced(function*(dataDir: string) {
  const scope = yield* Effect.scope
  const opened = new Map<string, Ranker["Service"]>()
  return Effect.fnUntraced(function*(settings: LocalModel): Effect.fn.Return<Ranker["Service"], ServiceError> {
    const { file, model, threads } = settings
    const key = JSON.stringify([model, file, threads])
    const known = opened.get(key)
    if (known !== undefined) return known
    const { make } = yield* Effect.promise(() => import("../models/CrossEncoder.ts"))
    const ranker = yield* Scope.provide(make("rank.crossEncoder", settings, optionsIn(dataDir)), scope)
    opened.set(key, ranker)
    return ranker
  })
})

/** Rankers that run on this machine alone. */
export const localRankers = Effect.fnUntraced(function*(dataDir: string): Effect.fn.Return<Rankers["Service"], never, Scope.Scope> {
  const crossEncoder = yield* crossEncoders(dataDir)
  return {
    of: (ranking) => {
      switch (ranking._tag) {
        case "lexical":
          return Effect.map(Effect.promise(() => import("../models/LexicalRanker.ts")), ({ make }) => make())
        case "crossEncoder":
          return crossEncoder(ranking)
        default:
          return Effect.fail(
            new ServiceError({
              code: "UNIMPLEMENTED",
              message: `this engine has no ${ranking._tag} (port Ranker)`,
              fix: "use rank: lexical, or a crossEncoder"
            })
          )
      }
    }
  }
})
