import PostalMime, { type Address, decodeWords, type Email } from "postal-mime"
import type { ParsedDocument, Remark } from "../../domain/Document.ts"
import { oneLine } from "./BlockSink.ts"
import { addCalendar } from "./Calendar.ts"
import { decode, decodeIso2022Kr, decodePart, decodeUtf7, isWide } from "./Decode.ts"
import type { PropertyList } from "./PropertyList.ts"
import type { InnerFile, InnerFiles, Reader } from "./Reader.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { htmlBlocks } from "./Html.ts"
import { ReadFailure } from "./ReadFailure.ts"
import { addParagraphs } from "./Text.ts"
import { isTnef, readTnef } from "./Tnef.ts"

/** Depth to which messages inside messages are read; deeper ones are only named. */
const maxMessageDepth = 5

/** Reads a mail message: its subject as heading, people and date, its text, then attached messages and files, each under its name. */
export const email: Reader = async ({ bytes, format, inner, limits, properties }) => {
  const builder = new DocumentBuilder(limits.characters)
  const message = await parseMessage(isWide(bytes) ? Buffer.from(decode(bytes)) : bytes)
  if (message === undefined) {
    addParagraphs(decode(bytes), builder)
    return builder.build({ format })
  }
  await addMessage(message, builder, 1, inner)
  if (properties !== undefined) addHeaders(message, properties)
  return builder.build({
    format,
    ...factsOf(message),
    remarks: [
      ...(isCutOff(message, bytes) ? [{ kind: "cut" as const, text: "the message is cut off: read to where it ends" }] : []),
      ...partOf(message)
    ]
  })
}

/** A remark where a file is one of several into which a long message was split (RFC 2046 5.2.2). */
const partOf = (message: Email): ReadonlyArray<Remark> => {
  const type = contentTypeOf(message)
  if (!/^\s*message\/partial\b/i.test(type)) return []
  const [number = "?", total] = ["number", "total"].map((name) => new RegExp(`;\\s*${name}="?(\\d+)`, "i").exec(type)?.[1])
  return [{ kind: "cut", text: `part ${number}${total === undefined ? "" : ` of ${total}`} of a message: the rest is in other files` }]
}

const contentTypeOf = ({ headers }: Email): string => headers.find((header) => header.key === "content-type")?.value ?? ""

/** Whether the last part of a message is cut off. */
const isCutOff = (message: Email, bytes: Uint8Array): boolean => {
  const type = contentTypeOf(message)
  const boundary = /^\s*multipart\/.*;\s*boundary=(?:"([^"]+)"|([^\s;]+))/is.exec(type)
  const name = boundary?.[1] ?? boundary?.[2]
  return name !== undefined && !isWide(bytes) &&
    !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(`--${name}--`, "latin1")
}

/** Reads a mailbox in the Unix format: one message after the other (RFC 4155). */
export const mbox: Reader = async ({ bytes, format, inner, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  for (const raw of messages(bytes)) {
    const message = await parseMessage(raw)
    if (message === undefined) addParagraphs(decodePart(raw), builder)
    else await addMessage(message, builder, 1, inner)
  }
  return builder.build({ format })
}

/** The messages of a mailbox. A line starting with `From ` starts a message; inside one, such lines are written `>From `. */
function* messages(bytes: Uint8Array): Generator<Uint8Array> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let start = 0; start < file.length;) {
    const next = file.indexOf("\nFrom ", start)
    const end = next < 0 ? file.length : next + 1
    const first = file.indexOf("\n", start)
    const isEnvelope = file.toString("latin1", start, start + 5) === "From "
    const message = file.toString("latin1", isEnvelope && first >= 0 ? first + 1 : start, end)
    yield Buffer.from(message.replace(/^>(>*From )/gm, "$1"), "latin1")
    start = end
  }
}

/** A parsed message; `undefined` where no header shows that this is mail. */
const parseMessage = async (bytes: Uint8Array): Promise<Email | undefined> => {
  const read = await PostalMime.parse(withFolds(bytes), { forceRfc822Attachments: true, maxNestingDepth: 64 })
    .catch(() => {
      throw new ReadFailure("corrupt", "the mail message is damaged")
    })
  const message = withOldCharsets(read, bytes)
  const type = contentTypeOf(message)
  if (/multipart\/encrypted|pkcs7-mime.*enveloped-data/is.test(type)) {
    throw new ReadFailure("encrypted", "the mail message is encrypted")
  }
  const fields = new Set(["from", "to", "subject", "date", "message-id", "received", "mime-version", "content-type"])
  return message.headers.some((header) => fields.has(header.key)) ? message : undefined
}

/** Most bytes of a header that are examined. */
const headerBytes = 64 * 1024

/** Indents lines of the header that start with an encoded word: some programs fold a long subject without a blank. */
const withFolds = (bytes: Uint8Array): Uint8Array => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const start = file.toString("latin1", 0, headerBytes)
  const head = start.slice(0, /\r?\n\r?\n/.exec(start)?.index)
  const folded = head.replace(/(\n)(?==\?[\w-]+(?:\*[\w-]+)?\?[bq]\?)/gi, "$1 ")
  return folded === head ? bytes : Buffer.concat([Buffer.from(folded, "latin1"), file.subarray(head.length)])
}

/** Decodes texts in seven-bit charsets that decoders no longer support, and which were therefore read as ASCII. */
const withOldCharsets = (message: Email, bytes: Uint8Array): Email => {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")
  const utf7 = /(?:charset\s*=\s*"?|=\?)(?:unicode-1-1-)?utf-?7\b/i.test(source)
  if (!utf7 && !/iso-2022-kr/i.test(source)) return message
  const told = (text: string): string => decodeIso2022Kr(utf7 ? decodeUtf7(text) : text)
  const sender = ({ from }: Email): Email["from"] => from === undefined ? undefined : { ...from, name: told(from.name) }
  return {
    ...message,
    from: sender(message),
    subject: message.subject === undefined ? undefined : told(message.subject),
    text: message.text === undefined ? undefined : told(message.text),
    html: message.html === undefined ? undefined : told(message.html)
  }
}

/** Adds a message's headers by their names, its date as RFC 3339. */
const addHeaders = ({ date, headers, subject }: Email, properties: PropertyList): void => {
  properties.add("subject", oneLine(subject ?? ""))
  properties.add("date", date)
  for (const { key, value } of headers) {
    if (key !== "subject" && (key !== "date" || date === undefined)) properties.add(key, oneLine(decodeWords(value)))
  }
}

const factsOf = (message: Email): Pick<ParsedDocument, "title" | "author"> => {
  const title = oneLine(message.subject ?? "")
  const author = message.from === undefined ? "" : oneLine(message.from.name || (message.from.address ?? ""))
  return { title: title === "" ? undefined : title, author: author === "" ? undefined : author }
}

/** An attachment: a message, a text that is part of the message's own, or a file. */
type Hanging =
  | { readonly message: Email }
  | { readonly write: (builder: DocumentBuilder, level: number) => void | Promise<void> }
  | InnerFile

/** The files attached to a mail message; attached messages and invitations are part of its text. */
export const mailAttachments = async (bytes: Uint8Array): Promise<ReadonlyArray<InnerFile>> => {
  const message = await parseMessage(isWide(bytes) ? Buffer.from(decode(bytes)) : bytes)
  const found: Array<InnerFile> = []
  const collect = async (message: Email, depth: number): Promise<void> => {
    for (const one of await hanging(message, depth + 1)) {
      if ("message" in one) await collect(one.message, depth + 1)
      else if (!("write" in one)) found.push(one)
    }
  }
  if (message !== undefined) await collect(message, 1)
  return found
}

/** The messages of a mailbox, each with a name for people: its date and its subject. */
export async function* mailboxMessages(bytes: Uint8Array): AsyncGenerator<InnerFile> {
  for (const raw of messages(bytes)) {
    const message = await parseMessage(raw).catch(() => undefined)
    const at = new Date(message?.date ?? "")
    const day = Number.isNaN(at.getTime()) ? "" : `${at.toISOString().slice(0, 10)} `
    yield { name: `${day}${oneLine(message?.subject ?? "") || "message"}.eml`, bytes: raw, mimeType: "message/rfc822" }
  }
}

const addMessage = async (message: Email, builder: DocumentBuilder, depth: number, inner: InnerFiles): Promise<void> => {
  builder.add("heading", oneLine(message.subject ?? ""), depth)
  builder.add("paragraph", headerLines(message).join("\n"))
  addBody(message, builder)
  for (const one of await hanging(message, depth + 1)) {
    if ("message" in one) await addMessage(one.message, builder, depth + 1, inner)
    else if ("write" in one) await one.write(builder, depth + 1)
    else await inner.add(one, builder, depth + 1)
  }
}

const headerLines = (message: Email): ReadonlyArray<string> => {
  const date = message.headers.find((header) => header.key === "date")?.value
  return [
    ["From", addresses(message.from === undefined ? [] : [message.from])],
    ["To", addresses(message.to ?? [])],
    ["Cc", addresses(message.cc ?? [])],
    ["Date", oneLine(date ?? "")]
  ].flatMap(([name, value]) => value === "" ? [] : [`${name}: ${value}`])
}

const addresses = (list: ReadonlyArray<Address>): string =>
  list.map((entry) =>
    entry.group !== undefined
      ? `${entry.name}: ${addresses(entry.group)}`
      : entry.name === "" || entry.name === entry.address
      ? entry.address
      : entry.address === ""
      ? entry.name
      : `${entry.name} <${entry.address}>`
  ).join(", ")

/**
 * Adds a message's text. That is the plain text alone where it has at least half of the HTML's words. Otherwise it only points to the HTML,
 * or is another text: then it is the HTML, preceded by the plain text where that has more than twice as many words of its own.
 */
const addBody = (message: Email, builder: DocumentBuilder): void => {
  const text = message.text?.trim() ?? ""
  const html = message.html ?? ""
  if (html === "") return addParagraphs(text, builder)
  const page = new DocumentBuilder(Number.POSITIVE_INFINITY)
  htmlBlocks(html, page)
  const [plain, told] = [wordsOf(text), wordsOf(page.build({ format: "html" }).text)]
  const shared = [...told].filter((word) => plain.has(word)).length
  const isSame = shared * 2 >= told.size
  if (isSame || plain.size - shared > 2 * told.size) addParagraphs(text, builder)
  if (!isSame) htmlBlocks(html, builder)
}

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))

/** The attachments of a message. Pictures in the text and signatures are not attachments to a reader. Outlook's own packing is unpacked. */
const hanging = async (message: Email, depth: number): Promise<ReadonlyArray<Hanging>> => {
  const found: Array<Hanging> = []
  for (const { content, filename, mimeType, related } of message.attachments) {
    const name = filename ?? ""
    const bytes = bytesOf(content)
    const inner = (mimeType === "message/rfc822" || mimeType === "message/partial") && depth <= maxMessageDepth
      ? await parseMessage(bytes)
      : undefined
    if (inner !== undefined) found.push({ message: inner })
    else if (related === true || /signature|pkcs7|pgp/.test(mimeType) || bytes.length === 0) continue
    else if (mimeType === "text/calendar" && name === "") {
      found.push({ write: (builder, level) => void addCalendar(decodePart(bytes), builder, level) })
    } else found.push(...(isTnef(bytes) ? unpacked(bytes, message) : undefined) ?? [{ name, bytes, mimeType }])
  }
  return found
}

/** The files that Outlook packed, and its text where the message has no other; `undefined` where the packing is damaged. */
const unpacked = (bytes: Uint8Array, { html = "", text = "" }: Email): ReadonlyArray<Hanging> | undefined => {
  try {
    const packed = readTnef(bytes)
    const write = async (builder: DocumentBuilder): Promise<void> => (await import("./Msg.ts")).addPackedBody(packed, builder)
    return [...(text.trim() === "" && html.trim() === "" ? [{ write }] : []), ...packed.files]
  } catch (error) {
    if (error instanceof ReadFailure) return undefined
    throw error
  }
}

const bytesOf = (content: ArrayBuffer | Uint8Array | string): Uint8Array =>
  typeof content === "string" ? Buffer.from(content) : new Uint8Array(content)

/** Reads a web page saved as one file (RFC 2557): the page, without what it embeds. */
export const mhtml: Reader = async ({ bytes, format, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  const message = await parseMessage(bytes)
  if (message === undefined) throw new ReadFailure("corrupt", "not a web archive")
  if (message.html === undefined || message.html === "") addParagraphs(message.text ?? "", builder)
  else htmlBlocks(message.html, builder, { titleBlock: true })
  const { author: _, ...facts } = factsOf(message)
  return builder.build({ format, ...facts })
}
