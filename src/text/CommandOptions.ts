/** Command-line options in texts, `-x` and `--long`: those that a question names, and the lines that explain them. */

export interface Option {
  /** The option with its dashes. */
  readonly text: string
  /** Where the option starts in the text, in UTF-16 units. */
  readonly start: number
  /** Where the option ends, exclusive, in UTF-16 units. */
  readonly end: number
}

/** Most options of a text that are considered. */
const mostOptions = 8

/** The options that a text names, in order, the first {@link mostOptions} at most. */
export const optionsOf = (text: string): ReadonlyArray<Option> =>
  [...text.matchAll(/(?<=^|[\s"'`“(])--?[A-Za-z][\w-]*/g)].slice(0, mostOptions).map(({ 0: option, index }) => (
    { text: option, start: index, end: index + option.length }
  ))

/** Whether a text contains exactly this option: `-x` is not `-X`, and `--no-home` is not `--home`. */
export const hasOption = (text: string, option: string): boolean => placesOf(text, option).next().done === false

/** Whether a line of a text starts with an option, or with other options followed by it: `-u, --utc`. */
export const explainsOption = (text: string, option: string): boolean => {
  for (const at of placesOf(text, option)) if (others.test(text.slice(text.lastIndexOf("\n", at - 1) + 1, at))) return true
  return false
}

/** What may precede an option in the line that explains it: a list marker, and other options with their arguments. */
const others = /^\s*(?:[-*+•] +)?(?:--?[\w?#][\w-]*(?:=[^\s,|/]*| [A-Z<[][^\s,|/]*|[<[][^\s,|/]*)?(?:, *| ?\| ?| ?\/ ?| +or +| +))*$/

function* placesOf(text: string, option: string): Generator<number, void> {
  for (let at = text.indexOf(option); at !== -1; at = text.indexOf(option, at + 1)) {
    if (!/[\w-]/.test(text[at - 1] ?? "") && !/[\w-]/.test(text[at + option.length] ?? "")) yield at
  }
}
