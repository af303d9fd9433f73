import { createHash } from "node:crypto"
import type { Metadata } from "../../src/domain/RagFile.ts"
import type { SourceItem } from "../../src/ports/Connector.ts"
import type { Message } from "./Answers.ts"
import type { ChannelFacts } from "./Directory.ts"
import { digestible, modifiedOf, textOf } from "./Said.ts"
import { dayOf, microsOf, timeOf } from "./Timestamps.ts"

/** A document of messages in the making: no more of it is kept than its item needs. */
export interface Digest {
  readonly add: (message: Message) => void
  readonly count: () => number
  /** The earliest message. */
  readonly first: () => Message | undefined
  /** Microseconds. */
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

/** Where a person opens a message. */
export const permalink = (workspace: string, channel: string, ts: string): string => `${workspace}archives/${channel}/p${ts.replace(".", "")}`

export const dayTitle = (channel: string, day: string): string => `${channel}, ${day}`

/** The channel and the first words. */
export const threadTitle = (channel: string, first: Message): string => {
  const words = textOf(first).replace(/<(?:[^<>|]*\|)?([^<>]*)>/g, "$1").replace(/&amp;/g, "&").replace(/&lt;/g, "<").replace(/&gt;/g, ">")
    .replace(/[`*_~]/g, "").replace(/\s+/g, " ").trim()
  const cut = words.length > 80 ? `${words.slice(0, 80).replace(/\s\S*$/, "")}…` : words
  return cut === "" ? `${channel}, thread of ${dayOf(microsOf(first.ts))}` : `${channel}: ${cut}`
}

/** What a path of ours names. */
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
