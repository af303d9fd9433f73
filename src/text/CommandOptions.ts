/** Options of commands, `-x` and `--long`: as questions write them, and as what explains them begins. */

export interface Option {
  /** With its dashes. */
  readonly text: string
  /** UTF-16 span. */
  readonly start: number
  readonly end: number
}

/** Options of a text that are looked at. */
const mostOptions = 8

export const optionsOf = (text: string): ReadonlyArray<Option> =>
  [...text.matchAll(/(?<=^|[\s"'`“(])--?[A-Za-z][\w-]*/g)].slice(0, mostOptions).map(({ 0: option, index }) => (
    { text: option, start: index, end: index + option.length }
  ))

/** Whether an option stands in a text just so: `-x` is not `-X`, and `--no-home` is no `--home`. */
export const hasOption = (text: string, option: string): boolean => placesOf(text, option).next().done === false

/** Whether a line of a text begins with an option, or with others and this one: `-u, --utc`. */
export const explainsOption = (text: string, option: string): boolean => {
  for (const at of placesOf(text, option)) if (others.test(text.slice(text.lastIndexOf("\n", at - 1) + 1, at))) return true
  return false
}

/** What may stand before an option in the line that begins what explains it: the mark of a list, other options with what they take. */
const others = /^\s*(?:[-*+•] +)?(?:--?[\w?#][\w-]*(?:=[^\s,|/]*| [A-Z<[][^\s,|/]*|[<[][^\s,|/]*)?(?:, *| ?\| ?| ?\/ ?| +or +| +))*$/

function* placesOf(text: string, option: string): Generator<number, void> {
  for (let at = text.indexOf(option); at !== -1; at = text.indexOf(option, at + 1)) {
    if (!/[\w-]/.test(text[at - 1] ?? "") && !/[\w-]/.test(text[at + option.length] ?? "")) yield at
  }
}
