import type { Citation } from "../domain/Answer.ts"
import type { Context } from "../domain/Retrieval.ts"

/**
 * Cites a stretch of a context: the exact quote, its byte span in the document's parsed text (the context's own byte offset plus the UTF-8
 * length of the text before it), and its pages.
 *
 * `start` and `end` are UTF-16 offsets into `context.text`; `heading` is the heading inside it that the stretch stands under.
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
    ...addressOf(context.sourceUri, headings, quote, pagesOf(context, start, end).firstPage),
    quote,
    ...(byteStart === undefined ? {} : { byteStart, byteEnd: byteStart + Buffer.byteLength(quote), offsets: "parsed" as const }),
    ...pagesOf(context, start, end)
  }
}

/**
 * Where the quote can be opened: the source at the page; at the heading of a format whose viewers name headings by their words; or
 * at the quote's first words, which browsers look for in a page (a text fragment), since a page names its headings as it likes.
 */
const addressOf = (
  sourceUri: string,
  headings: ReadonlyArray<string>,
  quote: string,
  page: number | undefined
): Pick<Citation, "address"> => {
  if (!/^(?:https?|file):/.test(sourceUri) || sourceUri.includes("#")) return sourceUri === "" ? {} : { address: sourceUri }
  const heading = /\.(?:md|markdown)$/i.test(sourceUri) ? headings.at(-1) : undefined
  const fragment = page !== undefined
    ? `page=${page}`
    : heading !== undefined
    ? slugOf(heading)
    : /\.x?html?$/i.test(sourceUri)
    ? textFragmentOf(quote)
    : ""
  return { address: fragment === "" ? sourceUri : `${sourceUri}#${fragment}` }
}

/** As most renderers of Markdown name headings. */
const slugOf = (heading: string): string =>
  encodeURIComponent(heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").trim().replace(/\s+/g, "-"))

/** Words of a text fragment: enough to be found nowhere else in most pages. */
const wordsOfFragment = 8

/** The first words of the first line of several, since a fragment does not reach over the edge of a block (WICG, URL fragment text directives). */
const textFragmentOf = (quote: string): string => {
  const lines = quote.split("\n").map((line) => line.replace(/^\s*(?:[-*+•]|\d{1,3}[.)])\s/, "").trim().split(/\s+/)).filter(([first]) =>
    first !== ""
  )
  const words = lines.find(({ length }) => length >= wordsOfFragment / 2) ?? lines[0]
  if (words === undefined) return ""
  // A hyphen stands between a fragment's text and what surrounds it.
  return `:~:text=${encodeURIComponent(words.slice(0, wordsOfFragment).join(" ")).replaceAll("-", "%2D")}`
}

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
