import { type Effect, Schema, type SchemaAST } from "effect"
import type { HttpClient } from "effect/http"
import type { DocumentError, SecretError, ServiceError } from "../domain/Errors.ts"
import { ByteSize } from "../domain/settings/Quantities.ts"
import { integer, matches, rule, withDefault } from "../domain/settings/Rules.ts"
import { type Definition, definitionOf, isDefinitionOf, type Use } from "./Definition.ts"
import type { Secrets } from "./Secrets.ts"

/** A file for a parser to read. */
export interface FileToParse {
  readonly content: Uint8Array
  /** Its path within the source, `/`-separated. */
  readonly path: string
  /** MIME type, where the source states it. */
  readonly mimeType?: string | undefined
}

/** A parsed file, in Markdown. Front matter holds the document's own properties, for rules of `metadata`. */
export interface ParsedMarkdown {
  readonly markdown: string
  /** What could not be read of the file, as a sentence for the report. */
  readonly remark?: string | undefined
}

/**
 * Reads one file; a returned string is its Markdown. Fails with `DocumentError` for problems of the file (`unsupported`,
 * `empty` and `limit` skip it, others quarantine it until the file or the parser changes), and with `ServiceError` for
 * problems of a service that is called: the next run retries transient ones.
 */
export type ParseFile<out R = never> = (file: FileToParse) => Effect.Effect<string | ParsedMarkdown, DocumentError | ServiceError, R>

/** Context of parsers and chunkers, in addition to their settings. */
export interface ParserContext {
  /** Resolves the secret versions that settings name. */
  readonly secrets: Secrets["Service"]
  /** HTTP client that connectors, parsers and chunkers share. Default: one for the process. */
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
    ).annotate({ description: "File names with these endings are read by this parser; case does not matter." }),
    defaults.extensions ?? []
  ),
  mimeTypes: withDefault(
    Schema.Array(Schema.String).annotate({ description: "Files whose source states one of these MIME types are read by this parser." }),
    defaults.mimeTypes ?? []
  ),
  maxSeconds: withDefault(
    integer(1, 86_400).annotate({ description: "Most seconds for one file; past them it fails, and the run continues." }),
    defaults.maxSeconds ?? 60
  ),
  maxBytes: Schema.optionalKey(
    ByteSize.pipe(Schema.annotateEncoded({ description: "Larger files are skipped. Unset: the engine's own limit of a file." }))
  )
})

interface ParserDefaults {
  /** Endings of the file names it reads, without the first dot: `["vsdx"]`, `["call.jsonl"]`. A pipeline file can choose others. */
  readonly extensions?: ReadonlyArray<string>
  /** MIME types it reads, where the source states them. A pipeline file can choose others. */
  readonly mimeTypes?: ReadonlyArray<string>
  /** Most seconds for one file. Default 60; a pipeline file can choose another number. */
  readonly maxSeconds?: number
}

/** Settings that every parser has, in addition to its own. */
export type CommonParserSettings = Schema.Struct.Type<ReturnType<typeof common>>

/**
 * A kind of parser: which files it reads, its settings, and how it reads. Called with settings as a file writes them, it
 * returns a parser for `Pipeline.make`; exported from a module that a pipeline file names under `use`, that file can name
 * it under `parsers`.
 */
export interface ParserDefinition<Written = never, in Settings = never, out R = unknown> extends Definition<"Parser", Written, Parser<R>> {
  /** Version of the parser: files are read again when it changes. */
  readonly version: string | number
  /** Schema of its settings, with their rules. */
  readonly settings: Schema.Codec<unknown, unknown>
  /** Settings that affect how files are read but not the result. */
  readonly unversioned: ReadonlyArray<string>
  readonly make: (settings: Settings, context: ParserContext) => Effect.Effect<ParseFile<R>, ServiceError | SecretError, R>
}

/** A parser definition whose settings' types are not known. */
export interface AnyParserDefinition extends ParserDefinition {}

/** A parser of a pipeline: its definition and its settings. */
export interface Parser<out R = never> extends Use<ParserDefinition<never, never, R>> {}

/** Whether a value is a {@link ParserDefinition}, from whichever copy of this package. */
export const isParserDefinition = isDefinitionOf<AnyParserDefinition>("Parser")

/**
 * Defines a custom parser, for files that Sluice does not read, or does not read as you want. It replaces the built-in
 * parsers for the files it names.
 *
 * `fields` are its settings, each with a `description`; `extensions`, `mimeTypes`, `maxSeconds` and `maxBytes` are added.
 * `make` is called once per run, and the function it returns once per file, several at a time. A file is read again only
 * when the file, `version` or a setting changes.
 *
 * It runs in the program's own process, with access to its services: waiting ends after `maxSeconds`, but a computation
 * that never yields blocks the whole process. Run one that might in a worker or a child process.
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
    /** Key under which a file writes it: letters, digits and `-`, starting with a letter. */
    readonly kind: string
    readonly description: string
    /** Version of its results: raise it when the same file would come out differently. */
    readonly version: string | number
    /** Its settings. */
    readonly fields: F
    readonly rules?: ReadonlyArray<SchemaAST.Check<Schema.Struct.Type<F>>>
    /** Settings that affect how files are read but not the result, such as keys and rates: nothing is read again when they change. */
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
      rule: "names no files that it reads",
      fix: "give extensions or mimeTypes"
    }) as SchemaAST.Check<unknown>,
    ...checks
  ).annotate({ description })
  return definitionOf<ReturnType<typeof defineParser<F, R>>>("Parser", {
    kind,
    version,
    settings: settings as unknown as Schema.Codec<Schema.Struct.Type<F>, unknown>,
    unversioned,
    make
  })
}
