import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Layer, Result } from "effect"
import { ServiceError, type StateError } from "../domain/Errors.ts"
import { embeddedOperations } from "../engines/embedded/EmbeddedOperations.ts"
import { type Catalog, type CurrentCatalog, isAddress, readCatalog } from "../engines/embedded/models/CatalogFile.ts"
import { defaultCatalog } from "../engines/embedded/models/DefaultCatalog.ts"
import { embeddedEndpoints } from "../engines/embedded/models/EmbeddedEndpoints.ts"
import { embeddedModelCatalog } from "../engines/embedded/models/EmbeddedModelCatalog.ts"
import { Names } from "../engines/embedded/Names.ts"
import { OperationRunner } from "../engines/embedded/OperationRunner.ts"
import { Reader } from "../engines/embedded/store/Reader.ts"
import { Writer } from "../engines/embedded/store/Writer.ts"
import { GoogleAuth } from "../net/GoogleAuth.ts"
import * as Http from "../net/Http.ts"
import * as ModelServer from "../net/ModelServer.ts"
import type { Endpoints } from "../ports/Endpoints.ts"
import type { ModelCatalog } from "../ports/ModelCatalog.ts"
import type { Operations } from "../ports/Operations.ts"
import type { Secrets } from "../ports/Secrets.ts"
import * as SecretManager from "../secrets/SecretManager.ts"
import { State } from "../state/State.ts"

/** A catalog of one's own, where it is not named otherwise. */
const catalogFile = "models.yaml"

export interface GardenOptions {
  readonly dataDir: string
  /** A catalog of models, YAML or JSON. Default `models.yaml` of the data directory, else the one that comes with Sluice. */
  readonly catalog?: string
  /** Addresses of model servers by an endpoint's id or display name; they come before the catalog's. */
  readonly upstreams?: Readonly<Record<string, string>>
  /** Where the keys are that a catalog names for model servers. Default: the environment, files in the data directory, Secret Manager. */
  readonly secrets?: Layer.Layer<Secrets>
}

/** The models and endpoints of a data directory. */
export const garden = (options: GardenOptions): Layer.Layer<ModelCatalog | Endpoints, ServiceError, State> =>
  Layer.unwrap(Effect.map(catalogOf(options), (current) => {
    const names = new Names("local", "local")
    const { dataDir, secrets = SecretManager.layer(join(dataDir, "secrets")).pipe(Layer.provide(GoogleAuth.layer())) } = options
    return Layer.merge(embeddedModelCatalog(names, current), embeddedEndpoints(names, current)).pipe(
      Layer.provide([ModelServer.layer, secrets]),
      Layer.provide(Http.layer())
    )
  }))

const catalogOf = Effect.fnUntraced(
  function*({ catalog, dataDir, upstreams = {} }: GardenOptions): Effect.fn.Return<CurrentCatalog, ServiceError> {
    const strange = Object.entries(upstreams).find(([, url]) => !isAddress(url))
    if (strange !== undefined) {
      return yield* ServiceError.invalid("endpoint upstream", `${strange[0]} must be an http or https address, without credentials in it`)
    }
    const current = catalogIn(catalog ?? join(dataDir, catalogFile), catalog === undefined ? defaultCatalog : undefined)
    yield* current
    return Effect.map(current, (found) => ({ ...found, endpoints: { ...found.endpoints, ...upstreams } }))
  }
)

/**
 * What a file says, read again when it has changed; `otherwise`, where there is none. One that is broken while it is in
 * use is told of in the log, and what it said before holds until it is mended.
 */
const catalogIn = (path: string, otherwise: Catalog | undefined): CurrentCatalog => {
  const unread = () => ServiceError.invalid("catalog", `${path} cannot be read`)
  const read = Effect.tryPromise({ try: () => readFile(path, "utf8"), catch: unread }).pipe(
    Effect.flatMap((text) => Effect.fromResult(readCatalog(text, path)))
  )
  let last: { readonly revision: string; readonly catalog: Catalog } | undefined
  return Effect.gen(function*() {
    const found = yield* Effect.promise(() => stat(path, { bigint: true }).catch(() => undefined))
    const revision = found === undefined ? "" : `${found.ino}-${found.mtimeNs}-${found.size}`
    if (last?.revision === revision) return last.catalog
    const now = yield* Effect.result(found === undefined && otherwise !== undefined ? Effect.succeed(otherwise) : read)
    if (Result.isSuccess(now)) last = { revision, catalog: now.success }
    else if (last === undefined) return yield* now.failure
    else {
      yield* Effect.logError(`the catalog of models stays as it was: ${now.failure.message}`)
      last = { ...last, revision }
    }
    return last.catalog
  })
}

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
