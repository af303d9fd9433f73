import { type Effect, Schema, type SchemaAST } from "effect"
import type { HttpClient } from "effect/http"
import type { SecretError, ServiceError } from "../domain/Errors.ts"
import { poll, staging } from "../domain/sources/BuiltInSources.ts"
import type { Connector } from "./Connector.ts"
import type { Secrets } from "./Secrets.ts"

/** What connectors are told besides their own settings. */
export interface ConnectorContext {
  /** Resolves the secret versions that settings name. */
  readonly secrets: Secrets["Service"]
  /** Never listed as documents. */
  readonly dataDir?: string
  /** The HTTP client of every connector. Default: one of their own for the process. */
  readonly http?: HttpClient.HttpClient
}

/**
 * A kind of source: what a pipeline may say of one, and how a connector is made of it. Called with settings as a file
 * writes them it gives a source for `Pipeline.make`; exported from a module that a pipeline file names under `use`, it
 * adds its kind to that file.
 */
export interface ConnectorDefinition<Written = never, in Settings = never, out R = unknown> {
  (settings: Written): Source<R>
  readonly [connectorDefinition]: true
  /** The key under which a file writes such a source. */
  readonly kind: string
  /** What may be said of one, with its rules: checked with line and column, and part of what `sluice schema` prints. */
  readonly settings: Schema.Codec<unknown, unknown>
  /** Fields that are paths, relative to the folder of the pipeline file. */
  readonly paths?: ReadonlyArray<string>
  readonly connect: (settings: Settings, context: ConnectorContext) => Effect.Effect<Connector, ServiceError | SecretError, R>
}

/** A definition of which only the kind is known. */
export interface AnyConnectorDefinition extends ConnectorDefinition {}

/** A source of a pipeline: its kind, and what is said of it. */
export interface Source<out R = never> {
  readonly definition: ConnectorDefinition<never, never, R>
  /** As a file writes it. */
  readonly settings: unknown
}

const connectorDefinition: unique symbol = Symbol.for("sluice/ConnectorDefinition") as never // by name: a module may have its own copy of this package

/** Whether a value is a {@link ConnectorDefinition}, of whichever copy of this package. */
export const isConnectorDefinition = (value: unknown): value is AnyConnectorDefinition =>
  typeof value === "function" && connectorDefinition in value

/** Makes a definition of settings that are checked already. */
export const connectorOf = <Written, Settings, R>(options: {
  readonly kind: string
  readonly settings: Schema.Codec<Settings, unknown>
  readonly connect: (settings: Settings, context: ConnectorContext) => Effect.Effect<Connector, ServiceError | SecretError, R>
  /** The field that text alone stands for: `local("./docs")` is `local({ path: "./docs" })`. */
  readonly shorthand?: string
  readonly paths?: ReadonlyArray<string>
}): ConnectorDefinition<Written, Settings, R> => {
  const definition: ConnectorDefinition<Written, Settings, R> = Object.assign(
    (written: Written): Source<R> => ({
      definition,
      settings: typeof written === "string" && options.shorthand !== undefined ? { [options.shorthand]: written } : written
    }),
    {
      [connectorDefinition]: true as const,
      kind: options.kind,
      settings: options.settings,
      paths: options.paths ?? [],
      connect: options.connect
    }
  )
  return definition
}

/**
 * A connector of one's own.
 *
 * `fields` is what may be said of a source, each with a `description`; `poll` and `staging` are added. `rules` are
 * checks between fields. `connect` is given the decoded settings; it may need services of yours, which the program that
 * runs the pipeline then provides.
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
  /** The key under which a file writes such a source: letters and digits, beginning with a letter. */
  readonly kind: string
  readonly description: string
  readonly fields: F
  readonly rules?: ReadonlyArray<SchemaAST.Check<Schema.Struct.Type<F>>>
  /** The field that text alone stands for: `local("./docs")` is `local({ path: "./docs" })`. */
  readonly shorthand?: keyof F & string
  /** Fields that are paths, which a pipeline file writes relative to its own folder. */
  readonly paths?: ReadonlyArray<keyof F & string>
  readonly connect: (
    settings: Schema.Struct.Type<F>,
    context: ConnectorContext
  ) => Effect.Effect<Connector, ServiceError | SecretError, R>
}): ConnectorDefinition<Schema.Struct.Encoded<F> | string, Schema.Struct.Type<F>, R> => {
  const struct = Schema.Struct({ ...options.fields, poll, staging }).annotate({ description: options.description })
  const checks = (options.rules ?? []) as ReadonlyArray<SchemaAST.Check<unknown>> // of the fields, which are all there
  const [first, ...rest] = checks
  return connectorOf({
    kind: options.kind,
    settings: (first === undefined ? struct : struct.check(first, ...rest)) as unknown as Schema.Codec<Schema.Struct.Type<F>, unknown>,
    connect: options.connect,
    shorthand: options.shorthand,
    paths: options.paths
  })
}
