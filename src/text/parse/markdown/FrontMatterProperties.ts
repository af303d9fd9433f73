import { Result } from "effect"
import { Toml } from "effect/encoding"
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, parseDocument, Scalar } from "yaml"
import type { PropertyList } from "../PropertyList.ts"
import type { FrontMatterBlock } from "./FrontMatter.ts"

/** Most values that are read, counting each use of an alias. */
const mostValues = 10_000
/** Most aliases: each is searched for through the whole front matter. */
const mostAliases = 200
/** Deepest nesting of mappings. */
const deepest = 8

/** Adds all properties of a front matter: texts as they are written, lists of them, and `a.b` for members of a mapping. */
export const addFrontMatter = ({ kind, text }: FrontMatterBlock, properties: PropertyList): void => {
  try {
    if (kind === "toml") addToml(text, properties)
    else addYaml(text, properties)
  } catch (error) {
    // The YAML reader is recursive, and gives up on aliases that expand too far.
    if (!(error instanceof RangeError || error instanceof ReferenceError)) throw error
    unread(kind, properties)
  }
}

const unread = (kind: FrontMatterBlock["kind"], properties: PropertyList): void => {
  properties.remarks.push({ kind: "properties", text: `its front matter is not ${kind === "yaml" ? "YAML" : "TOML"}` })
}

const addYaml = (text: string, properties: PropertyList): void => {
  const document = parseDocument(text, { uniqueKeys: false, prettyErrors: false, logLevel: "silent" })
  // What the reader makes of a broken one is a guess.
  if (document.errors.length > 0) return unread("yaml", properties)
  const tree = new YamlTree(document, properties)
  tree.add("", document.contents, 0)
}

class YamlTree {
  readonly #document: Document
  readonly #properties: PropertyList
  #values = 0
  #aliases = 0

  constructor(document: Document, properties: PropertyList) {
    this.#document = document
    this.#properties = properties
  }

  add(name: string, node: unknown, depth: number): void {
    const found = this.#resolved(node)
    if (isMap(found)) {
      if (depth >= deepest) return
      for (const { key, value } of found.items) {
        const part = scalar(this.#resolved(key))
        if (part !== undefined) this.add(name === "" ? part : `${name}.${part}`, value, depth + 1)
      }
    } else if (isSeq(found)) {
      this.#properties.addList(name, found.items.flatMap((item) => scalar(this.#resolved(item)) ?? []))
    } else this.#properties.add(name, scalar(found))
  }

  #resolved(node: unknown): unknown {
    if (++this.#values > mostValues) throw new RangeError("too many values")
    if (!isAlias(node)) return node
    if (++this.#aliases > mostAliases) throw new RangeError("too many aliases")
    return node.resolve(this.#document)
  }
}

/** A scalar as it is written: `1.10` is a version, not a number. */
const scalar = (node: unknown): string | undefined => {
  if (!isScalar(node)) return undefined
  const { source, type, value } = node as Node & Scalar
  if (value === null) return undefined
  return type === Scalar.PLAIN && source !== undefined ? source : String(value)
}

const addToml = (text: string, properties: PropertyList): void => {
  const read = Toml.parse(text)
  if (Result.isFailure(read)) return unread("toml", properties)
  addTable("", read.success, properties, 0)
}

const addTable = (name: string, table: object, properties: PropertyList, depth: number): void => {
  for (const [key, value] of Object.entries(table)) {
    const path = name === "" ? key : `${name}.${key}`
    if (Array.isArray(value)) properties.addList(path, value.flatMap((item) => tomlText(item) ?? []))
    else if (typeof value === "object" && value !== null && !(value instanceof Date)) {
      if (depth < deepest) addTable(path, value, properties, depth + 1)
    } else properties.add(path, tomlText(value))
  }
}

const tomlText = (value: unknown): string | undefined =>
  value instanceof Date ? value.toISOString() : typeof value === "object" || value === undefined ? undefined : String(value)
