/** Most bytes of a term in a `tsvector`. */
const longestTerm = 2_046
/** Most positions of a term in a `tsvector`. */
const mostPlaces = 255
/** Last position in a `tsvector`. */
const lastPlace = 16_383

/** A term quoted for `tsvector` and `tsquery`; undefined where it is empty or too long for them. */
export const quoted = (term: string): string | undefined => {
  const plain = withoutNul(term)
  return plain === "" || Buffer.byteLength(plain) > longestTerm ? undefined : `'${plain.replace(/['\\]/g, "$&$&")}'`
}

/** The terms of a chunk as the text of a `tsvector`, with their positions. */
export const tsvector = (terms: ReadonlyArray<string>): string => {
  const places = new Map<string, Array<number>>()
  terms.forEach((term, at) => {
    const known = places.get(term) ?? []
    if (known.length < mostPlaces) known.push(Math.min(at + 1, lastPlace))
    places.set(term, known)
  })
  return [...places].flatMap(([term, at]) => {
    const lexeme = quoted(term)
    return lexeme === undefined ? [] : [`${lexeme}:${at.join(",")}`]
  }).join(" ")
}

/** The text without NUL, which PostgreSQL cannot store, neither as a character nor escaped in JSON. */
export const withoutNul = (text: string): string => text.replaceAll("\0", "").replace(/(?<!\\)((?:\\\\)*)\\u0000/g, "$1")
