import { letters, roman } from "../Numerals.ts"
import { childAt, childElements, eachElement, type XmlElement } from "../Xml.ts"
import { value } from "./WordStyles.ts"

export interface ListLevel {
  readonly start: number
  readonly format: string
  /** The pattern of the label: `%1.%2` marks where the numbers of the levels go. */
  readonly text: string
  /** Shows the numbers of all levels as digits, as legal texts do. */
  readonly legal: boolean
}

/** One list of a document. */
export interface List {
  /** Id of the abstract list. Lists with the same one continue each other. */
  readonly abstract: string
  readonly levels: ReadonlyMap<number, ListLevel>
  readonly restarts: ReadonlyMap<number, number>
}

/**
 * The labels that Word prints before list items and numbered headings; the file contains only the rules (ECMA-376 17.9). It counts along:
 * call `next` once for each paragraph, in order.
 */
export class WordNumbering {
  readonly #lists: ReadonlyMap<string, List>
  /** The current numbers by abstract list: lists that share one continue each other. */
  readonly #counters = new Map<string, Array<number | undefined>>()
  readonly #restarted = new Set<string>()

  /** @param lists lists by their number */
  constructor(lists: ReadonlyMap<string, List>) {
    this.#lists = lists
  }

  /** The label of the next paragraph at a 0-based level: `2.1`, `-` for a bullet, "" where it has none. */
  next(listId: string, level: number): string {
    const list = this.#lists.get(listId)
    const definition = list?.levels.get(level)
    if (list === undefined || definition === undefined) return "-"
    let counters = this.#counters.get(list.abstract)
    if (counters === undefined) {
      counters = []
      this.#counters.set(list.abstract, counters)
    }
    const restart = list.restarts.get(level)
    const restartKey = `${listId} ${level}`
    if (restart !== undefined && !this.#restarted.has(restartKey)) {
      this.#restarted.add(restartKey)
      counters[level] = restart
    } else {
      counters[level] = (counters[level] ?? definition.start - 1) + 1
    }
    counters.length = level + 1
    if (definition.format === "bullet") return "-"
    if (definition.format === "none") return ""
    const numbers = counters
    return definition.text.replace(/%([1-9])/g, (_, digit: string) => {
      const at = Number(digit) - 1
      const shown = list.levels.get(at)
      return format(numbers[at] ?? shown?.start ?? 1, definition.legal ? "decimal" : shown?.format ?? "decimal")
    }).trim()
  }
}

const format = (n: number, numberFormat: string): string => {
  switch (numberFormat) {
    case "lowerLetter":
      return letters(n)
    case "upperLetter":
      return letters(n).toUpperCase()
    case "lowerRoman":
      return roman(n)
    case "upperRoman":
      return roman(n).toUpperCase()
    case "none":
      return ""
    case "decimalZero":
      return String(n).padStart(2, "0")
    default:
      return String(n)
  }
}

/** The lists of `numbering.xml`. */
export const readLists = (bytes: Uint8Array | undefined): ReadonlyMap<string, List> => {
  if (bytes === undefined) return new Map()
  const abstracts = new Map<string, ReadonlyMap<number, ListLevel>>()
  /** Abstract lists that only point to a numbering style, and those that define such a style. */
  const links = new Map<string, string>()
  const linked = new Map<string, string>()
  const lists = new Map<string, List>()
  eachElement(bytes, (_, parent) => parent === "w:numbering", (element) => {
    if (element.name === "w:abstractNum") {
      const id = element.attributes["w:abstractNumId"] ?? ""
      abstracts.set(id, readLevels(childElements(element, "w:lvl")))
      const link = value(childAt(element, "w:numStyleLink"))
      if (link !== undefined) links.set(id, link)
      const style = value(childAt(element, "w:styleLink"))
      if (style !== undefined) linked.set(style, id)
    } else if (element.name === "w:num") {
      const named = value(childAt(element, "w:abstractNumId")) ?? ""
      const abstract = linked.get(links.get(named) ?? "") ?? named
      const overrides = childElements(element, "w:lvlOverride")
      lists.set(element.attributes["w:numId"] ?? "", {
        abstract,
        levels: new Map([
          ...(abstracts.get(abstract) ?? []),
          ...readLevels(overrides.flatMap((override) => childElements(override, "w:lvl")))
        ]),
        restarts: readRestarts(overrides)
      })
    }
  })
  return lists
}

const readLevels = (elements: ReadonlyArray<XmlElement>): ReadonlyMap<number, ListLevel> =>
  new Map(elements.map((element) => [
    Number(element.attributes["w:ilvl"]),
    {
      start: integer(value(childAt(element, "w:start"))) ?? 1,
      format: value(childAt(element, "w:numFmt")) ?? "decimal",
      text: value(childAt(element, "w:lvlText")) ?? "",
      legal: childAt(element, "w:isLgl") !== undefined
    }
  ]))

const readRestarts = (overrides: ReadonlyArray<XmlElement>): ReadonlyMap<number, number> =>
  new Map(overrides.flatMap((override): ReadonlyArray<readonly [number, number]> => {
    const start = integer(value(childAt(override, "w:startOverride")))
    return start === undefined ? [] : [[Number(override.attributes["w:ilvl"]), start]]
  }))

const integer = (text: string | undefined): number | undefined => {
  const number = Number(text ?? Number.NaN)
  return Number.isSafeInteger(number) ? number : undefined
}
