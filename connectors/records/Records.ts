import { Effect, Stream } from "effect"
import { hash } from "node:crypto"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { Metadata, Permissions } from "../../src/domain/RagFile.ts"
import { atMost } from "../../src/kit/Paged.ts"
import { redactText } from "../../src/domain/Redact.ts"
import type { Connector, Listed, SourceItem } from "../../src/ports/Connector.ts"

/** A document of the program. */
export interface RecordListed {
  /** Identity of the document, `/`-separated. Its ending tells the format, unless `mimeType` does: `articles/42.md`. */
  readonly path: string
  /** Changes whenever the content may have changed: a version, a timestamp, a hash. Equal revisions are not read again. */
  readonly revision: string | number | Date
  /** Address at which a person can open it. Default: `KIND:///PATH`. */
  readonly uri?: string
  /** Default: the path. */
  readonly displayName?: string
  readonly mimeType?: string
  /** Facts such as `title` and `author`, to filter by. */
  readonly metadata?: Metadata
  readonly permissions?: Permissions
}

/** Content of a document: text in UTF-8, or bytes, at once or piece by piece. */
export type RecordContent = string | Uint8Array | AsyncIterable<Uint8Array>

/** The documents of a program, wherever it keeps them. */
export interface RecordSource {
  /**
   * All documents. What is missing is deleted from the corpus, unless the listing throws. Nothing of it is kept in memory. `signal` aborts
   * once the rest is not wanted, as where the run is interrupted.
   */
  readonly list: (
    signal: AbortSignal
  ) => Iterable<RecordListed> | AsyncIterable<RecordListed> | Promise<Iterable<RecordListed> | AsyncIterable<RecordListed>>
  /** The content of a document that was listed; `undefined` or `null` where it is gone. */
  readonly read: (path: string, signal: AbortSignal) => RecordContent | undefined | null | Promise<RecordContent | undefined | null>
}

/** Milliseconds after which a read that has given nothing is given up. */
const longestRead = 120_000

/** The connector of {@link RecordSource}, or of contents by path. What its functions throw is `UNAVAILABLE`: the next run tries again. */
export const records = (kind: string, documents: RecordSource | ReadonlyMap<string, string | Uint8Array>): Connector => {
  const { list, read } = "list" in documents ? documents : ofMap(documents)
  const failure = (what: string) => (cause: unknown): ServiceError =>
    cause instanceof ServiceError ? cause : new ServiceError({
      code: "UNAVAILABLE",
      message: `${what} of source ${kind} failed: ${cause instanceof Error ? redactText(cause.message) : "it threw no Error"}`,
      fix: `see the function that the program gave to records("${kind}", ...)`
    })

  async function* listed(signal: AbortSignal): AsyncGenerator<Listed> {
    for await (const record of await list(signal)) {
      const item = itemOf(kind, record)
      yield item instanceof ServiceError ? { _tag: "failed", path: nameOf(record), error: item } : { _tag: "item", item }
    }
    yield { _tag: "complete" }
  }

  return {
    kind,
    check: Effect.void,
    list: () =>
      Stream.unwrap(
        Effect.map(Effect.abortSignal, (signal) => Stream.fromAsyncIterable(listed(signal), failure("the listing")))
      ).pipe(Stream.scoped),
    read: ({ path }, maxBytes) =>
      Stream.unwrap(
        Effect.tryPromise({ try: async (signal) => read(path, signal), catch: failure(`reading ${path}`) }).pipe(
          Effect.timeoutOrElse({
            duration: longestRead,
            orElse: () =>
              Effect.fail(
                new ServiceError({ code: "UNAVAILABLE", message: `reading ${path} of source ${kind} took longer than 2 minutes` })
              )
          }),
          Effect.flatMap((content) => {
            if (content === undefined || content === null) {
              return Effect.fail(new ServiceError({ code: "NOT_FOUND", message: `${path} of source ${kind} is gone` }))
            }
            if (typeof content === "string" || content instanceof Uint8Array) return Effect.succeed(Stream.make(bytesOf(content)))
            return Symbol.asyncIterator in Object(content)
              ? Effect.succeed(Stream.fromAsyncIterable(content, failure(`reading ${path}`)))
              : Effect.fail(
                new ServiceError({
                  code: "FAILED_PRECONDITION",
                  message: `reading ${path} of source ${kind} gave neither text nor bytes`,
                  fix: "give a text, a Uint8Array, or an async iterable of Uint8Array"
                })
              )
          })
        )
      ).pipe(atMost(maxBytes, path))
  }
}

const bytesOf = (content: string | Uint8Array): Uint8Array => typeof content === "string" ? new TextEncoder().encode(content) : content

const ofMap = (documents: ReadonlyMap<string, string | Uint8Array>): RecordSource => ({
  *list() {
    for (const [path, content] of documents) yield { path, revision: hash("sha256", bytesOf(content)) }
  },
  read: (path) => documents.get(path)
})

/** What names it in a report, whatever a program without types gave. */
const nameOf = (record: RecordListed): string => {
  const path: unknown = Object(record).path
  return typeof path === "string" && path !== "" ? path : "(no path)"
}

const itemOf = (kind: string, record: RecordListed): SourceItem | ServiceError => {
  const { displayName, metadata, mimeType, path, permissions, revision, uri }: RecordListed = Object(record)
  const wrong = !isPath(path)
    ? ["path", "must be names in NFC with / between them, such as articles/42.md"] as const
    : !isRevision(revision)
    ? ["revision", "must be a text, a number or a date that changes with the content"] as const
    : undefined
  if (wrong !== undefined) {
    return ServiceError.invalid(
      wrong[0],
      `${wrong[1]}; source ${kind} listed ${path === undefined ? "something without one" : JSON.stringify(path)}`
    )
  }
  return {
    path,
    uri: uri ?? `${kind}:///${path.split("/").map(encodeURIComponent).join("/")}`,
    displayName: displayName ?? path,
    revision: revision instanceof Date ? revision.toISOString() : String(revision),
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(permissions === undefined ? {} : { permissions })
  }
}

/** Whether a program without types gave a path too. */
const isPath = (path: unknown): boolean =>
  typeof path === "string" && path === path.normalize("NFC") && path.split("/").every((part) => !["", ".", ".."].includes(part.trim()))

const isRevision = (revision: unknown): boolean =>
  revision instanceof Date
    ? !Number.isNaN(revision.getTime())
    : typeof revision === "number"
    ? !Number.isNaN(revision)
    : typeof revision === "string" && revision !== ""
