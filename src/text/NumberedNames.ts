/** A word and a number: "PEP 8", "pep-0008", "rfc2119", "Chapter 3". */
const numbered = /(?<![\p{L}\p{N}])(\p{L}{2,20})[ _-]?0*(\d{1,9})(?![\p{L}\p{N}]|\.\d)/gu

const written = ([, word = "", number = ""]: RegExpMatchArray): string => `${word.toLowerCase()} ${number}`

/** The numbered names in a question, each as {@link numberedName} writes it. */
export const numberedNames = (question: string): ReadonlySet<string> => new Set([...question.matchAll(numbered)].map(written))

/**
 * The numbered name that a file's name starts with: "pep 8" of `peps/pep-0008.rst`, "adr 12" of `adr-0012-use-sqlite.md`. Undefined where
 * it starts with no such name.
 */
export const numberedName = (displayName: string): string | undefined => {
  const name = displayName.slice(displayName.lastIndexOf("/") + 1)
  const first = name.matchAll(numbered).next().value
  return first?.index === 0 ? written(first) : undefined
}
