import { type Asker, readableBy } from "./Asker.ts"
import { factsOf, type MetadataFilter, passes } from "./MetadataFilter.ts"
import type { PlainValue, RagFile } from "./RagFile.ts"

/** The values that files have under one key. */
export interface Facet {
  readonly key: string
  /** Values, most frequent first. Each value of a list counts. */
  readonly values: ReadonlyArray<{ readonly value: string | number | boolean; readonly files: number }>
  /** Number of other values, and of files that have one of them. Absent: there are none. */
  readonly others?: { readonly values: number; readonly files: number }
  /** Number of files without the key. */
  readonly without: number
}

/** Selects files of a corpus. */
export interface FileQuery {
  /** Only files that pass this filter. */
  readonly where?: MetadataFilter
  /** Only files that this asker may read. Absent: the owner, who may read all. */
  readonly principal?: Asker
}

/** Selects the files to count, and the keys to count by. */
export interface FacetQuery extends FileQuery {
  /** Keys to count by. Absent: all keys that people and rules wrote. */
  readonly keys?: ReadonlyArray<string>
}

/** The facts about a file that determine whether and where it is counted. */
export type FileFacts = Pick<RagFile, "metadata" | "userMetadata" | "permissions">

/** Returns whether a file is among those that a query selects. */
export const isAmong = ({ principal, where }: FileQuery): (file: FileFacts) => boolean => {
  const mayRead = principal === undefined ? undefined : readableBy(principal)
  return (file) => mayRead?.(file.permissions) !== false && (where === undefined || passes(where, factsOf(file)))
}

/** Most values of a key that are listed one by one. */
const mostValues = 100
/** Most distinct values of a key while counting: each further occurrence counts as another value among `others`. */
const mostDistinct = 20_000
/** Most keys that are counted where none are named. */
const mostKeys = 100

/** Counts the files of a query by their metadata: that written by people and rules, or else that of their sources. */
export class FacetCounts {
  readonly #query: FacetQuery
  readonly #counts: (file: FileFacts) => boolean
  readonly #keys = new Map<string, { readonly counts: Map<string | number | boolean, number>; files: number; rest: number }>()
  #files = 0

  constructor(query: FacetQuery = {}) {
    this.#query = query
    this.#counts = isAmong(query)
    for (const key of query.keys ?? []) this.#keys.set(key, { counts: new Map(), files: 0, rest: 0 })
  }

  /** Counts a file, if the query selects it. */
  add(file: FileFacts): void {
    const { keys } = this.#query
    if (!this.#counts(file)) return
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

  /** Results in the order of the named keys; where none were named, the most frequent keys first. */
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
