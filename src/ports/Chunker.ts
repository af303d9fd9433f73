import type { Effect, Schema, SchemaAST } from "effect"
import type { TextSpan, TextToCut } from "../domain/Chunking.ts"
import type { DocumentError, SecretError, ServiceError } from "../domain/Errors.ts"
import { integer, withDefault } from "../domain/settings/Rules.ts"
import { type Definition, definitionOf, isDefinitionOf, settingsSchema, type Use } from "./Definition.ts"
import type { ParserContext } from "./Parser.ts"

/**
 * Cuts one document: returns the spans of its text that become chunks, in order. They may overlap; a chunk is always a
 * slice of the text, so that a quote can be found there. Fails as a parser does.
 */
export type CutText<out R = never> = (text: TextToCut) => Effect.Effect<ReadonlyArray<TextSpan>, DocumentError | ServiceError, R>

const common = {
  maxSeconds: withDefault(
    integer(1, 86_400).annotate({ description: "Most seconds for one document; past them its file fails, and the run continues." }),
    60
  )
}

/** Settings that every chunker has, in addition to its own. */
export type CommonChunkerSettings = Schema.Struct.Type<typeof common>

/**
 * A kind of chunker: its settings, and how it cuts. Called with settings as a file writes them, it returns a chunker for
 * `Pipeline.make`; exported from a module that a pipeline file names under `use`, that file can name it as
 * `chunking.chunker`.
 */
export interface ChunkerDefinition<Written = never, in Settings = never, out R = unknown>
  extends Definition<"Chunker", Written, Chunker<R>>
{
  /** Version of the chunker: files are cut again when it changes. */
  readonly version: string | number
  /** Schema of its settings, with their rules. */
  readonly settings: Schema.Codec<unknown, unknown>
  /** Settings that affect how documents are cut but not the resulting chunks. */
  readonly unversioned: ReadonlyArray<string>
  readonly make: (settings: Settings, context: ParserContext) => Effect.Effect<CutText<R>, ServiceError | SecretError, R>
}

/** A chunker definition whose settings' types are not known. */
export interface AnyChunkerDefinition extends ChunkerDefinition {}

/** A chunker of a pipeline: its definition and its settings. */
export interface Chunker<out R = never> extends Use<ChunkerDefinition<never, never, R>> {}

/** Whether a value is a {@link ChunkerDefinition}, from whichever copy of this package. */
export const isChunkerDefinition = isDefinitionOf<AnyChunkerDefinition>("Chunker")

/**
 * Defines a custom chunker, used in place of `chunking.strategy`, on the embedded engine.
 *
 * `fields` are its settings, each with a `description`; `maxSeconds` is added. `make` is called once per run, and the
 * function it returns once per document, several at a time, in the program's own process. Everything is cut again when
 * `version`, a setting, or the size or overlap of `chunking` changes.
 *
 * A span that is empty, blank, out of order, beyond the text, inside a character, or of more tokens than `chunking.size`
 * fails its file. Text that is in no chunk is counted in the report.
 *
 * @example
 * ```ts
 * export const turns = defineChunker({
 *   kind: "turns",
 *   description: "A chunk for each heading and what is below it.",
 *   version: 1,
 *   fields: {},
 *   make: () => Effect.succeed(({ blocks, text }) => Effect.succeed(sectionsOf(blocks, text.length)))
 * })
 * ```
 */
export const defineChunker = <const F extends Schema.Struct.Fields, R = never>(options: {
  /** Key under which a file writes it: letters, digits and `-`, starting with a letter. */
  readonly kind: string
  readonly description: string
  /** Version of its cuts: raise it when the same text would be cut differently. */
  readonly version: string | number
  /** Its settings. */
  readonly fields: F
  readonly rules?: ReadonlyArray<SchemaAST.Check<Schema.Struct.Type<F>>>
  /**
   * Settings that affect how documents are cut but not the resulting chunks, such as keys and rates: nothing is cut again
   * when they change.
   */
  readonly unversioned?: ReadonlyArray<keyof F & string>
  readonly make: (
    settings: Schema.Struct.Type<F>,
    context: ParserContext
  ) => Effect.Effect<CutText<R>, ServiceError | SecretError, R>
}): ChunkerDefinition<Schema.Struct.Encoded<F> & Schema.Struct.Encoded<typeof common>, Schema.Struct.Type<F>, R> => {
  const { description, fields, kind, make, rules, unversioned = [], version } = options
  return definitionOf<ReturnType<typeof defineChunker<F, R>>>("Chunker", {
    kind,
    version,
    settings: settingsSchema(fields, common, description, rules),
    unversioned,
    make
  })
}
