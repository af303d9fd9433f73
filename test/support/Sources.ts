import { Effect, Layer, type Schema } from "effect"
import { local } from "../../connectors/local/Local.ts"
import { type BuiltInKind, builtInSources } from "../../src/domain/sources/BuiltInSources.ts"
import { noExtensions } from "../../src/pipeline/Extensions.ts"
import type { Definition } from "../../src/pipeline/definition/Definition.ts"
import type { SourceSettings } from "../../src/pipeline/definition/SourceSettings.ts"
import { invalidPipeline } from "../../src/pipeline/definition/Place.ts"
import { makeConnectors } from "../../src/pipeline/Open.ts"
import { fromFile } from "../../src/pipeline/Pipeline.ts"
import { Connectors } from "../../src/pipeline/Services.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import { Secrets } from "../../src/ports/Secrets.ts"
import { type AnyConnectorDefinition, type ConnectorContext, connectorOf } from "../../src/ports/Source.ts"

/** Constructors of connectors by built-in kind, for a test. */
export type ConnectorSet = {
  readonly [K in BuiltInKind]?: (settings: Extract<SourceSettings, { readonly _tag: K }>, context: ConnectorContext) => Connector
}

export const definitionsOf = (set: ConnectorSet): Readonly<Record<string, AnyConnectorDefinition>> =>
  Object.fromEntries(
    Object.entries(set).map(([kind, make]) => [
      kind,
      connectorOf<never, never, never>({
        kind,
        settings: builtInSources[kind as BuiltInKind] as unknown as Schema.Codec<never, unknown>, // keys of a ConnectorSet
        connect: (settings, context) => Effect.sync(() => make(settings, context))
      })
    ])
  )

/** The connectors alone, for tests without a host. */
export const connectorsOf = (set: ConnectorSet, options: { readonly dataDir?: string }): Layer.Layer<Connectors, never, Secrets> =>
  Layer.effect(Connectors, Effect.map(Secrets, (secrets) => makeConnectors(definitionsOf(set), { secrets, ...options })))

/** The pipeline of a definition, for `Embedded.layer` and `Vertex.layer`. */
export const pipelineOf = (definition: Definition, set: ConnectorSet = { local }) =>
  fromFile(
    { pipeline: definition, extensions: noExtensions, invalid: (problems) => invalidPipeline(definition, problems) },
    definitionsOf(set)
  )
