import { ReadFailure } from "../parse/ReadFailure.ts"

/** The parts of pst-extractor, an optional package, that are used here. Its getters throw on damaged items. */
interface Item {
  readonly subject: string
  readonly body: string
  readonly bodyHTML: string
  readonly senderName: string
  readonly senderEmailAddress: string
  readonly displayTo: string
  readonly displayCC: string
  readonly clientSubmitTime: Date | null
  readonly messageDeliveryTime: Date | null
  readonly internetMessageId: string
  readonly numberOfAttachments: number
  readonly descriptorIndexNode: unknown
  readonly getAttachment: (number: number) => Attachment
}
interface Attachment {
  descriptorIndexNode: unknown
  readonly longFilename: string
  readonly filename: string
  readonly mimeTag: string
  readonly filesize: number
  readonly embeddedPSTMessage: Item | null
  readonly fileInputStream: { readonly readCompletely: (into: Buffer) => void } | null
}
interface Folder {
  readonly displayName: string
  readonly hasSubfolders: boolean
  readonly getSubFolders: () => ReadonlyArray<Folder>
  readonly contentCount: number
  readonly getNextChild: () => Item | null
}
interface Package {
  readonly PSTFile: new(bytes: Buffer) => { readonly getRootFolder: () => Folder }
}

/** Deepest nesting of folders in folders, and of messages attached to messages; anything deeper is left out. */
const deepest = 20

/** Whether bytes start like an Outlook archive (MS-PST 2.2.2.6). */
export const isPst = (bytes: Uint8Array): boolean => Buffer.from(bytes.subarray(0, 4)).toString("latin1") === "!BDN"

/**
 * The items of an Outlook archive as mail messages, under the names of their folders: messages, and appointments, contacts and tasks as
 * text. Fails with `unsupported` where the package is not installed, with `corrupt` where the archive cannot be opened; a damaged item is
 * yielded as one whose reading fails.
 *
 * @param maxBytes most bytes of one item with its attachments
 */
export async function* pstMessages(
  bytes: Uint8Array,
  maxBytes: number
): AsyncGenerator<{ readonly path: string; readonly read: () => Uint8Array }> {
  const { PSTFile } = await load()
  const folders: Array<{ readonly folder: Folder; readonly path: string; readonly depth: number }> = []
  try {
    const root = new PSTFile(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).getRootFolder()
    folders.push({ folder: root, path: "", depth: 0 })
  } catch {
    throw corrupt
  }
  for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
    const { depth, folder, path } = next
    for (let left = safely(() => folder.contentCount) ?? 0; left > 0; left--) {
      let item: Item | null
      try {
        item = folder.getNextChild()
      } catch {
        yield { path: `${path}message.eml`, read: fails }
        continue
      }
      if (item === null) break
      const found = item
      const day = safely(() => dateOf(found)?.toISOString().slice(0, 10))
      const subject = (safely(() => found.subject) ?? "").replace(/[/\\]/g, "_").trim()
      yield {
        path: `${path}${day === undefined ? "" : `${day} `}${subject === "" ? "message" : subject}.eml`,
        read: () => {
          try {
            return mailOf(found, { left: maxBytes }, 0)
          } catch (error) {
            throw error instanceof ReadFailure ? error : corrupt
          }
        }
      }
    }
    if (depth < deepest && safely(() => folder.hasSubfolders) === true) {
      for (const inner of safely(() => folder.getSubFolders()) ?? []) {
        const name = (safely(() => inner.displayName) ?? "").replace(/[/\\]/g, "_").trim()
        folders.push({ folder: inner, path: name === "" ? path : `${path}${name}/`, depth: depth + 1 })
      }
    }
  }
}

const corrupt = new ReadFailure("corrupt", "the Outlook archive is damaged or cut off")

const fails = (): never => {
  throw corrupt
}

const safely = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

const dateOf = (item: Item): Date | undefined => item.clientSubmitTime ?? item.messageDeliveryTime ?? undefined

/** An item as a message of RFC 5322, with its attachments. */
const mailOf = (item: Item, budget: { left: number }, depth: number): Buffer => {
  const text = item.body
  const html = item.bodyHTML
  const sender = item.senderEmailAddress
  const headers = [
    ["Subject", encoded(item.subject)],
    // Within an organisation, senders have directory names, which are not addresses.
    ["From", `${encoded(item.senderName)}${sender.includes("@") ? ` <${sender.replace(/[<>\s]/g, "")}>` : ""}`],
    ["To", encoded(item.displayTo)],
    ["Cc", encoded(item.displayCC)],
    ["Date", dateOf(item)?.toUTCString() ?? ""],
    ["Message-ID", item.internetMessageId.replace(/\s/g, "")],
    ["MIME-Version", "1.0"],
    ["Content-Type", `multipart/mixed; boundary="${boundary(depth)}"`]
  ].flatMap(([name, value]) => value === "" ? [] : [`${name}: ${value}`])
  const body = [
    ...(text === "" ? [] : [part("text/plain; charset=utf-8", Buffer.from(text), budget)]),
    ...(html === "" ? [] : [part("text/html; charset=utf-8", Buffer.from(html), budget)])
  ]
  const alternatives = body.length < 2 ? body : [[
    `Content-Type: multipart/alternative; boundary="${boundary(depth)}-a"`,
    "",
    ...body.flatMap((one) => [`--${boundary(depth)}-a`, one]),
    `--${boundary(depth)}-a--`
  ].join("\r\n")]
  const attached = Array.from({ length: item.numberOfAttachments }, (_, i) => attachmentOf(item, i, budget, depth))
  return Buffer.from(
    [...headers, "", ...[...alternatives, ...attached].flatMap((one) => [`--${boundary(depth)}`, one]), `--${boundary(depth)}--`, ""]
      .join("\r\n")
  )
}

/** Separates the parts of a message. Bodies are in base64, which cannot contain it. */
const boundary = (depth: number): string => `--item-${depth}`

const attachmentOf = (item: Item, at: number, budget: { left: number }, depth: number): string => {
  const attachment = item.getAttachment(at)
  // The package leaves this out, and without it reads no message inside a message.
  attachment.descriptorIndexNode ??= item.descriptorIndexNode
  const message = depth < deepest ? attachment.embeddedPSTMessage : null
  const given = attachment.longFilename || attachment.filename
  const name = (given || (message === null ? `attachment ${at + 1}` : `${message.subject || "message"}.eml`)).replace(/[\r\n"]/g, " ")
  const named = `Content-Disposition: attachment; filename*=UTF-8''${encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, percent)}`
  if (message !== null) return part("message/rfc822", mailOf(message, budget, depth + 1), budget, named, true)
  if (attachment.filesize > budget.left) throw tooLarge
  const bytes = Buffer.alloc(Math.max(0, attachment.filesize))
  attachment.fileInputStream?.readCompletely(bytes)
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(attachment.mimeTag) ? attachment.mimeTag : "application/octet-stream"
  return part(type, bytes, budget, named)
}

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`

const tooLarge = new ReadFailure("limit", "a message with its attachments is larger than import.limits.maxBytes")

const part = (type: string, bytes: Buffer, budget: { left: number }, disposition?: string, plain = false): string => {
  budget.left -= bytes.length
  if (budget.left < 0) throw tooLarge
  return [
    `Content-Type: ${type}`,
    ...(disposition === undefined ? [] : [disposition]),
    // Messages inside messages must not be encoded.
    `Content-Transfer-Encoding: ${plain ? "8bit" : "base64"}`,
    "",
    plain ? bytes.toString("utf8") : inLines(bytes.toString("base64"))
  ].join("\r\n")
}

/** Longest lines that mail allows (RFC 5322): the mail reader takes base64 line by line, so fewer lines are faster. */
const lineCharacters = 988

const inLines = (text: string): string =>
  Array.from({ length: Math.ceil(text.length / lineCharacters) }, (_, i) => text.slice(i * lineCharacters, (i + 1) * lineCharacters)).join(
    "\r\n"
  )

/** A header's text as encoded words of RFC 2047, short enough for lines. */
const encoded = (text: string): string => {
  const clean = text.replace(/[\0-\u001f]+/g, " ").trim()
  if (/^[\x20-\x7e]{0,70}$/.test(clean) && !/[<>@"(),:;=?]/.test(clean)) return clean
  const words: Array<string> = []
  let word = ""
  for (const character of clean) {
    if (Buffer.byteLength(word + character) > 45) {
      words.push(word)
      word = ""
    }
    word += character
  }
  return [...words, word].map((one) => `=?utf-8?B?${Buffer.from(one).toString("base64")}?=`).join("\r\n ")
}

const load = async (): Promise<Package> => {
  // Imported through a variable, so that the bundle does not include it: most installations do without it.
  const name = "pst-extractor"
  try {
    const found: Package & { readonly default?: Package } = await import(name)
    return found.default ?? found
  } catch {
    throw new ReadFailure("unsupported", "Outlook archives need a package that is not installed: npm i pst-extractor")
  }
}
