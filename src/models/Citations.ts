import type { Citation } from "../domain/Answer.ts"
import type { Context } from "../domain/Retrieval.ts"

/**
 * Cites a stretch of a context: the quote to the letter, its byte span in the document's parsed text (the context's own
 * byte offset plus the UTF-8 length of what is before it), its pages.
 *
 * `start` and `end` are UTF-16 offsets into `context.text`; `heading` is the one within it that the stretch stands under.
 */
export const citationOf = (index: number, context: Context, start: number, end: number, heading?: string): Citation => {
  const headings = heading === undefined || context.headings.includes(heading) ? context.headings : [...context.headings, heading]
  const quote = context.text.slice(start, end)
  const byteStart = context.byteStart === undefined
    ? undefined
    : context.byteStart + Buffer.byteLength(context.text.slice(0, start))
  return {
    index,
    file: context.file,
    sourceUri: context.sourceUri,
    sourceDisplayName: context.sourceDisplayName,
    chunkId: context.chunkId,
    ...(headings.length === 0 ? {} : { headings }),
    ...addressOf(context.sourceUri, headings, pagesOf(context, start, end).firstPage),
    quote,
    ...(byteStart === undefined ? {} : { byteStart, byteEnd: byteStart + Buffer.byteLength(quote), offsets: "parsed" as const }),
    ...pagesOf(context, start, end)
  }
}

/** Where the quote can be opened: the source at the page, or at the heading of a format whose viewers know it by a name. */
const addressOf = (sourceUri: string, headings: ReadonlyArray<string>, page: number | undefined): Pick<Citation, "address"> => {
  if (!/^(?:https?|file):/.test(sourceUri) || sourceUri.includes("#")) return sourceUri === "" ? {} : { address: sourceUri }
  const heading = /\.(?:md|markdown|html?|adoc|rst)$/i.test(sourceUri) ? headings.at(-1) : undefined
  const fragment = page !== undefined ? `page=${page}` : heading === undefined ? "" : slugOf(heading)
  return { address: fragment === "" ? sourceUri : `${sourceUri}#${fragment}` }
}

/** As most renderers name headings. */
const slugOf = (heading: string): string =>
  encodeURIComponent(heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").trim().replace(/\s+/g, "-"))

/** The pages a stretch of the context is on; all of the context's where its breaks are not known. */
const pagesOf = (
  { firstPage, lastPage, pageBreaks }: Context,
  start: number,
  end: number
): Pick<Citation, "firstPage" | "lastPage"> => {
  if (firstPage === undefined) return {}
  if (pageBreaks === undefined) return { firstPage, lastPage: lastPage ?? firstPage }
  return {
    firstPage: firstPage + pageBreaks.filter((at) => at <= start).length,
    lastPage: firstPage + pageBreaks.filter((at) => at < end).length
  }
}
