/**
 * The number of pages that a word processor counted, or undefined where its marks of page breaks cannot be trusted: there must be one fewer
 * than pages. Some programs omit the marks, others keep outdated ones.
 */
export const pagesByMarks = (xml: Uint8Array, mark: string, counted: number): number | undefined => {
  if (!(counted > 1)) return undefined
  const text = Buffer.from(xml.buffer, xml.byteOffset, xml.byteLength)
  let breaks = 0
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length)) breaks++
  return breaks + 1 === counted ? counted : undefined
}
