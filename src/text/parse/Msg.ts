import { decompressRTF } from "@kenjiuno/decompressrtf"
import msgReader, { type FieldsData } from "@kenjiuno/msgreader"
import { BlockWriter, oneLine } from "./BlockSink.ts"
import { decodeCodePage } from "./CodePages.ts"
import { decodePart } from "./Decode.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { htmlBlocks } from "./Html.ts"
import type { InnerFile, InnerFiles, Reader } from "./Reader.ts"
import { ReadFailure } from "./ReadFailure.ts"
import { RtfInterpreter } from "./rtf/Interpreter.ts"
import { scanRtf } from "./rtf/Tokens.ts"
import { addParagraphs } from "./Text.ts"
import { readTnef, type Packed } from "./Tnef.ts"

// CommonJS compiled from a module: loaders differ in whether its default export is the default import.
const MsgReader = typeof msgReader === "function" ? msgReader : msgReader.default
type MsgReader = InstanceType<typeof msgReader.default>

/** Depth to which messages inside messages are read; deeper ones are only named. */
const maxMessageDepth = 5

/** Reads an Outlook message (MS-OXMSG): subject, people and date, its text, then attached messages and files. */
export const msg: Reader = async ({ bytes, format, inner, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  const { message, reader } = open(bytes)
  await addMessage(message, reader, builder, 1, inner)
  const title = oneLine(message.subject ?? "")
  const author = oneLine(message.senderName ?? message.senderEmail ?? "")
  return builder.build({ format, title: title === "" ? undefined : title, author: author === "" ? undefined : author })
}

/** Reads the attachment into which Outlook packs its own data, saved as a file. */
export const tnef: Reader = async ({ bytes, format, inner, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  const packed = readTnef(bytes)
  const title = oneLine(packed.subject)
  builder.add("heading", title, 1)
  addPackedBody(packed, builder)
  for (const file of packed.files) await inner.add(file, builder, 2)
  return builder.build({ format, title: title === "" ? undefined : title })
}

export const addPackedBody = ({ body, compressedRtf, html }: Packed, builder: DocumentBuilder): void =>
  addBody({ body, compressedRtf, html }, builder)

const open = (bytes: Uint8Array): { readonly reader: MsgReader; readonly message: FieldsData } => {
  // The library needs bytes at the start of their buffer.
  const reader = new MsgReader(new Uint8Array(bytes).buffer)
  const message = reader.getFileData()
  if (message.error !== undefined && message.error !== "") throw new ReadFailure("corrupt", "not an Outlook message")
  const codepage = message.internetCodepage ?? message.messageCodepage
  // Old messages store their texts in the code page that they name.
  if (codepage === undefined || codepage === 65001 || codepage === 1200) return { reader, message }
  const again = new MsgReader(new Uint8Array(bytes).buffer)
  again.parserConfig = { ansiEncoding: `cp${codepage}` }
  try {
    return { reader: again, message: again.getFileData() }
  } catch {
    return { reader, message }
  }
}

const addMessage = async (
  message: FieldsData,
  reader: MsgReader,
  builder: DocumentBuilder,
  depth: number,
  inner: InnerFiles
): Promise<void> => {
  builder.add("heading", oneLine(message.subject ?? ""), depth)
  builder.add("paragraph", headerLines(message).join("\n"))
  addBody(message, builder)
  for (const one of attachedTo(message, reader, depth)) {
    if ("message" in one) await addMessage(one.message, reader, builder, depth + 1, inner)
    else await inner.add(one, builder, depth + 1)
  }
}

function* attachedTo(
  { attachments = [] }: FieldsData,
  reader: MsgReader,
  depth: number
): Generator<InnerFile | { readonly message: FieldsData }> {
  for (const attachment of attachments) {
    if (attachment.innerMsgContentFields !== undefined && depth < maxMessageDepth) {
      yield { message: attachment.innerMsgContentFields }
      continue
    }
    // Pictures in the text are not attachments to a reader.
    if (attachment.attachmentHidden === true) continue
    const { content, fileName } = reader.getAttachment(attachment)
    const name = attachment.fileName ?? fileName ?? attachment.name ?? ""
    if (content.length > 0) yield { name, bytes: content, mimeType: attachment.attachMimeTag }
  }
}

/** The files attached to an Outlook message; attached messages are part of its text. */
export const msgAttachments = (bytes: Uint8Array): ReadonlyArray<InnerFile> => {
  const { message, reader } = open(bytes)
  const collect = (within: FieldsData, depth: number): ReadonlyArray<InnerFile> =>
    [...attachedTo(within, reader, depth)].flatMap((one) => "message" in one ? collect(one.message, depth + 1) : [one])
  return collect(message, 1)
}

const headerLines = (
  { creationTime, messageDeliveryTime, clientSubmitTime, recipients = [], senderEmail, senderName, senderSmtpAddress }: FieldsData
): ReadonlyArray<string> => {
  const address = senderSmtpAddress ?? senderEmail ?? ""
  const people = (type: string): string =>
    recipients.filter(({ recipType }) => (recipType ?? "to") === type)
      .map(({ email, name = "", smtpAddress }) => named(name, smtpAddress ?? email ?? ""))
      .join(", ")
  return [
    ["From", named(senderName ?? "", address)],
    ["To", people("to")],
    ["Cc", people("cc")],
    ["Date", clientSubmitTime ?? messageDeliveryTime ?? creationTime ?? ""]
  ].flatMap(([name, value]) => value === "" ? [] : [`${name}: ${oneLine(value ?? "")}`])
}

/** A name with its address. Addresses inside an organisation are directory paths that mean nothing to a reader, and are left out. */
const named = (name: string, address: string): string => {
  if (!address.includes("@")) return name
  return name === "" || name === address ? address : `${name} <${address}>`
}

type Body = Pick<FieldsData, "body" | "bodyHtml" | "compressedRtf" | "html" | "internetCodepage">

const addBody = ({ body, bodyHtml, compressedRtf, html, internetCodepage }: Body, builder: DocumentBuilder): void => {
  if (body !== undefined && body.trim() !== "") return addParagraphs(body, builder)
  if (bodyHtml !== undefined && bodyHtml !== "") return void htmlBlocks(bodyHtml, builder)
  if (html !== undefined && html.length > 0) {
    const bytes = new Uint8Array(html)
    return void htmlBlocks(
      internetCodepage === undefined || internetCodepage === 65001 ? decodePart(bytes) : decodeCodePage(internetCodepage, bytes),
      builder
    )
  }
  if (compressedRtf === undefined || compressedRtf.length === 0) return
  const writer = new BlockWriter(builder)
  const interpreter = new RtfInterpreter(writer)
  scanRtf(Uint8Array.from(decompressRTF(Array.from(compressedRtf))), interpreter)
  interpreter.end()
  writer.end()
}
