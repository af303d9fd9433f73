import { type Effect, Schema, type SchemaAST } from "effect"
import type { TextSpan, TextToCut } from "../domain/Chunking.ts"
import type { DocumentError, SecretError, ServiceError } from "../domain/Errors.ts"
import { integer, withDefault } from "../domain/settings/Rules.ts"
import type { ParserContext } from "./Parser.ts"

/**
 * Cuts one document: the stretches of its text that become chunks, in order. They may overlap; a chunk is always a slice
 * of the text, so that what is cited stands there. Fails as a parser does.
 */
export type CutText<out R = never> = (text: TextToCut) => Effect.Effect<ReadonlyArray<TextSpan>, DocumentError | ServiceError, R>

const common = {
  maxSeconds: withDefault(
    integer(1, 86_400).annotate({ description: "Seconds that one document may take; then its file fails, and the rest goes on." }),
    60
  )
}

/** What every chunker's settings have beside its own. */
export type CommonChunkerSettings = Schema.Struct.Type<typeof common>

/**
 * A kind of chunker: what a pipeline may say of it, and how it cuts. Called with settings as a file writes them it gives a
 * chunker for `Pipeline.make`; exported from a module that a pipeline file names under `use`, that file may name it as
 * `chunking.chunker`.
 */
export interface ChunkerDefinition<Written = never, in Settings = never, out R = unknown> {
  (settings: Written): Chunker<R>
  readonly [chunkerDefinition]: true
  /** The key under which a file writes it. */
  readonly kind: string
  /** Files are cut again when it changes. */
  readonly version: string | number
  /** What may be said of one, with its rules. */
  readonly settings: Schema.Codec<unknown, unknown>
  /** Fields that say how documents are cut, and not what comes of it. */
  readonly unversioned: ReadonlyArray<string>
  readonly make: (settings: Settings, context: ParserContext) => Effect.Effect<CutText<R>, ServiceError | SecretError, R>
}

/** A definition of which only the kind is known. */
export interface AnyChunkerDefinition extends ChunkerDefinition {}

/** A chunker of a pipeline: its kind, and what is said of it. */
export interface Chunker<out R = never> {
  readonly definition: ChunkerDefinition<never, never, R>
  /** As a file writes it. */
  readonly settings: unknown
}

const chunkerDefinition: unique symbol = Symbol.for("sluice/ChunkerDefinition") as never // by name: a module may have its own copy of this package

/** Whether a value is a {@link ChunkerDefinition}, of whichever copy of this package. */
export const isChunkerDefinition = (value: unknown): value is AnyChunkerDefinition =>
  typeof value === "function" && chunkerDefinition in value

/**
 * A chunker of one's own, in the place of `chunking.strategy`, on the embedded engine.
 *
 * `fields` is what may be said of it, each with a `description`; `maxSeconds` is added. `make` is called once for a run,
 * and what it gives once for each document, several at a time, in the program's own process. Everything is cut again when
 * `version`, a field, or the size or overlap of `chunking` changes.
 *
 * A span that is empty, blank, out of order, beyond the text, inside a character, or of more tokens than `chunking.size`
 * fails its file. Text that no chunk has is counted, and the report says so.
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
  /** The key under which a file writes it: letters and digits, beginning with a letter. */
  readonly kind: string
  readonly description: string
  /** Of where it cuts: raise it when the same text would be cut otherwise. */
  readonly version: string | number
  /** What may be said of it. */
  readonly fields: F
  readonly rules?: ReadonlyArray<SchemaAST.Check<Schema.Struct.Type<F>>>
  /** Fields that say how documents are cut, and not what comes of it, such as keys and rates: nothing is cut again for them. */
  readonly unversioned?: ReadonlyArray<keyof F & string>
  readonly make: (
    settings: Schema.Struct.Type<F>,
    context: ParserContext
  ) => Effect.Effect<CutText<R>, ServiceError | SecretError, R>
}): ChunkerDefinition<Schema.Struct.Encoded<F> & Schema.Struct.Encoded<typeof common>, Schema.Struct.Type<F>, R> => {
  const { description, fields, kind, make, rules = [], unversioned = [], version } = options
  const struct = Schema.Struct({ ...fields, ...common }).annotate({ description })
  const [first, ...rest] = rules as ReadonlyArray<SchemaAST.Check<unknown>> // of the fields, which are all there
  const settings = first === undefined ? struct : struct.check(first, ...rest)
  const definition: ReturnType<typeof defineChunker<F, R>> = Object.assign(
    (written: Parameters<ReturnType<typeof defineChunker<F, R>>>[0]): Chunker<R> => ({ definition, settings: written }),
    {
      [chunkerDefinition]: true as const,
      kind,
      version,
      settings: settings as unknown as Schema.Codec<Schema.Struct.Type<F>, unknown>,
      unversioned,
      make
    }
  )
  return definition
}
