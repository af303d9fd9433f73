import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Layer, Result } from "effect"
import { ServiceError, type StateError } from "../domain/Errors.ts"
import { embeddedOperations } from "../engines/embedded/EmbeddedOperations.ts"
import { type Catalog, type CurrentCatalog, isAddress, readCatalog } from "../engines/embedded/models/CatalogFile.ts"
import { defaultCatalog } from "../engines/embedded/models/DefaultCatalog.ts"
import { embeddedEndpoints } from "../engines/embedded/models/EmbeddedEndpoints.ts"
import { embeddedModelCatalog } from "../engines/embedded/models/EmbeddedModelCatalog.ts"
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
import { embeddedNames } from "./EmbeddedNames.ts"

/** File name of a custom catalog, unless another one is given. */
const catalogFile = "models.yaml"

export interface GardenOptions {
  readonly dataDir: string
  /** File of a catalog of models, YAML or JSON. Default: `models.yaml` in the data directory, else the built-in catalog. */
  readonly catalog?: string
  /** Addresses of model servers by an endpoint's id or display name; they take precedence over the catalog's. */
  readonly upstreams?: Readonly<Record<string, string>>
  /**
   * Secrets with the keys that a catalog names for model servers. Default: the environment, files in the data directory,
   * Secret Manager.
   */
  readonly secrets?: Layer.Layer<Secrets>
}

/** The models and endpoints of a data directory. */
export const garden = (options: GardenOptions): Layer.Layer<ModelCatalog | Endpoints, ServiceError, State> =>
  Layer.unwrap(Effect.map(catalogOf(options), (current) => {
    const { dataDir, secrets = SecretManager.layer(join(dataDir, "secrets")).pipe(Layer.provide(GoogleAuth.layer())) } = options
    return Layer.merge(embeddedModelCatalog(embeddedNames, current), embeddedEndpoints(embeddedNames, current)).pipe(
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
 * The catalog in a file, read again when it changes; `otherwise`, where there is no file. If it becomes invalid while in
 * use, that is logged, and the previous version stays in effect.
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

/** The models and endpoints of a data directory with the engine's operations, for programs that need nothing else of it. */
export const embeddedGarden = (
  options: GardenOptions
): Layer.Layer<ModelCatalog | Endpoints | Operations, ServiceError | StateError> =>
  Layer.merge(
    garden(options).pipe(Layer.provide(State.layer(options.dataDir))),
    embeddedOperations(embeddedNames).pipe(
      Layer.provide(OperationRunner.layer(embeddedNames)),
      Layer.provide(Writer.layer(options.dataDir)),
      Layer.provide(Reader.layer(options.dataDir))
    )
  )
