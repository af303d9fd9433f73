import { isTar } from "../containers/Tar.ts"
import type { Limits } from "../Prepared.ts"
import { isCompound, openCompound } from "./Compound.ts"
import { decodeHead, isEbcdic, isWide } from "./Decode.ts"
import { extensionOf, formatOfMimeType, formatOfName, formats, type FormatKey } from "./Formats.ts"
import { generatedIndex } from "./GeneratedIndex.ts"
import { ArchiveFound, ReadFailure } from "./ReadFailure.ts"
import { isTnef } from "./Tnef.ts"
import { openZip, type Zip } from "./Zip.ts"

/** Bytes within which a PDF header may stand (ISO 32000-1, note 13 of annex H). */
const pdfHeaderBytes = 1024
const headBytes = 4096
/** Most bytes of a list of parts; longer ones are made to break readers. */
const maxPartBytes = 1024 * 1024
const controlSampleBytes = 8 * 1024

/**
 * The format of a file: by its bytes first, then by its name and media type, which distinguish kinds of text. Fails with `unsupported`,
 * `encrypted` or `corrupt` where no reader could read it, and with `generated` for an index that a program made of other files.
 */
export const sniff = (
  bytes: Uint8Array,
  name: string,
  limits: Limits,
  mimeType?: string
): FormatKey => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const named = formatOfName(name) ?? (mimeType === undefined ? undefined : formatOfMimeType(mimeType))
  const start = file.toString("latin1", 0, pdfHeaderBytes)
  if (start.startsWith("PK\u0003\u0004") || start.startsWith("PK\u0005\u0006")) {
    return archiveFormat(openZip(bytes, limits), named)
  }
  if (isCompound(file)) return compoundFormat(file, named)
  // Worksheets from before 1993 are records without a container.
  if (/^\t[\0\u0002\u0004\u0008][\u0004-\u0010]\0/.test(start) && (named === "xls" || named === undefined)) return "xls"
  if (/^\s{0,100}\{\\rtf/.test(start)) return "rtf"
  if (start.startsWith("%PDF-") || (start.includes("%PDF-") && isBinary(file, named))) return "pdf"
  if (named === "pdf" && file.includes("%PDF-")) return "pdf"
  if (pictures.test(start)) return "picture"
  if (isTnef(bytes)) return "tnef"
  if (named === "gnumeric" && start.startsWith("\x1f\x8b")) return named
  const archive = archives.find(([pattern]) => pattern.test(start))
  if (archive !== undefined || isTar(bytes)) throw new ArchiveFound(`${archive?.[1] ?? "tar"} archive`)
  if (isBinary(file, named)) throw binaryFile(named, name, start)
  return textFormat(decodeHead(file, headBytes), named, name, file)
}

/** PNG, JPEG, WebP, TIFF, BMP. */
const pictures = /^(?:\x89PNG\r\n\x1a\n|\xff\xd8\xff|RIFF[\s\S]{4}WEBP|II\*\0|MM\0\*|BM[\s\S]{4}\0\0\0\0)/

const archives: ReadonlyArray<readonly [RegExp, string]> = [
  [/^\x1f\x8b/, "gzip"],
  [/^\x28\xb5\x2f\xfd/, "Zstandard"],
  [/^7z\xbc\xaf/, "7-Zip"],
  [/^Rar!/, "RAR"],
  [/^\xfd7zXZ/, "xz"],
  [/^BZh\d/, "bzip2"],
  [/^!BDN/, "Outlook"]
]

const unsupported = (what: string): ReadFailure => new ReadFailure("unsupported", what)

/** Types of the main part in `[Content_Types].xml`, including templates and files with macros. */
const mainParts: ReadonlyArray<readonly [pattern: RegExp, format: FormatKey]> = [
  [/wordprocessingml\.(?:document|template)\.main|ms-word\.(?:document|template)\.macroEnabled/i, "docx"],
  [/presentationml\.(?:presentation|template|slideshow)\.main|ms-powerpoint\.\w+\.macroEnabled\.main/i, "pptx"],
  [/spreadsheetml\.(?:sheet|template)\.main|ms-excel\.(?:sheet|template)\.macroEnabled\.main/i, "xlsx"]
]

const openDocuments: ReadonlySet<FormatKey> = new Set(["odt", "ods", "odp", "odg"])

const archiveFormat = (zip: Zip, named: FormatKey | undefined): FormatKey => {
  const readText = (name: string): string => Buffer.from(zip.read(name, maxPartBytes) ?? []).toString("latin1")
  if (zip.has("[Content_Types].xml")) {
    const types = readText("[Content_Types].xml")
    if (types.includes("sheet.binary.macroEnabled.main")) return "xls"
    const found = mainParts.find(([pattern]) => pattern.test(types))
    if (found !== undefined) return found[1]
  }
  const parts: ReadonlyArray<readonly [string, FormatKey]> = [
    ["word/document.xml", "docx"],
    ["ppt/presentation.xml", "pptx"],
    ["xl/workbook.xml", "xlsx"]
  ]
  for (const [part, format] of parts) if (zip.has(part)) return format
  if (zip.has("mimetype")) {
    const type = readText("mimetype").trim()
    const declared = formatOfMimeType(type)
    if (declared !== undefined) return declared
    // Formulas, charts, databases: archives that nobody wants taken apart.
    if (/^application\/vnd\.(?:oasis\.opendocument|sun\.xml)\./.test(type)) throw unsupported("document of another office program")
  }
  if (zip.has("META-INF/container.xml")) return "epub"
  if (zip.names().some((name) => /(?:^|\/)(?:Index\/Document\.iwa|Index\.zip|index\.apxl|\.iwp[hv]\w*)$/.test(name))) return "iwork"
  if (zip.has("index.xml") && (named === "iwork" || zip.has("buildVersionHistory.plist"))) return "iwork"
  if (zip.has("content.xml") && named !== undefined && openDocuments.has(named)) return named
  throw named !== undefined && formats[named].kind === "binary"
    ? new ReadFailure("corrupt", `an archive without the parts of a ${formats[named].name}`)
    : new ArchiveFound("ZIP archive")
}

/** Streams and storages at the root of an OLE compound file, by the format that has them. */
const compounds: ReadonlyArray<readonly [entry: string, format: FormatKey]> = [
  ["worddocument", "doc"],
  ["powerpoint document", "ppt"],
  ["workbook", "xls"],
  ["book", "xls"]
]
const programs: ReadonlyArray<readonly [entry: string, name: string]> = [
  ["pp40", "presentation of before 1997"],
  ["visiodocument", "Visio drawing"],
  ["quill", "Publisher document"],
  ["hwpsummaryinformation", "Hangul document"],
  ["starwriterdocument", "StarOffice document"],
  ["starcalcdocument", "StarOffice document"],
  ["starimpressdocument", "StarOffice document"],
  ["stardrawdocument", "StarOffice document"],
  ["starchartdocument", "StarOffice document"],
  ["matost", "Works document"],
  ["swdocmgrtempstorage", "SolidWorks document"],
  ["thumbnails", "thumbnails of a folder"],
  ["catalog", "thumbnails of a folder"],
  ["\u0001compobj", "OLE compound file of another program"]
]

/** The format of an OLE compound file, by the entries at the root of its directory. */
const compoundFormat = (file: Buffer, named: FormatKey | undefined): FormatKey => {
  const { storages, streams } = openCompound(file)
  const names = new Set([...streams, ...storages.keys()].map((name) => name.toLowerCase()))
  if (names.has("encryptedpackage")) throw new ReadFailure("encrypted", "an Office document protected by a password")
  // First, since a message may contain a document of the others.
  if (names.has("__properties_version1.0")) return "msg"
  const found = compounds.filter(([entry]) => names.has(entry)).map(([, format]) => format)
  // Programs leave an empty document of another format behind: the name decides.
  const format = found.find((format) => format === named) ?? found[0]
  if (format !== undefined) return format
  throw unsupported(programs.find(([entry]) => names.has(entry))?.[1] ?? "OLE compound file")
}

/** How binary files start that are not supported. */
const binaries: ReadonlyArray<readonly [RegExp, string]> = [
  [/^\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d/, "OneNote section"],
  [/^ITSF/, "compiled help"],
  [/^AC10\d\d/, "AutoCAD drawing"],
  [/^8BPS|^GIF8|^....ftyp(?:heic|heix|mif1|avif)|^\xff\x0a|^BPG/s, "picture of a kind that is not recognised"],
  [/^ID3|^\xff[\xe2-\xff]|^RIFF....WAVE|^fLaC|^OggS|^#!AMR|^....ftypM4A/s, "audio"],
  [/^....ftyp|^....moov|^RIFF....AVI |^\x1aE\xdf\xa3|^FLV|^\x30\x26\xb2\x75/s, "video"],
  [/^\xffWPC/, "WordPerfect document"],
  [/^[\xdb\x9b]\xa5/, "Word document of before 1993"],
  [/^1\xbe\0\0\0\xab/, "document of Word for DOS, or of Windows Write"],
  [/^\0\0[\x02\x1a]\0/, "Lotus or Quattro worksheet"],
  [/^SQLite format 3|^\0\x01\0\0Standard (?:Jet|ACE) DB/, "database"],
  [/^MZ|^\x7fELF|^\xca\xfe\xba\xbe|^[\xcf\xce]\xfa\xed\xfe/, "program"],
  [/^\0\x01\0\0\0|^OTTO|^wOF[F2]/, "font"]
]

const binaryFile = (named: FormatKey | undefined, name: string, start: string): ReadFailure => {
  // A file of another program is not damaged, whatever it is called.
  const known = binaries.find(([pattern]) => pattern.test(start))?.[1]
  if (known !== undefined) return unsupported(known)
  return named !== undefined && formats[named].kind === "binary"
    ? new ReadFailure("corrupt", `named .${extensionOf(name)}, but its content is no ${formats[named].name}`)
    : unsupported("binary file")
}

/**
 * Whether a file is not text. Text has no control characters but white space and escapes; a few strays are tolerated where the name
 * indicates text.
 */
const isBinary = (file: Buffer, named: FormatKey | undefined): boolean => {
  if (isWide(file) || isEbcdic(file)) return false
  const length = Math.min(file.length, controlSampleBytes)
  // Korean seven-bit mail shifts between two sets of characters.
  const shifts = (named === "eml" || named === "mbox") && file.subarray(0, length).includes("\u001b$)C")
  let controls = 0
  let zeros = 0
  for (let at = 0; at < length; at++) {
    const byte = file[at]!
    if (byte === 0) zeros++
    else if (byte < 0x20 && (byte < 0x09 || byte > 0x0d) && byte !== 0x1b && !(shifts && (byte === 0x0e || byte === 0x0f))) controls++
  }
  const borne = named !== undefined && formats[named].kind === "text" ? 0.005 : 0
  return zeros > length * borne || controls > length * 0.02
}

const pictureExtensions = new Set(["svg", "eps", "ai", "xpm", "xbm", "pbm", "pgm", "ppm"])

const textFormat = (
  head: string,
  named: FormatKey | undefined,
  name: string,
  file: Buffer
): FormatKey => {
  const signature = textSignature(head)
  // OpenDocument in one XML file, or the content of one inside another.
  if (signature === "xml" && /<office:document(?:-content)?[\s>]/.test(head)) {
    return named !== undefined && openDocuments.has(named)
      ? named
      : "odt"
  }
  if (signature === "xml" && /<\w+:Workbook\s[^>]*"http:\/\/www\.(?:gnumeric\.org|gnome\.org\/gnumeric)\//.test(head)) return "gnumeric"
  if (named !== undefined && formats[named].kind === "binary") {
    if (signature === "html" || signature === "xml" || signature === "eml") return signature
    // Programs export text under the names of old Office formats, and tab-separated text under Excel's.
    if (named === "xls" || named === "doc" || named === "ppt") return looksDelimited(extensionOf(name), head) ? "tsv" : signature ?? "text"
    throw binaryFile(named, name, head)
  }
  const extension = extensionOf(name)
  if (/^(?:\x04)?%!PS/.test(head) && !/^%!PS-Adobe-[\d.]+ EPSF/.test(head)) throw unsupported("PostScript document")
  const mayBePicture = named === undefined || named === "xml" || named === "text"
  if (pictureExtensions.has(extension) || (mayBePicture && isPicture(head))) throw unsupported("picture")
  if (/^\s*-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY/.test(head)) throw unsupported("private key")
  const index = named === "code" || named === "json" || named === undefined ? generatedIndex(head) : undefined
  if (index !== undefined) throw new ReadFailure("generated", index)
  if (named === undefined) {
    return signature ?? (isJson(head, file) ? "json" : looksDelimited(extension, head) ? "tsv" : "text")
  }
  if (named === "code") return named
  if (named === "json" && isNotebook(head, file)) return "ipynb"
  if (signature === "html" || signature === "vtt" || (signature === "ics" && named === "text")) return signature
  if (signature === "xml" && (named === "text" || named === "html")) return "xml"
  return named
}

const isPicture = (head: string): boolean => /^(?:<\?xml[^>]*>\s*)?(?:<![^>]*>\s*){0,5}<svg[\s>]|^%!PS/.test(head)

/** The format that the first lines of a text prove; undefined where they prove none. */
const textSignature = (head: string): FormatKey | undefined => {
  const text = head.replace(/^\ufeff?\s+/, "")
  if (/^(<!--[\s\S]{0,2000}?-->\s*)?<(!doctype\s+html|html|head|body)[\s>]/i.test(text)) return "html"
  if (text.startsWith("<?xml")) return /<(!doctype\s+html|html)[\s>]/i.test(text) ? "html" : "xml"
  if (/^WEBVTT(\s|$)/.test(text)) return "vtt"
  if (/^\d+\r?\n\d\d:\d\d:\d\d,\d{3} --> /.test(text)) return "srt"
  if (/^From \S+.*\d{4}\r?\n[\w-]+: /.test(text)) return "mbox"
  if (/^BEGIN:VCALENDAR\s/i.test(text)) return "ics"
  if (isMail(text)) return "eml"
  if (/^(%.*\n|\s)*\\documentclass[[{]/.test(text)) return "latex"
  if (text.startsWith("#!")) return "code"
  return undefined
}

/** Whether a text starts with headers, at least two of which only mail has. */
const isMail = (text: string): boolean => {
  const header = /^(?:[\w-]{1,80}:.*\r?\n(?:[ \t].*\r?\n)*)+/.exec(text)?.[0]
  if (header === undefined) return false
  const fields = header.match(/^(from|to|subject|date|message-id|received|mime-version|return-path|delivered-to):/gim)
  return new Set((fields ?? []).map((field) => field.toLowerCase())).size >= 2
}

const parses = (text: string): boolean => {
  try {
    return typeof JSON.parse(text) === "object"
  } catch {
    return false
  }
}

const isJson = (head: string, file: Buffer): boolean => /^\ufeff?\s*[[{]/.test(head) && parses(file.toString("utf8"))

const isNotebook = (head: string, file: Buffer): boolean =>
  /^\ufeff?\s*\{/.test(head) && file.includes("\"nbformat\"") && file.includes("\"cells\"")

/** Whether text is tab-separated, which programs export under Excel's old name. */
const looksDelimited = (extension: string, head: string): boolean => extension === "xls" && (head.split("\n", 1)[0] ?? "").includes("\t")
