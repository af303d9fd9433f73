import { hash } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { mailAttachments, mailboxMessages } from "../parse/Email.ts"
import { extensionOf, type FormatKey } from "../parse/Formats.ts"
import type { InnerFile } from "../parse/Reader.ts"
import { ReadFailure } from "../parse/ReadFailure.ts"
import { sniff } from "../parse/Sniff.ts"
import { harmlessBytes, openZip } from "../parse/Zip.ts"
import type { Limits, Opened, Opening, Part } from "../Prepared.ts"
import { safeName, safePath, unique } from "./Kinds.ts"
import { isLibarchives, libarchiveEntries } from "./Libarchive.ts"
import { isPst, pstMessages } from "./Pst.ts"
import { packingOf, unpackedName, unpackStream } from "./Streams.ts"
import { isTar, tarEntries } from "./Tar.ts"

/** A contained file, before it is decided whether it is taken. */
interface Found {
  readonly path: string
  readonly mimeType?: string
  /** Reads its bytes. Throws a ReadFailure where they cannot be read. */
  readonly read: () => Uint8Array
}

type Container = "mail" | "msg" | "mailbox" | "zip" | "tar" | "packed" | "libarchive" | "pst"

/**
 * Takes the files out of a mail or an archive, nested ones too, and writes each to a folder under the hash of its bytes. Files that are not
 * taken are listed with the reason. Throws a ReadFailure where the outer file itself cannot be opened.
 */
export const open = async ({ archives, content, into, mimeType, name }: Opening, limits: Limits): Promise<Opened> => {
  const parts: Array<Part> = []
  const taken = new Set<string>()
  let spent = 0

  const refuse = (path: string, reason: NonNullable<Part["refused"]>["reason"], message: string): void => {
    admit()
    parts.push({ path: unique(path, taken), size: 0, hash: "", refused: { reason, message } })
  }
  const admit = (): void => {
    if (parts.length >= limits.parts) throw new ReadFailure("limit", `more than ${limits.parts} files inside; import.limits.maxParts`)
  }

  /** Records a file, and the files it contains. */
  const add = async ({ mimeType, path, read }: Found, depth: number): Promise<void> => {
    admit()
    let bytes: Uint8Array
    try {
      if (spent >= limits.unpackedBytes) throw tooMuch(limits)
      bytes = read()
      if (bytes.length > limits.bytes) throw new ReadFailure("limit", `the file has ${bytes.length} bytes, more than ${limits.bytes}`)
      if (bytes.length > limits.unpackedBytes - spent) throw tooMuch(limits)
    } catch (error) {
      return refuse(path, ...reasonOf(error))
    }
    const container = containerOf(bytes, path, mimeType, archives, limits)
    const own = unique(path, taken)
    if (container !== undefined && !isMail(container, archives)) {
      if (depth >= limits.depth) return refuseOpened(own, "limit", "packed too deeply")
      try {
        return await enter(bytes, own, container, `${own}/`, depth + 1)
      } catch (error) {
        if (parts.length >= limits.parts) throw error
        return refuseOpened(own, ...reasonOf(error))
      }
    }
    spent += bytes.length
    const digest = hash("sha256", bytes, "hex").slice(0, 32)
    writeFileSync(join(into, digest), bytes, { mode: 0o600 })
    const at = parts.push({ path: own, size: bytes.length, hash: digest, mimeType }) - 1
    if (container === undefined || depth >= limits.depth) return
    try {
      await enter(bytes, own, container, `${own}/`, depth + 1)
      parts[at] = { ...parts[at]!, opened: true }
    } catch (error) {
      // The reader of the message reports what is wrong with it.
      if (parts.length >= limits.parts) throw error
    }
  }
  const refuseOpened = (path: string, ...[reason, message]: ReturnType<typeof reasonOf>): void => {
    parts.push({ path, size: 0, hash: "", refused: { reason, message } })
  }

  /** Takes the files in a container; their paths start with `prefix`. */
  const enter = async (bytes: Uint8Array, name: string, container: Container, prefix: string, depth: number): Promise<void> => {
    for await (const found of contentsOf(bytes, name, container, { archives, limits, mostOf })) {
      const path = `${prefix}${found.path}`
      if ("refused" in found) refuse(path, ...found.refused)
      else await add({ ...found, path }, depth)
    }
  }
  const mostOf = (bytes: Uint8Array): number =>
    Math.min(limits.unpackedBytes - spent, Math.max(harmlessBytes, limits.expansion * bytes.length))

  if (content.length === 0) return { kind: "document", parts }
  const container = containerOf(content, name, mimeType, archives, limits)
  if (container === undefined) return { kind: "document", parts }
  await enter(content, name, container, "", 1)
  return { kind: isMail(container, archives) ? "mail" : "archive", parts }
}

/** A file in a container that is not taken, and why. */
interface NotTaken {
  readonly path: string
  readonly refused: readonly [reason: NonNullable<Part["refused"]>["reason"], message: string]
}

interface ContentsOptions {
  readonly archives: boolean
  readonly limits: Limits
  /** Most bytes that an archive may unpack to. */
  readonly mostOf: (bytes: Uint8Array) => number
}

/** The files in a container, by their paths in it, whose folders and names are made safe. */
async function* contentsOf(
  bytes: Uint8Array,
  name: string,
  container: Container,
  options: ContentsOptions
): AsyncGenerator<Found | NotTaken> {
  const { archives, limits, mostOf } = options
  switch (container) {
    case "mail":
    case "msg": {
      const found = container === "mail" ? await mailAttachments(bytes) : (await import("../parse/Msg.ts")).msgAttachments(bytes)
      for (const [at, one] of found.entries()) yield attached(one, at)
      return
    }
    case "mailbox": {
      let at = 0
      for await (const message of mailboxMessages(bytes)) {
        if (archives) yield { path: safeName(message.name), mimeType: message.mimeType, read: () => message.bytes }
        // A message that cannot be read is reported by the reader of messages.
        else for (const one of await mailAttachments(message.bytes).catch(() => [])) yield attached(one, at++)
      }
      return
    }
    case "zip": {
      const zip = openZip(bytes, { entries: limits.parts, unpackedBytes: limits.unpackedBytes, expansion: limits.expansion })
      for (const stored of zip.names()) {
        if (zip.isLink(stored)) yield { path: safePath(stored), refused: ["link", "a symbolic link"] }
        else yield packed(stored, () => zip.read(stored, limits.bytes) ?? new Uint8Array())
      }
      return
    }
    case "tar":
      for (const { content, kind, path } of tarEntries(bytes)) {
        if (kind === "file") yield packed(path, () => content)
        else {
          yield { path: safePath(path), refused: [kind, kind === "link" ? "a link" : "neither a file nor a folder, or a sparse file"] }
        }
      }
      return
    case "packed": {
      const unpacked = await unpackStream(bytes, packingOf(bytes)!, mostOf(bytes))
      if (isTar(unpacked)) return yield* contentsOf(unpacked, name, "tar", options)
      yield { path: safeName(unpackedName(/[^/]*$/.exec(name)?.[0] ?? "")), read: () => unpacked }
      return
    }
    case "pst": {
      for await (const { path, read } of pstMessages(bytes, limits.bytes)) {
        yield { path: safePath(path), mimeType: "message/rfc822", read }
      }
      return
    }
    case "libarchive": {
      // The entries share one budget, so that their sum is held against the archive's length.
      let left = mostOf(bytes)
      for await (const { kind, path, read } of libarchiveEntries(bytes)) {
        if (kind !== "file") yield { path: safePath(path), refused: [kind, kind === "link" ? "a link" : "neither a file nor a folder"] }
        else {
          yield packed(path, () => {
            const content = read(Math.min(left, limits.bytes))
            left -= content.length
            return content
          })
        }
      }
      return
    }
  }
}

/** A file in an archive; one that a system left there is not taken. */
const packed = (path: string, read: () => Uint8Array): Found | NotTaken => {
  const safe = safePath(path)
  return isClutter(safe)
    ? { path: safe, refused: ["ignored", "a hidden file, or one that a system keeps for itself"] }
    : { path: safe, read }
}

/** A file attached to a message, the `at`th one. */
const attached = ({ bytes, mimeType, name }: InnerFile, at: number): Found => ({
  path: `attachments/${name.trim() === "" ? `attachment ${at + 1}` : safePath(name).replace(/^.*\//, "")}`,
  mimeType,
  read: () => bytes
})

/** A mailbox that is not taken apart is one long mail. */
const isMail = (container: Container, archives: boolean): boolean =>
  container === "mail" || container === "msg" || (container === "mailbox" && !archives)

const tooMuch = ({ unpackedBytes }: Limits): ReadFailure =>
  new ReadFailure("limit", `more than ${unpackedBytes} bytes inside; import.limits.maxUnpackedBytes`)

const reasonOf = (error: unknown): [NonNullable<Part["refused"]>["reason"], string] => {
  if (!(error instanceof ReadFailure)) return ["corrupt", "it cannot be unpacked"]
  const { message, problem } = error
  return [problem === "limit" || problem === "encrypted" || problem === "unsupported" ? problem : "corrupt", message]
}

/** Files that systems leave in archives, and hidden ones, which a folder's listing leaves out too. */
const isClutter = (path: string): boolean => /(?:^|\/)(?:__MACOSX|\.[^/]+)(?:\/|$)|(?:^|\/)(?:thumbs\.db|desktop\.ini)$/i.test(path)

/** How a file contains others, judged by its bytes. */
const containerOf = (
  bytes: Uint8Array,
  name: string,
  mimeType: string | undefined,
  archives: boolean,
  limits: Limits
): Container | undefined => {
  if (bytes.length === 0) return undefined
  if (archives) {
    if (packingOf(bytes) !== undefined) return "packed"
    if (isLibarchives(bytes)) return "libarchive"
    if (isPst(bytes)) return "pst"
    if (isTar(bytes)) return "tar"
  }
  const isZip = bytes[0] === 0x50 && bytes[1] === 0x4b
  let format: FormatKey
  try {
    format = sniff(bytes, name, limits, mimeType)
  } catch (error) {
    // Office documents are ZIP archives too, and have been recognised before this; a damaged one reports that when it is opened.
    return archives && isZip && (extensionOf(name) === "zip" || (error instanceof ReadFailure && error.problem === "unsupported"))
      ? "zip"
      : undefined
  }
  return format === "eml" ? "mail" : format === "msg" ? "msg" : format === "mbox" ? "mailbox" : undefined
}
