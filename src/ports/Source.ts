import type { Effect, Schema, SchemaAST } from "effect"
import type { HttpClient } from "effect/http"
import type { SecretError, ServiceError } from "../domain/Errors.ts"
import { poll, staging } from "../domain/sources/BuiltInSources.ts"
import type { Connector } from "./Connector.ts"
import { type Definition, definitionOf, isDefinitionOf, settingsSchema, type Use } from "./Definition.ts"
import type { Secrets } from "./Secrets.ts"

/** Context of connectors, in addition to their settings. */
export interface ConnectorContext {
  /** Resolves the secret versions that settings name. */
  readonly secrets: Secrets["Service"]
  /** The data directory, which is never listed as documents. */
  readonly dataDir?: string
  /** HTTP client that connectors share. Default: one for the process. */
  readonly http?: HttpClient.HttpClient
}

/**
 * A kind of source: its settings, and how a connector is made of them. Called with settings as a file writes them, it
 * returns a source for `Pipeline.make`; exported from a module that a pipeline file names under `use`, it adds its kind
 * to that file.
 */
export interface ConnectorDefinition<Written = never, in Settings = never, out R = unknown>
  extends Definition<"Connector", Written, Source<R>>
{
  /** Schema of its settings, with their rules: checked with line and column, and part of what `sluice schema` prints. */
  readonly settings: Schema.Codec<unknown, unknown>
  /** Settings that are paths, relative to the folder of the pipeline file. */
  readonly paths?: ReadonlyArray<string>
  readonly connect: (settings: Settings, context: ConnectorContext) => Effect.Effect<Connector, ServiceError | SecretError, R>
}

/** A connector definition whose settings' types are not known. */
export interface AnyConnectorDefinition extends ConnectorDefinition {}

/** A source of a pipeline: its definition and its settings. */
export interface Source<out R = never> extends Use<ConnectorDefinition<never, never, R>> {}

/** Whether a value is a {@link ConnectorDefinition}, from whichever copy of this package. */
export const isConnectorDefinition = isDefinitionOf<AnyConnectorDefinition>("Connector")

/** Makes a connector definition of a complete settings schema. */
export const connectorOf = <Written, Settings, R>(options: {
  readonly kind: string
  readonly settings: Schema.Codec<Settings, unknown>
  readonly connect: (settings: Settings, context: ConnectorContext) => Effect.Effect<Connector, ServiceError | SecretError, R>
  /** The setting that a bare string stands for: `local("./docs")` is `local({ path: "./docs" })`. */
  readonly shorthand?: string
  readonly paths?: ReadonlyArray<string>
}): ConnectorDefinition<Written, Settings, R> => {
  const { connect, kind, paths = [], settings, shorthand } = options
  return definitionOf<ConnectorDefinition<Written, Settings, R>>(
    "Connector",
    { kind, settings, paths, connect },
    (written) => typeof written === "string" && shorthand !== undefined ? { [shorthand]: written } : written
  )
}

/**
 * Defines a custom connector.
 *
 * `fields` are the settings of a source, each with a `description`; `poll` and `staging` are added. `rules` are checks
 * between fields. `connect` receives the decoded settings; it may need services of yours, which the program that runs the
 * pipeline then provides.
 *
 * @example
 * ```ts
 * export const rss = defineConnector({
 *   kind: "rss",
 *   description: "The entries of an RSS or Atom feed.",
 *   fields: { url: HttpUrl.annotate({ description: "The feed." }) },
 *   connect: ({ url }, { secrets }) => Effect.succeed(feedConnector(url))
 * })
 * ```
 */
export const defineConnector = <const F extends Schema.Struct.Fields, R = never>(options: {
  /** Key under which a file writes such a source: letters, digits and `-`, starting with a letter. */
  readonly kind: string
  readonly description: string
  readonly fields: F
  readonly rules?: ReadonlyArray<SchemaAST.Check<Schema.Struct.Type<F>>>
  /** The setting that a bare string stands for: `local("./docs")` is `local({ path: "./docs" })`. */
  readonly shorthand?: keyof F & string
  /** Settings that are paths, which a pipeline file writes relative to its own folder. */
  readonly paths?: ReadonlyArray<keyof F & string>
  readonly connect: (
    settings: Schema.Struct.Type<F>,
    context: ConnectorContext
  ) => Effect.Effect<Connector, ServiceError | SecretError, R>
}): ConnectorDefinition<Schema.Struct.Encoded<F> | string, Schema.Struct.Type<F>, R> => {
  const { connect, description, fields, kind, paths, rules, shorthand } = options
  return connectorOf({
    kind,
    settings: settingsSchema(fields, { poll, staging }, description, rules),
    connect,
    shorthand,
    paths
  })
}
