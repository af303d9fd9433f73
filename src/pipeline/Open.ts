import { Context, Effect } from "effect"
import type { Cutting } from "../domain/Chunking.ts"
import { type SecretError, ServiceError } from "../domain/Errors.ts"
import type { Connector } from "../ports/Connector.ts"
import { Secrets } from "../ports/Secrets.ts"
import type { AnyChunkerDefinition, CutText } from "../ports/Chunker.ts"
import type { AnyParserDefinition, ParseFile, ParserContext } from "../ports/Parser.ts"
import type { AnyConnectorDefinition, ConnectorContext } from "../ports/Source.ts"
import type { OwnChunker, OwnParser } from "./definition/ParserSettings.ts"
import { kindOf } from "./definition/SourceSettings.ts"
import { ExtensionsInUse } from "./Extensions.ts"
import { type Access, Host, type PipelineParts } from "./Host.ts"
import { Chunkers, Connectors, Parsers } from "./Services.ts"
import { guarded, threw } from "./sync/Guarded.ts"
import { type FileParser, fileParser, textChunker } from "./sync/Parsers.ts"

/** Opens a pipeline on the host's engine, with the connectors of its sources. */
export const openPipeline = Effect.fnUntraced(function*(pipeline: PipelineParts, access: Access) {
  const host = yield* Host
  const { definition, services } = yield* host.open(pipeline, access)
  // Services that a connector, a parser or a chunker needs beyond its context come from the program that runs the
  // pipeline: its types say so.
  const around = yield* Effect.context()
  const secrets = Context.get(services, Secrets)
  return {
    definition,
    services: services.pipe(
      Context.add(ExtensionsInUse, pipeline.extensions),
      Context.add(Connectors, makeConnectors(pipeline.connectors, { secrets, dataDir: host.dataDir }, around)),
      Context.add(Parsers, makeParsers(pipeline.extensions.parsers, { secrets }, around)),
      Context.add(Chunkers, makeChunkers(pipeline.extensions.chunkers, { secrets }, around))
    )
  }
})

/** Makes connectors of these definitions; `around` has the services they need beyond their context. */
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
          fix: "pass one when loading the pipeline"
        })
      )
    }
    const settings = source._tag === "own" ? source.settings : source
    // Decoded by the definition's own schema.
    return Effect.suspend(() => definition.connect(settings as never, context) as Effect.Effect<Connector, ServiceError | SecretError>)
      .pipe(
        Effect.provideContext(around),
        Effect.map(guarded),
        Effect.catchDefect((thrown) => Effect.fail(threw(definition.kind, "connect", thrown, "FAILED_PRECONDITION")))
      )
  }
})

/** Makes parsers of these definitions; `around` has the services they need beyond their context. */
export const makeParsers = (
  definitions: Readonly<Record<string, AnyParserDefinition>>,
  context: ParserContext,
  around: Context.Context<never> = Context.empty()
) => ({
  make: Effect.fnUntraced(function*({ kind, settings }: OwnParser): Effect.fn.Return<FileParser, ServiceError | SecretError> {
    const definition = definitions[kind] ?? (yield* notGiven("parser", kind))
    // Decoded by the definition's own schema.
    const made = definition.make(settings as never, context) as Effect.Effect<ParseFile, ServiceError | SecretError>
    const parse = yield* Effect.provideContext(made, around)
    return fileParser(definition, settings, (file) => Effect.provideContext(parse(file), around))
  })
})

/** Makes chunkers of these definitions; `around` has the services they need beyond their context. */
export const makeChunkers = (
  definitions: Readonly<Record<string, AnyChunkerDefinition>>,
  context: ParserContext,
  around: Context.Context<never> = Context.empty()
) => ({
  make: Effect.fnUntraced(function*({ kind, settings }: OwnChunker): Effect.fn.Return<Cutting, ServiceError | SecretError> {
    const definition = definitions[kind] ?? (yield* notGiven("chunker", kind))
    // Decoded by the definition's own schema.
    const made = definition.make(settings as never, context) as Effect.Effect<CutText, ServiceError | SecretError>
    const cut = yield* Effect.provideContext(made, around)
    return textChunker(definition, settings, (text) => Effect.provideContext(cut(text), around))
  })
})

const notGiven = (what: string, kind: string): ServiceError =>
  new ServiceError({ code: "UNIMPLEMENTED", message: `there is no ${what} ${kind} here`, fix: "pass it when loading the pipeline" })
