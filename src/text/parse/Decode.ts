import { isUtf8 } from "node:buffer"
import { likelihoodOf } from "./Charset.ts"
import { ReadFailure } from "./ReadFailure.ts"
import { decodeDos, isDos } from "./CodePages.ts"

/** Bytes that are examined to guess a charset. */
const sampleBytes = 64 * 1024

/**
 * Decodes text of unknown encoding: by a byte order mark, then as strict UTF-8, then by the charset that the text declares (`declared`
 * receives its first 4 kB as Latin-1), then by the charset in which it reads most like a language. Fails with `charset` where none does,
 * since nobody could find such noise by searching.
 */
export const decode = (bytes: Uint8Array, declared?: (head: string) => string | undefined): string => {
  if (isEbcdic(bytes)) return decodeEbcdic(bytes)
  const marked = byteOrderMark(bytes) ?? wideWithoutMark(bytes)
  if (marked !== undefined) return decodeAs(bytes, marked)
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (isUtf8(bytes)) return buffer.toString("utf8")
  const label = declared?.(buffer.toString("latin1", 0, 4096))
  if (label !== undefined && isKnown(label) && !/^utf-?16/i.test(label)) return decodeAs(bytes, label)
  if (mostlyUtf8(buffer)) return buffer.toString("utf8")
  const guessed = guess(bytes)
  if (guessed === undefined) throw new ReadFailure("charset", "charset unknown: in no known charset does the text read like a language")
  guesses.set(bytes, guessed)
  return decodeAs(bytes, guessed.charset)
}

/** A charset that neither a mark nor the text itself names, and how much the text reads like a language in it, 0 to 1. */
interface Guess {
  readonly charset: string
  readonly confidence: number
}

const guesses = new WeakMap<Uint8Array, Guess>()

/** The charset that {@link decode} guessed for these bytes; undefined where it did not have to guess. */
export const guessOf = (bytes: Uint8Array): Guess | undefined => guesses.get(bytes)

/** Decodes a text inside a file, which is read in any case: the best guess, noise or not. */
export const decodePart = (bytes: Uint8Array): string => {
  try {
    return decode(bytes)
  } catch {
    return decodeAs(bytes, "windows-1252")
  }
}

/** Converts the line ends of any system to `\n`. */
export const unixLines = (text: string): string => text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text

/** Decodes text of unknown encoding, with `\n` line ends. */
export const decodeLines = (bytes: Uint8Array, declared?: (head: string) => string | undefined): string =>
  unixLines(decode(bytes, declared))

/** Decodes by a charset's name, as HTML and mail name them. An unknown name means windows-1252. */
export const decodeAs = (bytes: Uint8Array, label: string): string => {
  const name = label.toLowerCase()
  if (isDos(name)) return decodeDos(bytes, name)
  if (name.startsWith("utf-32")) return decodeUtf32(bytes, name.endsWith("le"))
  return new TextDecoder(isKnown(label) ? label : "windows-1252").decode(bytes)
}

/**
 * Decodes UTF-7 (RFC 2152): UTF-16 in base64 between `+` and the first character that is not base64. An incomplete sequence stays as it is
 * written.
 */
export const decodeUtf7 = (text: string): string =>
  text.replace(/\+([A-Za-z0-9+/]*)-?/g, (written, base64: string) => {
    if (base64 === "") return written === "+-" ? "+" : written
    const bytes = Buffer.from(base64, "base64")
    const units = Math.floor(base64.length * 6 / 16)
    // Valid sequences leave fewer than six bits over, all zero.
    if (units === 0 || base64.length * 6 - units * 16 >= 6 || bytes.subarray(units * 2).some((byte) => byte !== 0)) return written
    return new TextDecoder("utf-16be").decode(bytes.subarray(0, units * 2))
  })

/** Decodes ISO-2022-KR (RFC 1557) that was read as ASCII: Korean stands between Shift Out and Shift In, without the high bits. */
export const decodeIso2022Kr = (text: string): string =>
  text.includes("\u001b$)C")
    ? text.replaceAll("\u001b$)C", "").replace(
      /\u000e([^\u000e\u000f]*)\u000f?/g,
      (_, korean: string) => new TextDecoder("euc-kr").decode(Buffer.from(korean, "latin1").map((byte) => byte > 0x20 ? byte | 0x80 : byte))
    )
    : text

/** Whether text is in UTF-16 or UTF-32, whose zero bytes do not make it a binary file. */
export const isWide = (bytes: Uint8Array): boolean => (byteOrderMark(bytes) ?? wideWithoutMark(bytes) ?? "utf-8") !== "utf-8"

/** The first bytes as text in which ASCII characters are right, whatever the encoding. */
export const decodeHead = (bytes: Uint8Array, length: number): string => {
  const head = bytes.subarray(0, length)
  const wide = byteOrderMark(head) ?? wideWithoutMark(head)
  return wide === undefined ? Buffer.from(head).toString("latin1") : decodeAs(head, wide)
}

const isKnown = (label: string): boolean => {
  if (isDos(label.toLowerCase())) return true
  try {
    return new TextDecoder(label).encoding !== ""
  } catch {
    return /^utf-32[lb]e$/i.test(label)
  }
}

const byteOrderMark = ([a, b, c, d]: Uint8Array): string | undefined => {
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? "utf-32le" : "utf-16le"
  if (a === 0xfe && b === 0xff) return "utf-16be"
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8"
  return a === 0 && b === 0 && c === 0xfe && d === 0xff ? "utf-32be" : undefined
}

/** Recognises UTF-16 and UTF-32 without a mark by the position of the zero bytes of their ASCII characters. */
const wideWithoutMark = (bytes: Uint8Array): string | undefined => {
  const length = Math.min(bytes.length, 4096) & ~3
  if (length < 4 || !bytes.subarray(0, length).includes(0)) return undefined
  const zeros = [0, 0, 0, 0]
  for (let at = 0; at < length; at++) if (bytes[at] === 0) zeros[at & 3]!++
  const [a, b, c, d] = zeros.map((count) => count / (length / 4))
  if (a! > 0.9 && b! > 0.9 && c! > 0.6 && d! < 0.1) return "utf-32be"
  if (d! > 0.9 && c! > 0.9 && b! > 0.6 && a! < 0.1) return "utf-32le"
  if (a! + c! > 1.2 && b! + d! < 0.1) return "utf-16be"
  return b! + d! > 1.2 && a! + c! < 0.1 ? "utf-16le" : undefined
}

/** Whether text is UTF-8 with some damaged bytes: most of what is not ASCII decodes. */
const mostlyUtf8 = (buffer: Buffer): boolean => {
  let multibyte = 0
  let damaged = 0
  for (const character of buffer.toString("utf8", 0, sampleBytes)) {
    if (character === "\ufffd") damaged++
    else if (character > "\u007f") multibyte++
  }
  return damaged * 10 < multibyte
}

/**
 * Charsets by how common their files are: the name, the logarithm of how much rarer than the first, and the bytes of a character beyond
 * ASCII.
 */
const charsets: ReadonlyArray<readonly [name: string, rarity: number, width: number]> = [
  ["windows-1252", 0, 1],
  ["windows-1251", -1, 1],
  ["windows-1250", -1, 1],
  ["shift_jis", -1, 2],
  ["gb18030", -1, 2],
  ["big5", -1, 2],
  ["euc-kr", -1, 2],
  ["windows-1254", -1.5, 1],
  ["windows-1253", -1.5, 1],
  ["windows-1255", -1.5, 1],
  ["windows-1256", -1.5, 1],
  ["windows-1257", -1.5, 1],
  ["windows-874", -1.5, 1],
  ["koi8-r", -1.5, 1],
  ["ibm866", -1.5, 1],
  ["iso-8859-2", -1.5, 1],
  ["euc-jp", -1.5, 2],
  ["iso-8859-5", -2, 1],
  ["iso-8859-6", -2, 1],
  ["iso-8859-7", -2, 1],
  ["koi8-u", -2, 1],
  ["x-mac-cyrillic", -2.5, 1],
  ["macintosh", -2, 1],
  ["ibm850", -2, 1],
  ["ibm852", -2.5, 1],
  ["ibm437", -2.5, 1]
]

/** Least mean logarithm of the probability of a byte beyond ASCII in a text that reads like a language. */
const leastLikely = -4.8
/** Mean logarithm of the probability of a byte beyond ASCII from which a reading is beyond doubt. */
const surelyLikely = -4

/** Least confidence with which a charset is taken, that is, that no other one is meant and that the text is one at all. */
const leastSure = 0.75

/** Largest share of a text's characters that may be in doubt for it to be read all the same. */
const mostDoubt = 0.01
/** Natural logarithm of how much less likely a reading may be for it to be a rival of the likeliest. */
const rivalry = Math.log(20)

/** The share of characters that two readings of a text have in different ways. */
const differing = (a: string, b: string): number => {
  const [one, other] = [Array.from(a), Array.from(b)]
  if (one.length !== other.length) return 1
  return one.reduce((sum, character, at) => character === other[at] ? sum : sum + 1, 0) / Math.max(1, one.length)
}

/** The share of characters of a text that are beyond ASCII. */
const beyondAscii = (text: string): number => (text.match(/[^\0-\x7f]/g)?.length ?? 0) / Math.max(1, text.length)

/** The charset in which the text reads most like a language; its confidence grows with the lead over the next one. */
const guess = (bytes: Uint8Array): Guess | undefined => {
  const sample = bytes.subarray(0, sampleBytes)
  const candidates = charsets.map(([name, rarity, width]) => {
    const text = decodeAs(sample, name)
    const { bytes, sum } = likelihoodOf(text, width)
    return { name, text, mean: bytes === 0 ? 0 : sum / bytes, score: sum + rarity }
  }).toSorted((a, b) => b.score - a.score)
  const best = candidates[0]!
  // A charset that decodes this text alike is no rival.
  const second = candidates.find(({ text }) => text !== best.text)
  const margin = second === undefined ? 1 : 1 / (1 + Math.exp(second.score - best.score))
  const quality = Math.min(1, Math.max(0, (best.mean - leastLikely) / (surelyLikely - leastLikely) * 0.4 + 0.6))
  const isDoubtful = best.mean < leastLikely
    ? beyondAscii(best.text) > mostDoubt
    : margin < leastSure && candidates.some(({ score, text }) => score > best.score - rivalry && differing(text, best.text) > mostDoubt)
  return isDoubtful ? undefined : { charset: best.name, confidence: Math.min(margin, quality) }
}

/** Whether bytes are EBCDIC: its letters, digits and blanks have codes that in ASCII are control characters and rare. */
export const isEbcdic = (bytes: Uint8Array): boolean => {
  const length = Math.min(bytes.length, 4096)
  if (length < 16) return false
  let blanks = 0
  let text = 0
  let ascii = 0
  let high = 0
  for (let at = 0; at < length; at++) {
    const byte = bytes[at]!
    if (byte > 0x7f) high++
    if (byte === 0x40) blanks++
    if (byte === 0x40 || byte === 0x4b || byte === 0x6b || byte === 0x15 || byte === 0x25 || byte === 0x0d || byte >= 0xf0) text++
    else if (byte >= 0x81 && byte <= 0xe9 && (byte & 0xf) >= (byte >= 0xe0 ? 2 : 1) && (byte & 0xf) <= 9) text++
    else if ((byte === 0x20 || byte === 0x0a || (byte >= 0x61 && byte <= 0x7a && byte !== 0x6d)) && ++ascii >= length * 0.05) {
      return false
    }
  }
  // A row of `@` is not a row of blanks.
  return high > 0 && blanks > length * 0.06 && text > length * 0.85
}

/** Code page 37 from 0x40 on. National ones differ in a few signs. */
const ebcdic =
  " \u00a0âäàáãåçñ¢.<(+|&éêëèíîïìß!\u0024*);¬-/ÂÄÀÁÃÅÇÑ¦,%_>?øÉÊËÈÍÎÏÌ\u0060:#@'=\u0022Øabcdefghi«»ðýþ±°jklmnopqrªºæ¸Æ¤µ~stuvwxyz¡¿ÐÝÞ®^£¥·©§¶¼½¾[]¯¨´×{ABCDEFGHI­ôöòóõ}JKLMNOPQR¹ûüùúÿ\u005c÷STUVWXYZ²ÔÖÒÓÕ0123456789³ÛÜÙÚ\u009f"

/** The signs in which other code pages differ from page 37. */
const ebcdicPages: ReadonlyArray<readonly [name: string, others: Readonly<Record<number, string>>]> = [
  ["ibm037", {}],
  ["ibm500", { 0x4a: "[", 0x4f: "!", 0x5a: "]", 0x5f: "^", 0xb0: "¢", 0xba: "¬", 0xbb: "|" }],
  ["ibm1047", { 0x5f: "^", 0xad: "[", 0xb0: "¬", 0xba: "Ý", 0xbb: "¨", 0xbd: "]" }],
  ["ibm273", {
    0x43: "{",
    0x4a: "Ä",
    0x4f: "!",
    0x59: "~",
    0x5a: "Ü",
    0x5f: "^",
    0x63: "[",
    0x6a: "ö",
    0x7c: "§",
    0xa1: "ß",
    0xb0: "¢",
    0xb5: "@",
    0xba: "¬",
    0xbb: "|",
    0xc0: "ä",
    0xcc: "¦",
    0xd0: "ü",
    0xdc: "}",
    0xe0: "Ö",
    0xec: "\\",
    0xfc: "]"
  }]
]

const ebcdicTables = ebcdicPages.map(([name, others]) => ({
  name,
  table: Array.from(
    { length: 256 },
    (_, byte) => byte >= 0x40 ? others[byte] ?? ebcdic[byte - 0x40]! : byte === 0x15 || byte === 0x25 ? "\n" : byte === 0x05 ? "\t" : " "
  )
}))

/** Signs where no text has them: between letters, or at all. */
const strange = /(?<=\p{L})[{}~|\\[\]^!§@](?=\p{L})|[¢¬¦¨Ý]|(?<=\p{L})\|(?=\s)|(?<=\s)\|(?=\p{L})/gu

/** Decodes EBCDIC by the code page whose signs stand where signs belong. */
const decodeEbcdic = (bytes: Uint8Array): string => {
  const sample = bytes.subarray(0, sampleBytes)
  const read = (part: Uint8Array, table: ReadonlyArray<string>): string => Array.from(part, (byte) => table[byte]).join("")
  const counts = ebcdicTables.map(({ table }) => read(sample, table).match(strange)?.length ?? 0)
  const fewest = ebcdicTables[counts.indexOf(Math.min(...counts))]!
  guesses.set(bytes, { charset: fewest.name, confidence: 0.9 })
  return read(bytes, fewest.table)
}

const decodeUtf32 = (bytes: Uint8Array, littleEndian: boolean): string => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts: Array<string> = []
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const codePoint = view.getUint32(at, littleEndian)
    if (codePoint === 0xfeff && at === 0) continue
    parts.push(codePoint > 0x10ffff ? "\ufffd" : String.fromCodePoint(codePoint))
  }
  return parts.join("")
}
