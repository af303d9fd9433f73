import { Duration, Effect } from "effect"
import { hash } from "node:crypto"
import { DocumentError, ServiceError } from "../../domain/Errors.ts"
import type { SourceItem } from "../../ports/Connector.ts"
import type { AnyParserDefinition, CommonParserSettings, ParsedMarkdown, ParseFile } from "../../ports/Parser.ts"

/** A parser of the pipeline's own, ready to read. */
export interface FileParser {
  readonly kind: string
  /** All that decides what it makes of a file, in words that change when it does. */
  readonly signature: string
  /** That, and which files it reads: a listing of changes alone does not tell of the others. */
  readonly scans: string
  /** Bytes of a file. Absent: as the engine has it. */
  readonly maxBytes: number | undefined
  readonly reads: (item: Pick<SourceItem, "displayName" | "mimeType" | "path">) => boolean
  /** What is put in the place of the file's bytes. */
  readonly read: (item: SourceItem, content: Uint8Array) => Effect.Effect<MadeMarkdown, DocumentError | ServiceError>
}

/** Markdown that a parser made, as a file. */
export interface MadeMarkdown {
  readonly content: Uint8Array
  readonly name: string
  readonly mimeType: string
  readonly remark: string | undefined
}

/** A parser with its settings, which has been made. */
export const fileParser = (
  { kind, unversioned, version }: Pick<AnyParserDefinition, "kind" | "unversioned" | "version">,
  settings: CommonParserSettings,
  parse: ParseFile
): FileParser => {
  const { extensions, maxBytes, maxSeconds, mimeTypes, ...own } = settings
  const ends = extensions.map((extension) => `.${extension.toLowerCase()}`)
  const types = new Set(mimeTypes.map((type) => type.toLowerCase()))
  const versioned = Object.entries(own).filter(([field]) => !unversioned.includes(field)).sort(([a], [b]) => a < b ? -1 : 1)
  const signature = hash("sha256", JSON.stringify([kind, version, versioned]), "hex").slice(0, 32)
  const failed = (problem: DocumentError["problem"], message: string) =>
    new DocumentError({ problem, message: `parser ${kind}: ${message}` })
  return {
    kind,
    maxBytes,
    signature,
    scans: JSON.stringify([signature, ends, [...types]]),
    reads: ({ displayName, mimeType, path }) =>
      ends.some((end) => path.toLowerCase().endsWith(end) || displayName.toLowerCase().endsWith(end)) ||
      (mimeType !== undefined && types.has((mimeType.split(";", 1)[0] ?? "").trim().toLowerCase())),
    read: (item, content) =>
      Effect.suspend(() => parse({ content, path: item.path, mimeType: item.mimeType })).pipe(
        // Whoever wrote it in JavaScript may fail with anything.
        Effect.mapError((error: Partial<DocumentError> | ServiceError) =>
          error instanceof ServiceError
            ? error.with({ message: `parser ${kind}: ${error.message}` })
            : failed(error.problem ?? "crash", error.message ?? "it failed with what is no error")
        ),
        Effect.timeoutOrElse({
          duration: Duration.seconds(maxSeconds),
          orElse: () => Effect.fail(failed("timeout", `took more than ${maxSeconds} s`))
        }),
        Effect.flatMap((parsed) => {
          const { markdown, remark }: Partial<ParsedMarkdown> = typeof parsed === "string" ? { markdown: parsed } : parsed ?? {}
          if (typeof markdown !== "string") return Effect.fail(failed("crash", "it gave no Markdown"))
          if (markdown.trim() === "") return Effect.fail(failed("empty", "there is no text in it"))
          return Effect.succeed({ content: new TextEncoder().encode(markdown), name: "made.md", mimeType: "text/markdown", remark })
        }),
        Effect.catchDefect((thrown) => Effect.fail(failed("crash", thrown instanceof Error ? thrown.message : "it threw what is no error")))
      )
  }
}
