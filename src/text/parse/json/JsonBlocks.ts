import type { DocumentBuilder } from "../DocumentBuilder.ts"
import { ReadFailure } from "../ReadFailure.ts"

/** Most characters of a value inside its parent's section; a longer one gets its own. */
const sectionCharacters = 800
const maxDepth = 200
const maxHeadingDepth = 4
const maxTitle = 300

type Entry = readonly [key: string, value: unknown]

/** Writes JSON values as sections and `key: value` lines. */
export class JsonBlocks {
  readonly #builder: DocumentBuilder
  /** The `title` or `name` of the outermost object. */
  title: string | undefined = undefined

  constructor(builder: DocumentBuilder) {
    this.#builder = builder
  }

  /** Adds a whole document or record. */
  add(value: unknown): void {
    if (isObject(value)) this.title ??= label(value)
    this.#section(value, 1)
  }

  #section(value: unknown, depth: number): void {
    if (depth > maxDepth) throw tooDeep()
    if (!isContainer(value) || !isLong(value)) {
      this.#builder.add("paragraph", render(value, 0, depth).join("\n"))
    } else if (Array.isArray(value)) {
      if (value.every((item) => !isContainer(item))) this.#builder.add("list", render(value, 0, depth).join("\n"))
      else for (const item of value) this.#section(item, depth + 1)
    } else this.#objectSection(Object.entries(value), depth)
  }

  /** Adds an object: short members stay together; long ones get a heading each, down to a depth at which headings still help. */
  #objectSection(entries: ReadonlyArray<Entry>, depth: number): void {
    let lines: Array<string> = []
    for (const entry of entries) {
      const [key, value] = entry
      if (!isContainer(value) || !isLong(value)) {
        lines.push(...renderEntry(entry, 0, depth))
        continue
      }
      this.#builder.add("paragraph", lines.join("\n"))
      lines = []
      if (depth <= maxHeadingDepth) this.#builder.add("heading", key, depth)
      else this.#builder.add("paragraph", `${key}:`)
      this.#section(value, depth + 1)
    }
    this.#builder.add("paragraph", lines.join("\n"))
  }
}

const tooDeep = (): ReadFailure => new ReadFailure("limit", `JSON nested deeper than ${maxDepth} levels`)

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => isContainer(value) && !Array.isArray(value)

const label = (value: Readonly<Record<string, unknown>>): string | undefined =>
  [value["title"], value["name"]]
    .filter((text) => typeof text === "string")
    .find((text) => text.trim() !== "" && text.length < maxTitle)

/** Whether the text would be longer than `sectionCharacters`; reads no further than needed. */
const isLong = (value: unknown): boolean => remaining(value, sectionCharacters, 0) < 0

const remaining = (value: unknown, budget: number, depth: number): number => {
  if (depth > maxDepth) throw tooDeep()
  if (!isContainer(value)) return budget - String(value).length
  let left = budget
  for (const [key, item] of Object.entries(value)) {
    left = remaining(item, left - (Array.isArray(value) ? 2 : key.length + 2), depth + 1)
    if (left < 0) return left
  }
  return left
}

/** A value as lines, each indented by `indent` blanks. */
const render = (value: unknown, indent: number, depth: number): ReadonlyArray<string> => {
  if (depth > maxDepth) throw tooDeep()
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const [first, ...rest] = render(item, indent + 2, depth + 1)
      return first === undefined ? [] : [`${" ".repeat(indent)}- ${first.trimStart()}`, ...rest]
    })
  }
  if (isContainer(value)) return Object.entries(value).flatMap((entry) => renderEntry(entry, indent, depth))
  return scalar(value).split("\n").map((line) => " ".repeat(indent) + line)
}

const renderEntry = ([key, value]: Entry, indent: number, depth: number): ReadonlyArray<string> => {
  const start = `${" ".repeat(indent)}${key}:`
  if (value === null || value === "") return []
  if (!isContainer(value)) {
    const [first, ...rest] = render(value, indent + 2, depth + 1)
    return [`${start} ${(first ?? "").trimStart()}`, ...rest]
  }
  if (Array.isArray(value) && value.every((item) => !isContainer(item))) {
    return value.length === 0 ? [] : [`${start} ${value.map((item) => scalar(item).replace(/\s+/g, " ")).join(", ")}`]
  }
  const lines = render(value, indent + 2, depth + 1)
  return lines.length === 0 ? [] : [start, ...lines]
}

const scalar = (value: unknown): string => value === null ? "" : String(value).replace(/\n\s*\n/g, "\n")
