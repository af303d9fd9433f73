import { type Effect, Schema, type SchemaAST } from "effect"
import type { HttpClient } from "effect/http"
import type { DocumentError, SecretError, ServiceError } from "../domain/Errors.ts"
import { ByteSize } from "../domain/settings/Quantities.ts"
import { integer, matches, rule, withDefault } from "../domain/settings/Rules.ts"
import type { Secrets } from "./Secrets.ts"

/** A file that a parser is given. */
export interface FileToParse {
  readonly content: Uint8Array
  /** Its path within the source, `/`-separated. */
  readonly path: string
  /** As the source tells it, where it does. */
  readonly mimeType?: string | undefined
}

/** What a parser made of a file, in Markdown. Front matter is what the document says of itself, for rules of `metadata`. */
export interface ParsedMarkdown {
  readonly markdown: string
  /** What of the file could not be read, in a sentence that the report has. */
  readonly remark?: string | undefined
}

/**
 * Reads one file; a string is its Markdown. Fails with `DocumentError` for what the file is (`unsupported`, `empty` and
 * `limit` skip it, others quarantine it until the file or the parser changes), and with `ServiceError` for a service that
 * is asked: one that may pass is tried again by the next run.
 */
export type ParseFile<out R = never> = (file: FileToParse) => Effect.Effect<string | ParsedMarkdown, DocumentError | ServiceError, R>

/** What parsers and chunkers are told besides their own settings. */
export interface ParserContext {
  /** Resolves the secret versions that settings name. */
  readonly secrets: Secrets["Service"]
  /** The HTTP client of every connector, parser and chunker. Default: one of their own for the process. */
  readonly http?: HttpClient.HttpClient | undefined
}

/** Which files a parser reads, and what one of them may take. */
const common = (defaults: ParserDefaults) => ({
  extensions: withDefault(
    Schema.Array(
      Schema.String.check(matches(/^[^./\\\s][^/\\\s]*$/, {
        rule: "must be the end of a file's name after a dot, and not the dot",
        fix: "write for example jsonl, or call.jsonl"
      }))
    ).annotate({ description: "Files whose names end so are read by it, in small letters or capitals." }),
    defaults.extensions ?? []
  ),
  mimeTypes: withDefault(
    Schema.Array(Schema.String).annotate({ description: "Files that their source tells to be of these types are read by it." }),
    defaults.mimeTypes ?? []
  ),
  maxSeconds: withDefault(
    integer(1, 86_400).annotate({ description: "Seconds that one file may take; then it fails, and the rest goes on." }),
    defaults.maxSeconds ?? 60
  ),
  maxBytes: Schema.optionalKey(
    ByteSize.pipe(Schema.annotateEncoded({ description: "Larger files are skipped. Unset: the engine's own limit of a file." }))
  )
})

interface ParserDefaults {
  /** Ends of file names that it reads, without the first dot: `["vsdx"]`, `["call.jsonl"]`. A file may choose others. */
  readonly extensions?: ReadonlyArray<string>
  /** Types that it reads, where the source tells them. A file may choose others. */
  readonly mimeTypes?: ReadonlyArray<string>
  /** Seconds that one file may take. Default 60; a file may choose others. */
  readonly maxSeconds?: number
}

/** What every parser's settings have beside its own. */
export type CommonParserSettings = Schema.Struct.Type<ReturnType<typeof common>>

/**
 * A kind of parser: which files it reads, what a pipeline may say of it, and how it reads them. Called with settings as a
 * file writes them it gives a parser for `Pipeline.make`; exported from a module that a pipeline file names under `use`,
 * that file may name it under `parsers`.
 */
export interface ParserDefinition<Written = never, in Settings = never, out R = unknown> {
  (settings: Written): Parser<R>
  readonly [parserDefinition]: true
  /** The key under which a file writes it. */
  readonly kind: string
  /** Files are read again when it changes. */
  readonly version: string | number
  /** What may be said of one, with its rules. */
  readonly settings: Schema.Codec<unknown, unknown>
  /** Fields that say how files are read, and not what comes of it. */
  readonly unversioned: ReadonlyArray<string>
  readonly make: (settings: Settings, context: ParserContext) => Effect.Effect<ParseFile<R>, ServiceError | SecretError, R>
}

/** A definition of which only the kind is known. */
export interface AnyParserDefinition extends ParserDefinition {}

/** A parser of a pipeline: its kind, and what is said of it. */
export interface Parser<out R = never> {
  readonly definition: ParserDefinition<never, never, R>
  /** As a file writes it. */
  readonly settings: unknown
}

const parserDefinition: unique symbol = Symbol.for("sluice/ParserDefinition") as never // by name: a module may have its own copy of this package

/** Whether a value is a {@link ParserDefinition}, of whichever copy of this package. */
export const isParserDefinition = (value: unknown): value is AnyParserDefinition => typeof value === "function" && parserDefinition in value

/**
 * A parser of one's own, for files that Sluice does not read, or reads otherwise than you want. It takes the place of the
 * built-in parsers for the files that it names.
 *
 * `fields` is what may be said of it, each with a `description`; `extensions`, `mimeTypes`, `maxSeconds` and `maxBytes`
 * are added. `make` is called once for a run, and what it gives once for each file, several at a time. A file is read
 * again when it changes, or `version` or a field does, and at no other time.
 *
 * It runs in the program's own process, where the services are that it may need: what waits is ended after `maxSeconds`,
 * but a computation that never lets go of the thread holds all. Give one that may to a worker or a child process.
 *
 * @example
 * ```ts
 * export const calls = defineParser({
 *   kind: "calls",
 *   description: "Transcripts of calls.",
 *   version: 1,
 *   extensions: ["call.jsonl"],
 *   fields: { speakers: Schema.optionalKey(Schema.Boolean.annotate({ description: "Whether it says who speaks." })) },
 *   make: ({ speakers }) => Effect.succeed(({ content }) => Effect.succeed(markdownOf(content, speakers)))
 * })
 * ```
 */
export const defineParser = <const F extends Schema.Struct.Fields, R = never>(
  options: ParserDefaults & {
    /** The key under which a file writes it: letters and digits, beginning with a letter. */
    readonly kind: string
    readonly description: string
    /** Of what it makes of a file: raise it when the same file would come out otherwise. */
    readonly version: string | number
    /** What may be said of it. */
    readonly fields: F
    readonly rules?: ReadonlyArray<SchemaAST.Check<Schema.Struct.Type<F>>>
    /** Fields that say how files are read, and not what comes of it, such as keys and rates: nothing is read again for them. */
    readonly unversioned?: ReadonlyArray<keyof F & string>
    readonly make: (
      settings: Schema.Struct.Type<F>,
      context: ParserContext
    ) => Effect.Effect<ParseFile<R>, ServiceError | SecretError, R>
  }
): ParserDefinition<Schema.Struct.Encoded<F> & Schema.Struct.Encoded<ReturnType<typeof common>>, Schema.Struct.Type<F>, R> => {
  const { description, fields, kind, make, rules = [], unversioned = [], version } = options
  const checks = rules as ReadonlyArray<SchemaAST.Check<unknown>> // of the fields, which are all there
  const settings = Schema.Struct({ ...fields, ...common(options) }).check(
    rule<CommonParserSettings>(({ extensions, mimeTypes }) => extensions.length + mimeTypes.length > 0, {
      rule: "says of no file that it reads it",
      fix: "give extensions or mimeTypes"
    }) as SchemaAST.Check<unknown>,
    ...checks
  ).annotate({ description })
  const definition: ReturnType<typeof defineParser<F, R>> = Object.assign(
    (written: Parameters<ReturnType<typeof defineParser<F, R>>>[0]): Parser<R> => ({ definition, settings: written }),
    {
      [parserDefinition]: true as const,
      kind,
      version,
      settings: settings as unknown as Schema.Codec<Schema.Struct.Type<F>, unknown>,
      unversioned,
      make
    }
  )
  return definition
}
