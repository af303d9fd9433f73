import { Effect } from "effect"
import { createHash } from "node:crypto"
import { readFile, stat } from "node:fs/promises"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import type { Answer, Citation } from "../../domain/Answer.ts"
import { defaultLimits, type Located, type Locating } from "../../text/Prepared.ts"
import { TextPool } from "../../text/TextPool.ts"

/** Most bytes of a file that is read again for a citation: an answer does not wait for a larger one. */
const maxBytes = 16 * 1024 * 1024
/** Most bytes searched in this thread, which takes some 10 ms; larger files go to a process of the text pool. */
const hereBytes = 32 * 1024

/**
 * Gives citations of local files offsets into the file itself, where it is text and still has the quote at that place.
 * All others keep their span of the parsed text.
 */
export const withFileOffsets = Effect.fn("stage.generate.offsets")(function*(answer: Answer) {
  const cited = [...answer.citations, ...answer.nearest ?? []]
  const uris = new Set(
    cited.flatMap(({ byteStart, sourceUri }) => (byteStart === undefined || !sourceUri.startsWith("file:") ? [] : [sourceUri]))
  )
  if (uris.size === 0) return answer
  const moved = new Map<Citation, Citation>()
  yield* Effect.forEach(uris, (uri) => locate(uri, cited.filter(({ sourceUri }) => sourceUri === uri), moved), {
    concurrency: 4,
    discard: true
  })
  const placed = (citations: ReadonlyArray<Citation>): ReadonlyArray<Citation> => citations.map((one) => moved.get(one) ?? one)
  return {
    ...answer,
    citations: placed(answer.citations),
    ...(answer.nearest === undefined ? {} : { nearest: placed(answer.nearest) })
  }
})

type Span = Located["spans"][number]

/**
 * Spans found for quotes, by the content of their file, least recently used first: searching a file of 1 MiB takes most
 * of a second. Shared by the whole process, as content is the same in every pipeline.
 */
const found = new Map<string, Span>()
const mostFound = 4096

const remember = (key: string, span: Span): void => {
  found.delete(key)
  found.set(key, span)
  if (found.size > mostFound) found.delete(found.keys().next().value!)
}

/** Adds the spans found for the citations of one file. A file that is gone, changed or unreadable does not fail the answer. */
const locate = (uri: string, citations: ReadonlyArray<Citation>, moved: Map<Citation, Citation>) =>
  Effect.gen(function*() {
    const content = yield* Effect.tryPromise(() => contentOf(uri))
    if (content === undefined) return
    const name = basename(fileURLToPath(uri))
    const digest = createHash("sha256").update(content)
    const quotes = citations.map(({ byteEnd = 0, byteStart = 0, quote }) => ({ byteStart, byteEnd, quote }))
    const keys = quotes.map((quote) => digest.copy().update(JSON.stringify([name, quote])).digest("base64"))
    const missing = quotes.filter((_, at) => !found.has(keys[at]!))
    if (missing.length > 0) {
      const locating = { content, name, quotes: missing }
      const { spans } = content.byteLength <= hereBytes
        ? yield* Effect.tryPromise(() => locateHere(locating))
        : yield* (yield* TextPool).locate(locating)
      missing.forEach((quote, at) => remember(keys[quotes.indexOf(quote)]!, spans[at]))
    }
    const spans = keys.map((key) => found.get(key))
    keys.forEach((key, at) => remember(key, spans[at]))
    citations.forEach((citation, at) => {
      const span = spans[at]
      if (span !== undefined) moved.set(citation, { ...citation, ...span, offsets: "file" })
    })
  }).pipe(Effect.ignore)

const contentOf = async (uri: string): Promise<Uint8Array | undefined> => {
  const path = fileURLToPath(uri)
  const found = await stat(path)
  return found.isFile() && found.size <= maxBytes ? readFile(path) : undefined
}

const locateHere = async (locating: Locating): Promise<Located> =>
  (await import("../../text/parse/source/FileSpans.ts")).locate(locating, defaultLimits)
