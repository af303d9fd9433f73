import { Context, Effect } from "effect"
import { type SecretError, ServiceError } from "../domain/Errors.ts"
import type { Connector } from "../ports/Connector.ts"
import { Secrets } from "../ports/Secrets.ts"
import type { AnyParserDefinition, ParseFile, ParserContext } from "../ports/Parser.ts"
import type { AnyConnectorDefinition, ConnectorContext } from "../ports/Source.ts"
import type { OwnParser } from "./definition/ParserSettings.ts"
import { kindOf } from "./definition/SourceSettings.ts"
import { ExtensionsInUse } from "./Extensions.ts"
import { type Access, Host, type PipelineParts } from "./Host.ts"
import { Connectors, Parsers } from "./Services.ts"
import { type FileParser, fileParser } from "./sync/Parsers.ts"

/** A pipeline on the host's engine, with the connectors of its sources. */
export const openPipeline = Effect.fnUntraced(function*(pipeline: PipelineParts, access: Access) {
  const host = yield* Host
  const { definition, services } = yield* host.open(pipeline, access)
  // What a connector or a parser needs beyond its context is around whatever runs the pipeline: a program's types say so.
  const around = yield* Effect.context()
  const secrets = Context.get(services, Secrets)
  return {
    definition,
    services: services.pipe(
      Context.add(ExtensionsInUse, pipeline.extensions),
      Context.add(Connectors, makeConnectors(pipeline.connectors, { secrets, dataDir: host.dataDir }, around)),
      Context.add(Parsers, makeParsers(pipeline.extensions.parsers, { secrets }, around))
    )
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

/** Makes parsers of the kinds defined, likewise. */
export const makeParsers = (
  definitions: Readonly<Record<string, AnyParserDefinition>>,
  context: ParserContext,
  around: Context.Context<never> = Context.empty()
) => ({
  make: Effect.fnUntraced(function*({ kind, settings }: OwnParser): Effect.fn.Return<FileParser, ServiceError | SecretError> {
    const definition = definitions[kind]
    if (definition === undefined) {
      return yield* new ServiceError({
        code: "UNIMPLEMENTED",
        message: `there is no parser ${kind} here`,
        fix: "give it when loading the pipeline"
      })
    }
    // Decoded by the definition's own schema.
    const parse = yield* (definition.make(settings as never, context) as Effect.Effect<ParseFile, ServiceError | SecretError>).pipe(
      Effect.provideContext(around)
    )
    return fileParser(definition, settings, (file) => Effect.provideContext(parse(file), around))
  })
})
