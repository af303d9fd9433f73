import { type BlockSink, oneLine } from "./BlockSink.ts"

/** Page numbers, which say nothing about the document: `3`, `Page 1`, `Seite 1 von 3`, `- 2 -`, `第 1 頁`. */
const pageNumber =
  /^(?:[^\p{L}]*|\W*(?:page|pg?|seite|s|página|pagina|pág|pag|side|sida|sivu|strona|str|страница|стр|bladzijde)\W*\d+(?:\W*(?:\p{L}{1,3})?\W*\d+)?\W*|第?\s*\d+\s*(?:页|頁|ページ|쪽).*)$/iu

/** A sink for headers and footers: it passes a text on the first time only, since sections and slides repeat it, and page numbers never. */
export const onlyOnce = (sink: BlockSink): BlockSink => {
  const seen = new Set<string>()
  const isNew = (text: string): boolean => {
    const key = oneLine(text)
    if (seen.has(key) || pageNumber.test(key)) return false
    seen.add(key)
    return true
  }
  return {
    add(kind, text, level) {
      if (isNew(text)) sink.add(kind, text, level)
    },
    item(depth, label, text) {
      if (isNew(text)) sink.item(depth, label, text)
    }
  }
}
