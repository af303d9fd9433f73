import { createHash } from "node:crypto"
import type { Metadata } from "../../src/domain/RagFile.ts"
import type { Listed, SourceItem } from "../../src/ports/Connector.ts"
import { blocksText, isLayout } from "./Blocks.ts"
import type { ChannelFacts } from "./Directory.ts"
import { mentionsOf, type Names, toMarkdown } from "./Mrkdwn.ts"
import type { Attachment, File, Message } from "./SlackApi.ts"

/** Slack's `ts` ("1512085950.000216") as microseconds since 1970. */
export const microsOf = (ts: string): number => {
  const [seconds = "", fraction = ""] = ts.split(".")
  return Number(seconds) * 1_000_000 + Number(fraction.padEnd(6, "0").slice(0, 6))
}

export const tsOf = (micros: number): string => `${Math.floor(micros / 1_000_000)}.${String(micros % 1_000_000).padStart(6, "0")}`

/** An RFC 3339 time as microseconds since 1970; finer fractions are cut off. */
export const microsOfTime = (time: string): number => {
  const fraction = /\.(\d+)/.exec(time)?.[1] ?? ""
  return Date.parse(time.replace(/\.\d+/, "")) * 1000 + Number(fraction.padEnd(6, "0").slice(0, 6))
}

const timeOf = (micros: number): string => new Date(Math.floor(micros / 1000)).toISOString()

/** The UTC day of a time in microseconds: `2026-10-12`. */
export const dayOf = (micros: number): string => timeOf(micros).slice(0, 10)

export const startOfDay = (day: string): number => Date.parse(`${day}T00:00:00Z`) * 1000

export const dayMicros = 86_400_000_000

/** A range of times, from `from` (inclusive) to `until` (exclusive), in microseconds. */
export interface Range {
  readonly from: number
  readonly until: number
}

export const intersect = (a: Range, b: Range): Range => ({
  from: Math.max(a.from, b.from),
  until: Math.min(a.until, b.until)
})

/** Subtypes of Slack's own notices, and of what is left of deleted messages. */
const noise =
  /^(?:channel_|group_|bot_(?:add|remove|enable|disable)|pinned_item|unpinned_item|reminder_|tombstone|message_|ekm_|sh_room_|huddle_)/

/** Whether a message has content: words and files of people and apps, not notices or deleted messages. */
export const isSaid = (message: Message): boolean =>
  message.hidden !== true && !noise.test(message.subtype ?? "") &&
  (textOf(message).trim() !== "" || (message.attachments ?? []).length > 0 || (message.files ?? []).length > 0)

/** The kind of document that a message of a channel's history belongs to; undefined for none. */
export const placeOf = (message: Message, range: Range): "thread" | "day" | undefined => {
  const { thread_ts: thread, ts } = message
  // The parent may be deleted while its replies are still there.
  if (thread === ts && (message.reply_count ?? 0) > 0) return "thread"
  if (!isSaid(message)) return undefined
  // A reply that was also sent to the channel belongs to its thread, unless the thread is out of range.
  return typeof thread === "string" && thread !== ts && microsOf(thread) >= range.from ? undefined : "day"
}

/**
 * The words of a message or an attachment, in mrkdwn. Beside an app's layout, Slack shows the text in notifications only: it is left out
 * where it says nothing else.
 */
const textOf = ({ blocks, text }: Pick<Message, "blocks" | "text">): string => {
  const own = typeof text === "string" && text.trim() !== "" ? text : ""
  if (own !== "" && !isLayout(blocks ?? [])) return own
  const shown = blocksText(blocks ?? [])
  const words = new Set(wordsIn(shown))
  return own === "" || wordsIn(own).every((word) => words.has(word)) ? shown : [own, shown].filter((part) => part !== "").join("\n\n")
}

const wordsIn = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** When a message was sent or last edited, in microseconds. */
const modifiedOf = ({ edited, ts }: Message): number => Math.max(microsOf(ts), microsOf(edited?.ts ?? "0"))

/** Everything about a message that its document shows, for a digest. */
export const digestible = (message: Message): string =>
  JSON.stringify([
    message.ts,
    message.user ?? message.bot_id ?? null,
    message.username ?? null,
    message.edited?.ts ?? null,
    textOf(message),
    (message.attachments ?? []).map(attachmentFacts),
    (message.files ?? []).map(({ id, mode, name }) => [id, mode ?? null, name ?? null])
  ])

const attachmentFacts = (attachment: Attachment) => [
  attachment.pretext ?? null,
  attachment.title ?? null,
  attachment.title_link ?? null,
  textOf(attachment),
  (attachment.files ?? []).map(({ id }) => id),
  attachment.fallback ?? null,
  attachment.fields ?? null
]

/** A document that messages are being added to: it keeps only what its item needs. */
export interface Digest {
  readonly add: (message: Message) => void
  readonly count: () => number
  /** The earliest message; undefined where there is none. */
  readonly first: () => Message | undefined
  /** The latest time of sending or editing, in microseconds. */
  readonly modified: () => number
  readonly revision: () => string
}

export const makeDigest = (): Digest => {
  const hash = createHash("sha256")
  let count = 0
  let first: Message | undefined
  let modified = 0
  return {
    add: (message) => {
      hash.update(digestible(message)).update("\n")
      count++
      if (first === undefined || microsOf(message.ts) < microsOf(first.ts)) first = message
      modified = Math.max(modified, modifiedOf(message))
    },
    count: () => count,
    first: () => first,
    modified: () => modified,
    revision: () => hash.copy().digest("hex").slice(0, 32)
  }
}

/** The item of a digest that has messages. */
export const itemOf = (digest: Digest, document: {
  readonly channel: ChannelFacts
  readonly path: string
  readonly title: string
  readonly uri: string
  readonly metadata: Metadata
}): SourceItem => {
  const { channel, metadata, path, title, uri } = document
  const created = microsOf(digest.first()?.ts ?? "0")
  return {
    path,
    uri,
    displayName: `${title.replace(/[/\\\u0000-\u001f]+/g, " ").normalize("NFC")}.md`,
    revision: digest.revision(),
    mimeType: "text/markdown",
    metadata: {
      title,
      channel: channel.name,
      channelId: channel.id,
      createdTime: timeOf(created),
      modifiedTime: timeOf(digest.modified()),
      url: uri,
      ...metadata
    },
    permissions: channel.permissions
  }
}

/** The address at which a person opens a message. */
export const permalink = (workspace: string, channel: string, ts: string): string =>
  `${workspace}archives/${channel}/p${ts.replace(".", "")}`

export const dayTitle = (channel: string, day: string): string => `${channel}, ${day}`

/** A thread's title: the channel and the first words. */
export const threadTitle = (channel: string, first: Message): string => {
  const words = textOf(first).replace(/<(?:[^<>|]*\|)?([^<>]*)>/g, "$1").replace(/&amp;/g, "&").replace(/&lt;/g, "<").replace(/&gt;/g, ">")
    .replace(/[`*_~]/g, "").replace(/\s+/g, " ").trim()
  const cut = words.length > 80 ? `${words.slice(0, 80).replace(/\s\S*$/, "")}…` : words
  return cut === "" ? `${channel}, thread of ${dayOf(microsOf(first.ts))}` : `${channel}: ${cut}`
}

/** What the path of an item refers to. */
export type Place =
  | { readonly _tag: "day"; readonly channel: string; readonly day: string }
  | { readonly _tag: "thread"; readonly channel: string; readonly ts: string }
  | { readonly _tag: "file"; readonly channel: string; readonly id: string }

export const placeOfPath = (path: string): Place | undefined => {
  const [, channel = "", rest = ""] = /^([A-Z0-9]+)\/([^]+)$/.exec(path) ?? []
  const [day] = /^\d{4}-\d\d-\d\d$/.exec(rest) ?? []
  if (day !== undefined) return { _tag: "day", channel, day }
  const ts = /^threads\/(\d+\.\d+)$/.exec(rest)?.[1]
  if (ts !== undefined) return { _tag: "thread", channel, ts }
  const id = /^files\/([A-Z0-9]+)-/.exec(rest)?.[1]
  return id === undefined ? undefined : { _tag: "file", channel, id }
}

/** The event for an attached file as a separate item; undefined when the file is gone. */
export const listedFile = (
  file: File,
  channel: ChannelFacts,
  author: string | undefined,
  owns: (url: string) => boolean
): Listed | undefined => {
  if (file.mode === "tombstone") return undefined
  const path = `${channel.id}/files/${file.id}-${nameOf(file).replace(/[/\\\u0000-\u001f]/g, "_")}`
  if (file.mode === "hidden_by_limit") {
    return { _tag: "skipped", path, reason: "hidden", detail: "hidden by the workspace's plan; what is stored of it stays" }
  }
  if (file.is_external === true || file.mode === "external") {
    return { _tag: "skipped", path, reason: "unsupported", detail: "kept outside Slack" }
  }
  const url = addressOf(file)
  // Files of other workspaces are known only by their id until they are requested.
  if (file.file_access !== "check_file_info" && (url === undefined || !owns(url))) {
    return { _tag: "skipped", path, reason: "unsupported", detail: url === undefined ? "has no address" : "kept outside Slack" }
  }
  const created = (file.created ?? file.timestamp ?? 0) * 1_000_000
  const modified = (file.updated ?? 0) * 1_000_000
  const mimeType = isCanvas(file) ? "text/html" : file.mimetype ?? ""
  return {
    _tag: "item",
    item: {
      path,
      uri: file.permalink ?? url ?? "",
      displayName: nameOf(file),
      revision: revisionOf(file),
      ...(typeof file.size === "number" && !isCanvas(file) ? { size: file.size } : {}),
      ...(mimeType === "" ? {} : { mimeType }),
      metadata: {
        title: file.title ?? nameOf(file),
        channel: channel.name,
        channelId: channel.id,
        fileId: file.id,
        ...(author === undefined ? {} : { author }),
        ...(created === 0 ? {} : { createdTime: timeOf(created), modifiedTime: timeOf(Math.max(created, modified)) }),
        ...(typeof file.permalink === "string" ? { url: file.permalink } : {})
      },
      permissions: channel.permissions
    }
  }
}

/** Revision of a file. Only canvases and snippets can be edited. */
const revisionOf = ({ created, id, size, timestamp, updated }: File): string =>
  [id, size ?? 0, updated ?? timestamp ?? created ?? 0].join("-")

export const addressOf = ({ url_private, url_private_download }: File): string | undefined =>
  url_private_download ?? url_private ?? undefined

/** Whether a file is a canvas, which downloads as HTML. */
export const isCanvas = ({ filetype }: File): boolean => filetype === "quip" || filetype === "canvas"

const nameOf = (file: File): string => {
  const name = [file.name, file.title].find((each) => typeof each === "string" && each.trim() !== "") ?? file.id
  return (isCanvas(file) && !/\.html?$/i.test(name) ? `${name}.html` : name).normalize("NFC")
}

/** The ids whose names are needed to render these messages. */
export const idsIn = (messages: ReadonlyArray<Message>): { readonly [K in "users" | "channels" | "groups"]: Set<string> } => {
  const users = new Set<string>()
  const groups = new Set<string>()
  const channels = new Set<string>()
  for (const message of messages) {
    if (typeof message.user === "string") users.add(message.user)
    const attached = (message.attachments ?? []).flatMap((attachment) => [
      attachment.pretext ?? "",
      textOf(attachment),
      attachment.fallback ?? "",
      ...(attachment.fields ?? []).map(({ value }) => value ?? "")
    ])
    for (const text of [textOf(message), ...attached]) {
      const mentioned = mentionsOf(text)
      for (const id of mentioned.users) users.add(id)
      for (const id of mentioned.channels) channels.add(id)
      for (const id of mentioned.groups) groups.add(id)
    }
  }
  return { users, channels, groups }
}

/** Messages as Markdown, oldest first, each with its author and time. */
export const renderMessages = (title: string, messages: ReadonlyArray<Message>, names: Names): string =>
  [`# ${title.replace(/([\\`*_<>[\]])/g, "\\$1")}`, ...messages.filter(isSaid).map((message) => renderMessage(message, names))].join(
    "\n\n"
  ) + "\n"

const renderMessage = (message: Message, names: Names): string => {
  const when = `${timeOf(microsOf(message.ts)).slice(0, 16).replace("T", " ")} UTC`
  const said = [
    toMarkdown(textOf(message), names),
    ...(message.attachments ?? []).map((attachment) => renderAttachment(attachment, names)),
    ...attachedNames(message.files)
  ]
  return [`**${authorOf(message, names)}** (${when}):`, ...said.filter((part) => part !== "")].join("\n\n")
}

const attachedNames = (files: Message["files"]): ReadonlyArray<string> =>
  (files ?? []).flatMap(({ mode, name, title }) => mode === "tombstone" ? [] : [`Attached: ${title ?? name ?? "a file"}`])

const authorOf = (message: Message, names: Names): string =>
  [message.username, message.bot_profile?.name].find((name) => typeof name === "string" && name !== "") ??
    (typeof message.user === "string" ? names.user(message.user) : message.bot_id ?? "Slack")

const renderAttachment = (attachment: Attachment, names: Names): string => {
  const { author_name, fallback, fields, files, pretext, title, title_link } = attachment
  const heading = typeof title !== "string" || title === "" ? "" : title_link ? `[${title}](${title_link})` : title
  const parts = [
    toMarkdown(pretext ?? "", names),
    author_name ?? "",
    heading,
    toMarkdown(textOf(attachment), names),
    ...(fields ?? []).map((field) => [field.title ?? "", toMarkdown(field.value ?? "", names)].filter((part) => part !== "").join(": ")),
    ...attachedNames(files)
  ].filter((part) => part !== "")
  const body = parts.length === 0 ? toMarkdown(fallback ?? "", names) : parts.join("\n\n")
  return body === "" ? "" : body.replace(/^/gm, "> ").replace(/^> $/gm, ">")
}
