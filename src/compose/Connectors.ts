import { Effect, Layer } from "effect"
import type { HttpClient } from "effect/http"
import { ServiceError } from "../domain/Errors.ts"
import type { SourceSettings } from "../pipeline/schema/SourceSettings.ts"
import { Connectors } from "../pipeline/Services.ts"
import type { Connector } from "../ports/Connector.ts"
import { Secrets } from "../ports/Secrets.ts"

type Settings<K extends SourceSettings["_tag"]> = Extract<SourceSettings, { readonly _tag: K }>

/** What connectors are told besides their own settings. */
export interface ConnectorContext {
  /** Resolves the secret versions that settings name. */
  readonly secrets: Secrets["Service"]
  /** Never listed as documents. */
  readonly dataDir?: string
  /** The HTTP client of every connector. Default: one of their own for the process. */
  readonly http?: HttpClient.HttpClient
}

/** Makes a connector of each kind from the settings a pipeline gives it. */
export type ConnectorSet = {
  readonly [K in SourceSettings["_tag"]]?: (settings: Settings<K>, context: ConnectorContext) => Connector
}

/** The connectors that pipelines may name. */
export const makeConnectors = (
  set: ConnectorSet,
  options: { readonly dataDir?: string }
): Layer.Layer<Connectors, never, Secrets> =>
  Layer.effect(
    Connectors,
    Effect.map(Secrets, (secrets) => {
      const context: ConnectorContext = { secrets, ...(options.dataDir === undefined ? {} : { dataDir: options.dataDir }) }
      return Connectors.of({
        make: (source) => {
          const make = set[source._tag] as ((settings: SourceSettings, context: ConnectorContext) => Connector) | undefined // keyed by its own tag
          return make === undefined
            ? Effect.fail(
              new ServiceError({
                code: "UNIMPLEMENTED",
                message: `there is no connector for ${source._tag} sources here`,
                fix: "give one when composing the pipeline's services"
              })
            )
            : Effect.succeed(make(source, context))
        }
      })
    })
  )
