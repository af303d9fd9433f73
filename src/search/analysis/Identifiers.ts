/** Matches the parts of an identifier in code: `HTTP` and `Server` of `HTTPServer`; digits are parts of their own. */
const deepParts = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|[\p{Lo}\p{Lt}\p{Lm}]+|\p{Nd}+/gu

/** Matches the parts of an identifier in prose, where digits stay with the letters before them: `base64`. */
const proseParts = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Nd}]+|[\p{Lo}\p{Lt}\p{Lm}]+|\p{Nd}+/gu

/** Matches what is surely an identifier, such as `max_size` or `getUser`, and no ordinary word or brand. */
const surelyIdentifier = /\p{L}_+[\p{L}\p{Nd}]|^\p{Ll}+\p{Lu}\p{Ll}/u

/**
 * The parts of an identifier that have two characters or more; empty where there is nothing to split. `deep`, for program code, also
 * splits at dots, digits and runs of capitals (`os.path`, `sha256`, `HTTPServer`). In prose only what is surely an identifier is split, so
 * that `JavaScript`, `example.com` and `3.14` stay whole.
 */
export const identifierParts = (word: string, deep: boolean): ReadonlyArray<string> => {
  if (!deep && !surelyIdentifier.test(word)) return []
  const parts = word.match(deep ? deepParts : proseParts) ?? []
  return parts.length < 2 ? [] : parts.filter((part) => part.length > 1)
}
