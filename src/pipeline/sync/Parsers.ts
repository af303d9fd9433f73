import { Duration, Effect } from "effect"
import { hash } from "node:crypto"
import type { Cutting } from "../../domain/Chunking.ts"
import { DocumentError, ServiceError } from "../../domain/Errors.ts"
import { redactText } from "../../domain/Redact.ts"
import type { AnyChunkerDefinition, CommonChunkerSettings, CutText } from "../../ports/Chunker.ts"
import type { SourceItem } from "../../ports/Connector.ts"
import type { AnyParserDefinition, CommonParserSettings, ParsedMarkdown, ParseFile } from "../../ports/Parser.ts"
import { brokenSpan, leftOut } from "../../text/chunk/Given.ts"

/** A custom parser of the pipeline, ready to read. */
export interface FileParser {
  readonly kind: string
  /** Identifies everything that determines its result for a file: changes when any of it does. */
  readonly signature: string
  /** Identifies that and which files it reads: a listing of changes alone would not show the other files. */
  readonly scans: string
  /** Most bytes of a file. Absent: the engine's limit. */
  readonly maxBytes: number | undefined
  readonly reads: (item: Pick<SourceItem, "displayName" | "mimeType" | "path">) => boolean
  /** Reads a file: returns the Markdown that replaces its bytes. */
  readonly read: (item: SourceItem, content: Uint8Array) => Effect.Effect<MadeMarkdown, DocumentError | ServiceError>
}

/** Markdown made by a parser, as a file. */
export interface MadeMarkdown {
  readonly content: Uint8Array
  readonly name: string
  readonly mimeType: string
  readonly remark: string | undefined
}

type Own = Pick<AnyParserDefinition, "kind" | "unversioned" | "version">

/** Wraps a parser made with these settings. */
export const fileParser = (
  definition: Own,
  { extensions, maxBytes, maxSeconds, mimeTypes, ...own }: CommonParserSettings,
  parse: ParseFile
): FileParser => {
  const ends = extensions.map((extension) => `.${extension.toLowerCase()}`)
  const types = new Set(mimeTypes.map((type) => type.toLowerCase()))
  const signature = signatureOf(definition, own)
  const called = `parser ${definition.kind}`
  const fails = (problem: DocumentError["problem"], message: string) => Effect.fail(failure(called, problem, message))
  return {
    kind: definition.kind,
    maxBytes,
    signature,
    scans: JSON.stringify([signature, ends, [...types]]),
    reads: ({ displayName, mimeType, path }) =>
      ends.some((end) => path.toLowerCase().endsWith(end) || displayName.toLowerCase().endsWith(end)) ||
      (mimeType !== undefined && types.has((mimeType.split(";", 1)[0] ?? "").trim().toLowerCase())),
    read: (item, content) =>
      bounded(
        called,
        maxSeconds,
        Effect.suspend(() => parse({ content, path: item.path, mimeType: item.mimeType })),
        (parsed) => {
          const { markdown, remark }: Partial<ParsedMarkdown> = typeof parsed === "string" ? { markdown: parsed } : parsed ?? {}
          if (typeof markdown !== "string") return fails("crash", "it returned no Markdown")
          if (markdown.trim() === "") return fails("empty", "there is no text in it")
          return Effect.succeed({ content: new TextEncoder().encode(markdown), name: "made.md", mimeType: "text/markdown", remark })
        }
      )
  }
}

/** Wraps a chunker made with these settings. */
export const textChunker = (
  definition: Pick<AnyChunkerDefinition, keyof Own>,
  { maxSeconds, ...own }: CommonChunkerSettings,
  cut: CutText
): Cutting => {
  const { kind } = definition
  const called = `chunker ${kind}`
  const fails = (message: string) => Effect.fail(failure(called, "crash", message))
  return {
    kind,
    signature: signatureOf(definition, own),
    cut: (document) =>
      bounded(called, maxSeconds, Effect.suspend(() => cut(document)), (spans) => {
        if (!Array.isArray(spans)) return fails("it returned no list of spans")
        const { size, text, tokens } = document
        const broken = brokenSpan(text, spans)
        if (broken !== undefined) return fails(broken)
        const large = spans.findIndex(({ end, start }) => tokens(start, end) > size)
        if (large >= 0) return fails(`chunk ${large + 1} has more tokens than the ${size} of chunking.size`)
        return Effect.succeed({ spans, left: leftOut(text, spans) })
      })
  }
}

/** Hash of a kind, its version and the settings that its result depends on. */
const signatureOf = ({ kind, unversioned, version }: Own, settings: object): string => {
  const versioned = Object.entries(settings).filter(([field]) => !unversioned.includes(field)).sort(([a], [b]) => a < b ? -1 : 1)
  return hash("sha256", JSON.stringify([kind, version, versioned]), "hex").slice(0, 32)
}

const failure = (called: string, problem: DocumentError["problem"], message: string): DocumentError =>
  new DocumentError({ problem, message: `${called}: ${message}` })

/** Runs custom code on one file: whatever it does, short of blocking the thread, affects only that file. */
const bounded = <A, B>(
  called: string,
  maxSeconds: number,
  work: Effect.Effect<A, DocumentError | ServiceError>,
  use: (result: A) => Effect.Effect<B, DocumentError>
): Effect.Effect<B, DocumentError | ServiceError> =>
  work.pipe(
    // Custom code written in JavaScript may fail with anything.
    Effect.mapError((error: Partial<DocumentError> | ServiceError) =>
      error instanceof ServiceError
        ? error.with({ message: `${called}: ${error.message}` })
        : failure(called, error.problem ?? "crash", error.message ?? "it failed with a value that is not an error")
    ),
    Effect.timeoutOrElse({
      duration: Duration.seconds(maxSeconds),
      orElse: () => Effect.fail(failure(called, "timeout", `took more than ${maxSeconds} s`))
    }),
    Effect.flatMap(use),
    Effect.catchDefect((thrown) =>
      Effect.fail(failure(called, "crash", thrown instanceof Error ? redactText(thrown.message) : "it threw a value that is not an error"))
    )
  )
