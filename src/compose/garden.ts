import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { ServiceError, type StateError } from "../domain/Errors.ts"
import { embeddedOperations } from "../embedded/EmbeddedOperations.ts"
import { type Catalog, readCatalog } from "../embedded/models/CatalogFile.ts"
import { defaultCatalog } from "../embedded/models/defaultCatalog.ts"
import { embeddedEndpoints } from "../embedded/models/EmbeddedEndpoints.ts"
import { embeddedModelCatalog } from "../embedded/models/EmbeddedModelCatalog.ts"
import { Names } from "../embedded/Names.ts"
import { OperationRunner } from "../embedded/OperationRunner.ts"
import { Reader } from "../embedded/store/Reader.ts"
import { Writer } from "../embedded/store/Writer.ts"
import * as Http from "../net/Http.ts"
import * as ModelServer from "../net/ModelServer.ts"
import type { Endpoints } from "../ports/Endpoints.ts"
import type { ModelCatalog } from "../ports/ModelCatalog.ts"
import type { Operations } from "../ports/Operations.ts"
import { State } from "../state/State.ts"

/** A catalog of one's own, where it is not named otherwise. */
export const catalogFile = "models.yaml"

export interface GardenOptions {
  readonly dataDir: string
  /** A catalog of models, YAML or JSON. Default `models.yaml` of the data directory, else the one that comes with Sluice. */
  readonly catalog?: string
  /** Addresses of model servers by an endpoint's id or display name; they come before the catalog's. */
  readonly upstreams?: Readonly<Record<string, string>>
}

/** The models and endpoints of a data directory. */
export const garden = (options: GardenOptions): Layer.Layer<ModelCatalog | Endpoints, ServiceError, State> =>
  Layer.unwrap(Effect.map(catalogOf(options), (catalog) => {
    const names = new Names("local", "local")
    return Layer.merge(embeddedModelCatalog(names, catalog), embeddedEndpoints(names, catalog)).pipe(
      Layer.provide(ModelServer.layer.pipe(Layer.provide(Http.layer())))
    )
  }))

const catalogOf = Effect.fnUntraced(function*({ catalog: file, dataDir, upstreams = {} }: GardenOptions): Effect.fn.Return<Catalog, ServiceError> {
  const own = join(dataDir, catalogFile)
  const path = file ?? (existsSync(own) ? own : undefined)
  const catalog = path === undefined ? defaultCatalog : yield* Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: () => ServiceError.invalid("catalog", `${path} cannot be read`)
  }).pipe(Effect.flatMap((text) => Effect.fromResult(readCatalog(text, path))))
  const strange = Object.entries(upstreams).find(([, url]) => !/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
  if (strange !== undefined) return yield* ServiceError.invalid("endpoint upstream", `${strange[0]} must be an http or https address`)
  return { ...catalog, endpoints: { ...catalog.endpoints, ...upstreams } }
})

/** The same with the engine's operations, for a program that needs no more of a data directory. */
export const embeddedGarden = (
  options: GardenOptions
): Layer.Layer<ModelCatalog | Endpoints | Operations, ServiceError | StateError> => {
  const names = new Names("local", "local")
  return Layer.merge(
    garden(options).pipe(Layer.provide(State.layer(options.dataDir))),
    embeddedOperations(names).pipe(
      Layer.provide(OperationRunner.layer(names)),
      Layer.provide(Writer.layer(options.dataDir)),
      Layer.provide(Reader.layer(options.dataDir))
    )
  )
}
