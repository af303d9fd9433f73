import { factsOf, type MetadataFilter, passes } from "./MetadataFilter.ts"
import { mayRead, type PlainValue, type RagFile } from "./RagFile.ts"

/** The values that files have under one key. */
export interface Facet {
  readonly key: string
  /** Those that most files have, most first. Of a list each value counts. */
  readonly values: ReadonlyArray<{ readonly value: string | number | boolean; readonly files: number }>
  /** How many other values there are, and how often files have one of them. Absent: there are none. */
  readonly others?: { readonly values: number; readonly files: number }
  /** Files that have nothing under the key. */
  readonly without: number
}

/** Which files of a corpus are meant. */
export interface FileQuery {
  /** Only files that pass. */
  readonly where?: MetadataFilter
  /** Only files that this principal may read. */
  readonly principal?: string
}

/** Which files are counted, and by which keys. */
export interface FacetQuery extends FileQuery {
  /** Absent: all that people and rules wrote. */
  readonly keys?: ReadonlyArray<string>
}

/** What of a file decides whether it is counted, and where. */
export type FileFacts = Pick<RagFile, "metadata" | "userMetadata" | "permissions">

/** Whether a file is one of those that are meant. */
export const isAmong = (file: FileFacts, { principal, where }: FileQuery): boolean =>
  (principal === undefined || mayRead(file.permissions, principal)) && (where === undefined || passes(where, factsOf(file)))

/** Values of a key that are told one by one. */
const mostValues = 100
/** Values of a key that are told apart while they are counted: what comes after is counted among the others, each time as a value of its own. */
const mostDistinct = 20_000
/** Keys that are counted where none are named. */
const mostKeys = 100

/** Counts the files of a query by what they carry: what people and rules wrote, or else what their sources say. */
export class FacetCounts {
  readonly #query: FacetQuery
  readonly #keys = new Map<string, { readonly counts: Map<string | number | boolean, number>; files: number; rest: number }>()
  #files = 0

  constructor(query: FacetQuery = {}) {
    this.#query = query
    for (const key of query.keys ?? []) this.#keys.set(key, { counts: new Map(), files: 0, rest: 0 })
  }

  /** Counts a file, if it is one of the query's. */
  add(file: FileFacts): void {
    const { keys } = this.#query
    if (!isAmong(file, this.#query)) return
    const { metadata = {}, userMetadata = {} } = file
    this.#files += 1
    for (const key of keys ?? Object.keys(userMetadata)) {
      const value = Object.hasOwn(userMetadata, key) ? userMetadata[key] : Object.hasOwn(metadata, key) ? metadata[key] : undefined
      if (value !== undefined) this.#count(key, value)
    }
  }

  #count(key: string, value: PlainValue): void {
    let of = this.#keys.get(key)
    if (of === undefined) {
      if (this.#keys.size >= mostKeys) return
      of = { counts: new Map(), files: 0, rest: 0 }
      this.#keys.set(key, of)
    }
    of.files += 1
    for (const one of new Set(typeof value === "object" ? value : [value])) {
      const known = of.counts.get(one)
      if (known !== undefined || of.counts.size < mostDistinct) of.counts.set(one, (known ?? 0) + 1)
      else of.rest += 1
    }
  }

  /** In the order the keys were named; where none were, those that most files have first. */
  get facets(): ReadonlyArray<Facet> {
    const all = [...this.#keys]
    if (this.#query.keys === undefined) all.sort(([a, { files: m }], [b, { files: n }]) => n - m || (a < b ? -1 : 1))
    return all.map(([key, { counts, files, rest }]) => {
      const values = [...counts].map(([value, files]) => ({ value, files }))
        .sort((a, b) => b.files - a.files || (String(a.value) < String(b.value) ? -1 : 1))
      const others = values.slice(mostValues)
      return {
        key,
        values: values.slice(0, mostValues),
        ...(others.length + rest === 0
          ? {}
          : { others: { values: others.length + rest, files: others.reduce((sum, { files }) => sum + files, rest) } }),
        without: this.#files - files
      }
    })
  }
}
