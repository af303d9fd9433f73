import type { List, ListLevel } from "../ooxml/WordNumbering.ts"

/** A place in a list: the list's 1-based number in the document, and the 0-based level. */
export interface ListPlace {
  readonly id: number
  readonly level: number
}

/** The place in a list that a paragraph or a style sets; list 0 takes it out of any. */
export interface ListChange {
  id?: number
  level?: number
}

/** The place that results from a paragraph's own properties and its style's. */
export const placeOf = (own: ListChange, style: ListChange | undefined): ListPlace | undefined => {
  const id = own.id ?? style?.id ?? 0
  // Other numbers are not lists (MS-DOC, 2.6.2, sprmPIlfo).
  return id < 1 || id > 0x7fe ? undefined : { id, level: Math.min(8, own.level ?? style?.level ?? 0) }
}

/** Number formats by code (MS-OSHARED, 2.2.1.3). Others are shown as digits. */
const numberFormats: Readonly<Record<number, string>> = {
  1: "upperRoman",
  2: "lowerRoman",
  3: "upperLetter",
  4: "lowerLetter",
  22: "decimalZero",
  23: "bullet",
  255: "none"
}

const definitionBytes = 28
const overrideBytes = 16
const levelBytes = 28

/** The lists of a Word 97 to 2003 document, by number (MS-DOC, 2.9.131 and on). Reading ends at a damaged one. */
export const readWordLists = (table: Buffer, definitions: Buffer, definitionsEnd: number, overrides: Buffer): ReadonlyMap<string, List> => {
  const lists = new Map<string, List>()
  try {
    const abstracts = readDefinitions(table, definitions, definitionsEnd)
    const count = Math.max(0, overrides.readInt32LE(0))
    let at = 4 + count * overrideBytes
    for (let i = 0; i < count; i++) {
      const abstract = overrides.readInt32LE(4 + i * overrideBytes)
      const levels = new Map(abstracts.get(abstract))
      const restarts = new Map<number, number>()
      at += 4
      for (let left = overrides.readUInt8(4 + i * overrideBytes + 12); left > 0; left--) {
        const [start, set] = [overrides.readInt32LE(at), overrides.readUInt32LE(at + 4)]
        const level = set & 0xf
        at += 8
        if ((set & 0x20) !== 0) {
          const read = readLevel(overrides, at)
          levels.set(level, read.level)
          at = read.end
        } else if ((set & 0x10) !== 0) restarts.set(level, start)
      }
      lists.set(String(i + 1), { abstract: String(abstract), levels, restarts })
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return lists
}

/** Levels by list. The levels follow after all lists: one for a simple list, otherwise nine. */
const readDefinitions = (table: Buffer, definitions: Buffer, end: number): ReadonlyMap<number, ReadonlyMap<number, ListLevel>> => {
  const found = new Map<number, ReadonlyMap<number, ListLevel>>()
  const count = definitions.length < 2 ? 0 : Math.max(0, definitions.readInt16LE(0))
  let at = end
  for (let i = 0; i < count; i++) {
    const own = 2 + i * definitionBytes
    const levels = new Map<number, ListLevel>()
    const most = (definitions.readUInt8(own + 26) & 1) === 1 ? 1 : 9
    for (let level = 0; level < most; level++) {
      const read = readLevel(table, at)
      levels.set(level, read.level)
      at = read.end
    }
    found.set(definitions.readInt32LE(own), levels)
  }
  return found
}

const readLevel = (bytes: Buffer, at: number): { readonly level: ListLevel; readonly end: number } => {
  const text = at + levelBytes + bytes.readUInt8(at + 24) + bytes.readUInt8(at + 25)
  const end = text + 2 + bytes.readUInt16LE(text) * 2
  return {
    level: {
      start: bytes.readInt32LE(at),
      format: numberFormats[bytes.readUInt8(at + 4)] ?? "decimal",
      // A level's index stands where its number goes.
      text: bytes.toString("utf16le", text + 2, end).replace(/[\0-\u0008]/g, (level) => `%${level.charCodeAt(0) + 1}`),
      legal: (bytes.readUInt8(at + 5) & 4) !== 0
    },
    end
  }
}

/** The base of a style that is based on none. */
const noStyle = 0xfff
const paragraphStyle = 1

/** The list changes of each style, by its number, including those of its base styles (MS-DOC, 2.9.271 and on). */
export const styleLists = (styles: Buffer, changesOf: (bytes: Buffer) => ListChange): ReadonlyArray<ListChange> => {
  const own: Array<{ readonly base: number; readonly change: ListChange }> = []
  try {
    const head = styles.readUInt16LE(0)
    const count = styles.readUInt16LE(2)
    const fixed = styles.readUInt16LE(4)
    for (let i = 0, at = 2 + head; i < count; i++) {
      const length = styles.readUInt16LE(at)
      const style = styles.subarray(at + 2, at + 2 + length)
      at += 2 + length
      if (style.length < fixed + 4 || (style.readUInt16LE(2) & 0xf) !== paragraphStyle) {
        own.push({ base: noStyle, change: {} })
        continue
      }
      // After the name, which ends with a zero, at an even offset.
      const properties = fixed + 2 + style.readUInt16LE(fixed) * 2 + 2
      const size = properties + 2 <= style.length ? style.readUInt16LE(properties) : 0
      own.push({ base: style.readUInt16LE(2) >> 4, change: changesOf(style.subarray(properties + 4, properties + 2 + size)) })
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return own.map(({ base, change }) => {
    const all = { ...change }
    // In a damaged file, a style may be based on itself.
    for (let next = own[base], left = own.length; next !== undefined && left > 0; next = own[next.base], left--) {
      all.id ??= next.change.id
      all.level ??= next.change.level
    }
    return all
  })
}
