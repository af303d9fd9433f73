import { Context, Effect } from "effect"
import { type SecretError, ServiceError } from "../domain/Errors.ts"
import type { Connector } from "../ports/Connector.ts"
import { Secrets } from "../ports/Secrets.ts"
import type { AnyConnectorDefinition, ConnectorContext } from "../ports/Source.ts"
import { kindOf } from "./definition/SourceSettings.ts"
import { ExtensionsInUse } from "./Extensions.ts"
import { type Access, Host, type PipelineParts } from "./Host.ts"
import { Connectors } from "./Services.ts"

/** A pipeline on the host's engine, with the connectors of its sources. */
export const openPipeline = Effect.fnUntraced(function*(pipeline: PipelineParts, access: Access) {
  const host = yield* Host
  const { definition, services } = yield* host.open(pipeline, access)
  // What a connector needs beyond its context is around whatever runs the pipeline: a program's types say so.
  const around = yield* Effect.context()
  const connectors = makeConnectors(pipeline.connectors, { secrets: Context.get(services, Secrets), dataDir: host.dataDir }, around)
  return {
    definition,
    services: services.pipe(Context.add(ExtensionsInUse, pipeline.extensions), Context.add(Connectors, connectors))
  }
})

/** Makes connectors of the kinds defined; `around` has what they need beyond the context. */
export const makeConnectors = (
  definitions: Readonly<Record<string, AnyConnectorDefinition>>,
  context: ConnectorContext,
  around: Context.Context<never> = Context.empty()
): Connectors["Service"] => ({
  make: (source) => {
    const definition = definitions[kindOf(source)]
    if (definition === undefined) {
      return Effect.fail(
        new ServiceError({
          code: "UNIMPLEMENTED",
          message: `there is no connector for ${kindOf(source)} sources here`,
          fix: "give one when loading the pipeline"
        })
      )
    }
    const settings = source._tag === "own" ? source.settings : source
    // Decoded by the definition's own schema.
    return (definition.connect(settings as never, context) as Effect.Effect<Connector, ServiceError | SecretError>).pipe(
      Effect.provideContext(around)
    )
  }
})
