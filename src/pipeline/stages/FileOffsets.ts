import { Effect } from "effect"
import { readFile, stat } from "node:fs/promises"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import type { Answer, Citation } from "../../domain/Answer.ts"
import { defaultLimits } from "../../text/Prepared.ts"

/** Bytes of a file that is read again for the sake of a citation: a larger one would keep its reader waiting. */
const maxBytes = 1024 * 1024

/**
 * Lets citations of files of this machine point into the file as it is, where it is text and still says the quote at its
 * place. All others keep their span of the parsed text.
 */
export const withFileOffsets = (answer: Answer): Effect.Effect<Answer> => {
  const cited = [...answer.citations, ...answer.nearest ?? []]
  const uris = new Set(
    cited.flatMap(({ byteStart, sourceUri }) => (byteStart === undefined || !sourceUri.startsWith("file:") ? [] : [sourceUri]))
  )
  if (uris.size === 0) return Effect.succeed(answer)
  return Effect.promise(async () => {
    const moved = new Map<Citation, Citation>()
    for (const uri of uris) await locate(uri, cited.filter(({ sourceUri }) => sourceUri === uri), moved)
    const placed = (citations: ReadonlyArray<Citation>): ReadonlyArray<Citation> => citations.map((one) => moved.get(one) ?? one)
    return {
      ...answer,
      citations: placed(answer.citations),
      ...(answer.nearest === undefined ? {} : { nearest: placed(answer.nearest) })
    }
  }).pipe(Effect.withSpan("stage.generate.offsets"))
}

/** Adds what is found of the citations of one file. One that is gone, changed or unreadable is no failure of the answer. */
const locate = async (uri: string, citations: ReadonlyArray<Citation>, moved: Map<Citation, Citation>): Promise<void> => {
  try {
    const path = fileURLToPath(uri)
    const { size, isFile } = await stat(path).then((found) => ({ size: found.size, isFile: found.isFile() }))
    if (!isFile || size > maxBytes) return
    const { fileSpans } = await import("../../text/parse/source/FileSpans.ts")
    const spans = await fileSpans(
      { bytes: await readFile(path), name: basename(path), limits: defaultLimits },
      citations.map(({ byteEnd = 0, byteStart = 0, quote }) => ({ byteStart, byteEnd, quote }))
    )
    citations.forEach((citation, at) => {
      const span = spans[at]
      if (span !== undefined) moved.set(citation, { ...citation, ...span, offsets: "file" })
    })
  } catch {
    // The parsed text's span stands.
  }
}
