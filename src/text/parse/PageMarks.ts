/**
 * How many pages a word processor laid out, where its marks can be trusted: one page break fewer than the pages it counted. Other programs
 * omit the marks, or leave old ones in.
 */
export const pagesByMarks = (xml: Uint8Array, mark: string, counted: number): number | undefined => {
  if (!(counted > 1)) return undefined
  const text = Buffer.from(xml.buffer, xml.byteOffset, xml.byteLength)
  let breaks = 0
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length)) breaks++
  return breaks + 1 === counted ? counted : undefined
}
