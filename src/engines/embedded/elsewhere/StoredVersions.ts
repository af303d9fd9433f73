import type { StoredVersion } from "../../../ports/VectorStore.ts"
import { type FileRecord, fileRecordIn } from "./FileRecord.ts"

/** Chunks that are read at a time. */
const chunksAtOnce = 400

/** Versions in groups of at most {@link chunksAtOnce} chunks; a version with more is a group of its own. */
export const readable = <A extends { readonly of: FileRecord }>(versions: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> => {
  const all: Array<Array<A>> = []
  let room = 0
  for (const version of versions) {
    const { chunks } = version.of
    if (chunks > room || all.length === 0) {
      all.push([])
      room = chunksAtOnce
    }
    all.at(-1)!.push(version)
    room -= chunks
  }
  return all
}

/** Sorts stored versions into the newest whole one of each file, and the rest. Files in `known` are here already and need no version. */
export const sorted = (versions: ReadonlyArray<StoredVersion>, known: ReadonlyArray<FileRecord | undefined>) => {
  const whole: Array<StoredVersion & { readonly of: FileRecord }> = []
  const broken: Array<StoredVersion> = []
  const keyOf = (of: FileRecord | undefined) => of?.marker === undefined ? undefined : `${of.marker.source}\n${of.marker.pathHash}`
  const taken = new Set(known.map(keyOf))
  const newestFirst = versions
    .map((version) => ({ ...version, of: fileRecordIn(version.record) }))
    .toSorted((a, b) => (b.of?.created ?? 0) - (a.of?.created ?? 0))
  for (const { of, ...version } of newestFirst) {
    const key = keyOf(of)
    if (of === undefined || of.chunks !== version.chunks || (key !== undefined && taken.has(key))) broken.push(version)
    else {
      taken.add(key)
      whole.push({ ...version, of })
    }
  }
  return { whole, broken }
}
