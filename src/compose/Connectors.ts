import { Effect, Layer } from "effect"
import { type SecretError, ServiceError } from "../domain/Errors.ts"
import type { SourceSettings } from "../pipeline/definition/SourceSettings.ts"
import { Connectors } from "../pipeline/Services.ts"
import type { BuiltInKind } from "../domain/sources/BuiltInSources.ts"
import { ExtensionsInUse } from "../pipeline/Extensions.ts"
import type { Connector } from "../ports/Connector.ts"
import type { ConnectorContext } from "../ports/Source.ts"
import { Secrets } from "../ports/Secrets.ts"

type Settings<K extends BuiltInKind> = Extract<SourceSettings, { readonly _tag: K }>


/** Makes a connector of each kind from the settings a pipeline gives it. */
export type ConnectorSet = {
  readonly [K in BuiltInKind]?: (settings: Settings<K>, context: ConnectorContext) => Connector
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
          if (source._tag === "own") {
            return Effect.flatMap(ExtensionsInUse, ({ connectors }) => {
              const definition = connectors[source.kind]
              // What it needs beyond the context, a program provides; a file's modules have nothing to ask it of.
              return definition === undefined
                ? noConnector(source.kind)
                : definition.connect(source.settings as never, context) as Effect.Effect<Connector, ServiceError | SecretError>
            })
          }
          const make = set[source._tag] as ((settings: SourceSettings, context: ConnectorContext) => Connector) | undefined // keyed by its own tag
          return make === undefined
            ? noConnector(source._tag)
            : Effect.succeed(make(source, context))
        }
      })
    })
  )

const noConnector = (kind: string) =>
  Effect.fail(
    new ServiceError({
      code: "UNIMPLEMENTED",
      message: `there is no connector for ${kind} sources here`,
      fix: "give one when composing the pipeline's services"
    })
  )
