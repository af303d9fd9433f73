/**
 * Names of code that a question has, such as `max_wal_size`. They consist of words that many other names have too, so that a text
 * about the question's words may be about another name.
 */
import type { TextUnit } from "./Units.ts"

/** Words joined by underscores; names in capitals and small letters (PostgreSQL, iPhone) may be those of anything. */
const joined = /(?<![\w.-])[\p{L}\d]+(?:_[\p{L}\d]+)+(?![\w-])/gu

/** Tests texts for names of code, whichever marks join their words there: `maxWalSize` is `max_wal_size`. */
const codeNamesOf = (question: string): ReadonlyArray<RegExp> =>
  [...new Set(question.match(joined))].map((name) => new RegExp(`(?<![\\w])${name.split("_").join("[_.-]?")}(?![\\w])`, "iu"))

/** What a unit is to the names of code of a question: none of them is near it, one is, or it belongs to the entry that explains one. */
export type Named = "nowhere" | "near" | "entry"

/** How each unit stands to the names of code that a question has; `entry` where it has none. `titles` are those of each context. */
export const namedBy = (
  question: string,
  units: ReadonlyArray<TextUnit & { readonly context: number }>,
  titles: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<Named> => {
  const names = codeNamesOf(question)
  if (names.length === 0) return units.map(() => "entry")
  const isIn = (texts: ReadonlyArray<string>): boolean => texts.some((text) => names.some((name) => name.test(text)))
  return units.map((unit) => {
    const block = unit.blocks[unit.block]
    const heads = [block?.term?.text ?? "", unit.heading ?? "", ...titles[unit.context] ?? []]
    if (isIn(heads)) return "entry"
    return isIn([unit.display, unit.above, ...block?.lines.map(({ text }) => text) ?? []]) ? "near" : "nowhere"
  })
}
