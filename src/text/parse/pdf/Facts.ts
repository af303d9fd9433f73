import { decodeXML } from "entities"
import { oneLine } from "../BlockSink.ts"
import type { PropertyList } from "../PropertyList.ts"

export interface PdfFacts {
  readonly title?: string
  readonly author?: string
}

/** Title and author from the XMP packet, else from an information dictionary that is not in a compressed stream. */
export const pdfFacts = (file: Uint8Array, xmp: string | undefined): PdfFacts => {
  const info = xmp === undefined ? informationDictionary(file) : undefined
  const title = presentable(xmp === undefined ? stringOf(info, "Title") : firstItem(xmp, "dc:title"))
  const author = presentable(xmp === undefined ? stringOf(info, "Author") : firstItem(xmp, "dc:creator"))
  return { title, author }
}

/** Adds the properties in the XMP packet, and those that only the information dictionary has; dates as RFC 3339. */
export const addPdfProperties = (file: Uint8Array, xmp: string | undefined, properties: PropertyList): void => {
  if (xmp !== undefined) addXmp(xmp, properties)
  const info = informationDictionary(file)
  for (const [, key = ""] of (info ?? "").matchAll(/\/([A-Za-z][\w.-]{0,100})\s*(?=[(<](?!<))/g)) {
    properties.addNew(key, dateOf(stringOf(info, key.replaceAll(/[.-]/g, "\\$&"))))
  }
}

/** Most characters of a packet that are examined: thumbnails of pages come last. */
const mostXmp = 256 * 1024

/** Adds elements and attributes of a packet by their names without a prefix, except those about the packet itself. */
const addXmp = (packet: string, properties: PropertyList): void => {
  const xmp = packet.slice(0, mostXmp)
  for (const [, name = "", value = ""] of xmp.matchAll(/\s(?!(?:rdf|x|xml|xmlns|stEvt|stRef):)\w{1,30}:(\w{1,100})="([^"]{0,4000})"/g)) {
    properties.addNew(name, oneLine(decodeXML(value)))
  }
  const elements = /<(?!(?:rdf|x|xml|stEvt|stRef):)(\w{1,30}):(\w{1,100})(?:\s[^<>]{0,400})?>([^]{0,5000}?)<\/\1:\2>/g
  for (const [, , name = "", body = ""] of xmp.matchAll(elements)) {
    const items = [...body.matchAll(/<rdf:li(?:\s[^<>]{0,200})?>([^<]{0,4000})</g)].map(([, item = ""]) => oneLine(decodeXML(item)))
    // A value in several languages counts once, the default first.
    if (body.includes("<rdf:Alt")) properties.addNew(name, items[0])
    else if (items.length > 0) properties.addList(name, items)
    else if (!body.includes("<")) properties.addNew(name, oneLine(decodeXML(body)))
  }
}

/** A date (ISO 32000-1, 7.9.4) as RFC 3339; any other text as it is. */
const dateOf = (text: string | undefined): string | undefined => {
  const found = /^D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-]\d\d)'?(\d\d)?'?)?/.exec(text ?? "")
  if (found === null) return text
  const [, year, month = "01", day = "01", hour = "00", minute = "00", second = "00", zone, minutes = "00"] = found
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${zone === undefined ? "Z" : `${zone}:${minutes}`}`
}

/** A title that a person gave; programs name a document after its file where its author did not. */
const presentable = (text: string | undefined): string | undefined => {
  const clean = oneLine((text ?? "").replace(/^Microsoft (?:Word|PowerPoint|Excel) - /, ""))
  return clean === "" || /^untitled|\.(?:docx?|dvi|pdf|tex|indd|qxd)$/i.test(clean) ? undefined : clean
}

const firstItem = (xmp: string, property: string): string | undefined => {
  const start = xmp.indexOf(`<${property}`)
  const end = start < 0 ? -1 : xmp.indexOf(`</${property}>`, start)
  if (end < 0) return undefined
  const item = /<rdf:li[^>]{0,200}>([^<]{0,1000})</.exec(xmp.slice(start, end))
  return item === null ? undefined : decodeXML(item[1]!)
}

const maxDictionary = 64 * 1024

const informationDictionary = (bytes: Uint8Array): string | undefined => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const named = file.lastIndexOf("/Info ")
  // The strings of an encrypted file are encrypted too.
  if (named < 0 || file.includes("/Encrypt ")) return undefined
  const reference = /^\/Info (\d{1,10}) (\d{1,5}) R/.exec(file.toString("latin1", named, named + 40))
  if (reference === null) return undefined
  const marker = `${reference[1]} ${reference[2]} obj`
  for (let at = file.lastIndexOf(marker); at >= 0; at = at === 0 ? -1 : file.lastIndexOf(marker, at - 1)) {
    if (at > 0 && file[at - 1]! >= 0x30 && file[at - 1]! <= 0x39) continue
    const end = file.indexOf("endobj", at)
    return file.toString("latin1", at, Math.min(end < 0 ? file.length : end, at + maxDictionary))
  }
  return undefined
}

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" }

/** A text string (ISO 32000-1, 7.9.2): literal or hexadecimal, in UTF-16BE with a mark, else nearly Latin-1. */
export const stringOf = (dictionary: string | undefined, key: string): string | undefined => {
  const found = new RegExp(`/${key}\\s*(?:\\(((?:[^()\\\\]|\\\\[^]|\\([^()]{0,1000}\\)){0,2000})\\)|<([\\da-fA-F\\s]{0,4000})>)`)
    .exec(dictionary ?? "")
  if (found === null) return undefined
  const raw = found[2] === undefined
    ? found[1]!.replace(/\\(?:([0-7]{1,3})|(\r\n|[^]))/g, (_, octal: string | undefined, other: string | undefined) =>
      octal === undefined
        ? /[\r\n]/.test(other!) ? "" : escapes[other!] ?? other!
        : String.fromCharCode(Number.parseInt(octal, 8) & 0xff))
    : Buffer.from(found[2].replace(/\s/g, ""), "hex").toString("latin1")
  const bytes = Buffer.from(raw, "latin1")
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes)
  return bytes[0] === 0xef && bytes[1] === 0xbb ? bytes.toString("utf8", 3) : raw
}
