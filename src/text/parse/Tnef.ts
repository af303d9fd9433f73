import { decodeCodePage } from "./CodePages.ts"
import { decodePart } from "./Decode.ts"
import type { InnerFile } from "./Reader.ts"
import { ReadFailure } from "./ReadFailure.ts"

/** The contents of `winmail.dat`, the attachment into which Outlook packs its own data (MS-OXTNEF). */
export interface Packed {
  readonly subject: string
  readonly body: string
  /** HTML of the message, in its code page. */
  readonly html: Uint8Array | undefined
  readonly compressedRtf: Uint8Array | undefined
  readonly files: ReadonlyArray<InnerFile>
}

export const isTnef = (bytes: Uint8Array): boolean =>
  bytes.length > 6 && bytes[0] === 0x78 && bytes[1] === 0x9f && bytes[2] === 0x3e && bytes[3] === 0x22

/** Attributes by their number and type (MS-OXTNEF, 2.1.3.3). */
const attributes = {
  codePage: 0x00069007,
  subject: 0x00018004,
  body: 0x0002800c,
  properties: 0x00069003,
  /** Starts an attachment. */
  attachment: 0x00069002,
  title: 0x00018010,
  data: 0x0006800f,
  attachmentProperties: 0x00069005
} as const

/** Properties by their number (MS-OXPROPS). */
const properties = {
  subject: 0x0037,
  body: 0x1000,
  html: 0x1013,
  rtf: 0x1009,
  longName: 0x3707,
  name: 0x3704,
  displayName: 0x3001,
  mimeType: 0x370e,
  data: 0x3701
} as const

/** Bytes of fixed-size values by type (MS-OXCDATA, 2.11.1), padded to four. */
const sizes: Readonly<Record<number, number>> = {
  0x02: 4,
  0x03: 4,
  0x04: 4,
  0x05: 8,
  0x06: 8,
  0x07: 8,
  0x0a: 4,
  0x0b: 4,
  0x14: 8,
  0x40: 8,
  0x48: 16
}
const types = { string: 0x1e, unicode: 0x1f, object: 0x0d, multiple: 0x1000 } as const

type Value = string | Buffer

export const readTnef = (bytes: Uint8Array): Packed => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let codePage: number | undefined
  const told = new Map<number, Value>()
  let texts = { subject: "", body: "" }
  const attached: Array<{ title: string; data: Buffer | undefined; told: ReadonlyMap<number, Value> }> = []
  const decoded = (value: Buffer): string => {
    const text = value.subarray(0, value.indexOf(0) < 0 ? value.length : value.indexOf(0))
    return codePage === undefined ? decodePart(text) : decodeCodePage(codePage, text)
  }
  // A signature of four bytes and a key of two; each attribute has a level, its number, its length and a checksum.
  for (let at = 6; at < file.length && file.subarray(at, at + 9).some((byte) => byte !== 0);) {
    const length = at + 9 > file.length ? 0 : file.readUInt32LE(at + 5)
    if (at + 9 + length > file.length) throw new ReadFailure("corrupt", "the data that Outlook packed is cut off")
    const attribute = file.readUInt32LE(at + 1)
    const value = file.subarray(at + 9, at + 9 + length)
    at += 11 + length
    const last = attached.at(-1)
    if (attribute === attributes.codePage && length >= 4) codePage = value.readUInt32LE(0)
    else if (attribute === attributes.subject) texts = { ...texts, subject: decoded(value) }
    else if (attribute === attributes.body) texts = { ...texts, body: decoded(value) }
    else if (attribute === attributes.properties) { for (const [key, one] of propertiesIn(value, decoded)) told.set(key, one) }
    else if (attribute === attributes.attachment) attached.push({ title: "", data: undefined, told: new Map() })
    else if (last === undefined) continue
    else if (attribute === attributes.title) last.title = decoded(value)
    else if (attribute === attributes.data) last.data = value
    else if (attribute === attributes.attachmentProperties) last.told = propertiesIn(value, decoded)
  }
  return {
    subject: textIn(told, properties.subject) || texts.subject,
    body: textIn(told, properties.body) || texts.body,
    html: bytesIn(told, properties.html),
    compressedRtf: bytesIn(told, properties.rtf),
    files: attached.flatMap(({ data, title, told }) => {
      const content = data !== undefined && data.length > 0 ? data : bytesIn(told, properties.data)
      const names = [properties.longName, properties.name, properties.displayName].map((key) => textIn(told, key))
      const name = [...names.slice(0, 1), title, ...names.slice(1)].find((one) => one !== "") ?? ""
      const mimeType = textIn(told, properties.mimeType)
      return content === undefined ? [] : [{ name, bytes: content, mimeType: mimeType === "" ? undefined : mimeType }]
    })
  }
}

const textIn = (told: ReadonlyMap<number, Value>, key: number): string => {
  const value = told.get(key)
  return typeof value === "string" ? value : ""
}

const bytesIn = (told: ReadonlyMap<number, Value>, key: number): Buffer | undefined => {
  const value = told.get(key)
  return typeof value === "string" || value === undefined || value.length === 0 ? undefined : value
}

/** Properties that are texts or bytes, by number (MS-OXTNEF, 2.1.3.4). Reading stops at a damaged one. */
const propertiesIn = (data: Buffer, decoded: (text: Buffer) => string): ReadonlyMap<number, Value> => {
  const found = new Map<number, Value>()
  let at = 4
  const padded = (length: number): number => (length + 3) & ~3
  const count = (): number => {
    const value = data.readUInt32LE(at)
    at += 4
    return value
  }
  try {
    for (let left = data.readUInt32LE(0); left > 0 && at + 4 <= data.length; left--) {
      const kind = data.readUInt16LE(at)
      const key = data.readUInt16LE(at + 2)
      at += 4
      // A property that a program named: the name's owner, and a number or a name.
      if (key >= 0x8000) {
        const isName = data.readUInt32LE(at + 16) === 1
        at += 20
        const length = count()
        if (isName) at += padded(length)
      }
      const type = kind & ~types.multiple
      const size = sizes[type]
      if (size !== undefined) at += size * ((kind & types.multiple) === 0 ? 1 : count())
      else {
        for (let values = count(); values > 0; values--) {
          const length = count()
          if (at + length > data.length) return found
          const value = data.subarray(at, at + length)
          at += padded(length)
          // An object starts with the interface that it has.
          if (type === types.string) found.set(key, decoded(value))
          else if (type === types.unicode) found.set(key, value.toString("utf16le").replace(/\0.*$/s, ""))
          else found.set(key, type === types.object ? value.subarray(16) : value)
        }
      }
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return found
}
