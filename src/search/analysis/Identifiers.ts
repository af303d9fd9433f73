/** `HTTP` and `Server` of `HTTPServer`; digits apart. */
const deepParts = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|[\p{Lo}\p{Lt}\p{Lm}]+|\p{Nd}+/gu

/** The same, digits staying with the letters before them: `base64`. */
const proseParts = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Nd}]+|[\p{Lo}\p{Lt}\p{Lm}]+|\p{Nd}+/gu

/** `max_size` or `getUser`: no ordinary word and no brand. */
const surelyIdentifier = /\p{L}_+[\p{L}\p{Nd}]|^\p{Ll}+\p{Lu}\p{Ll}/u

/**
 * The parts of a programmer's name, of two characters or more; empty where there is nothing to split. `deep`, for
 * program code, splits dots, digits and runs of capitals too (`os.path`, `sha256`, `HTTPServer`); in prose only what is
 * surely an identifier is split, so that `JavaScript`, `example.com` and `3.14` stay what they are.
 */
export const identifierParts = (word: string, deep: boolean): ReadonlyArray<string> => {
  if (!deep && !surelyIdentifier.test(word)) return []
  const parts = word.match(deep ? deepParts : proseParts) ?? []
  return parts.length < 2 ? [] : parts.filter((part) => part.length > 1)
}
