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

  const unpack = async (path: string, prefix: string, read: () => Uint8Array, depth: number): Promise<void> => {
    const safe = safePath(path)
    if (isClutter(safe)) return refuse(`${prefix}${safe}`, "ignored", "a hidden file, or one that a system keeps for itself")
    await add({ path: `${prefix}${safe}`, read }, depth)
  }

  const attach = (prefix: string, depth: number) => ({ bytes, mimeType, name }: InnerFile, at: number): Promise<void> =>
    add({
      path: `${prefix}attachments/${name.trim() === "" ? `attachment ${at + 1}` : safePath(name).replace(/^.*\//, "")}`,
      mimeType,
      read: () => bytes
    }, depth)

  /** @param prefix start of the paths of the files inside */
  const enter = async (bytes: Uint8Array, name: string, container: Container, prefix: string, depth: number): Promise<void> => {
    switch (container) {
      case "mail":
      case "msg": {
        const found = container === "mail" ? await mailAttachments(bytes) : (await import("../parse/Msg.ts")).msgAttachments(bytes)
        for (const [at, one] of found.entries()) await attach(prefix, depth)(one, at)
        return
      }
      case "mailbox": {
        let at = 0
        for await (const message of mailboxMessages(bytes)) {
          if (archives) {
            await add({ path: `${prefix}${safeName(message.name)}`, mimeType: message.mimeType, read: () => message.bytes }, depth)
          } // A message that cannot be read is reported by the reader of messages.
          else for (const one of await mailAttachments(message.bytes).catch(() => [])) await attach(prefix, depth)(one, at++)
        }
        return
      }
      case "zip": {
        const zip = openZip(bytes, { entries: limits.parts, unpackedBytes: limits.unpackedBytes, expansion: limits.expansion })
        for (const stored of zip.names()) {
          if (zip.isLink(stored)) refuse(`${prefix}${safePath(stored)}`, "link", "a symbolic link")
          else await unpack(stored, prefix, () => zip.read(stored, limits.bytes) ?? new Uint8Array(), depth)
        }
        return
      }
      case "tar":
        for (const { content, kind, path } of tarEntries(bytes)) {
          if (kind === "file") await unpack(path, prefix, () => content, depth)
          else refuse(`${prefix}${safePath(path)}`, kind, kind === "link" ? "a link" : "neither a file nor a folder, or a sparse file")
        }
        return
      case "packed": {
        const unpacked = await unpackStream(bytes, packingOf(bytes)!, mostOf(bytes))
        if (isTar(unpacked)) return await enter(unpacked, name, "tar", prefix, depth)
        return await add({ path: `${prefix}${safeName(unpackedName(/[^/]*$/.exec(name)?.[0] ?? ""))}`, read: () => unpacked }, depth)
      }
      case "pst": {
        for await (const { path, read } of pstMessages(bytes, limits.bytes)) {
          await add({ path: `${prefix}${safePath(path)}`, mimeType: "message/rfc822", read }, depth)
        }
        return
      }
      case "libarchive": {
        // The entries share one budget, so that their sum is held against the archive's length.
        let left = mostOf(bytes)
        for await (const { kind, path, read } of libarchiveEntries(bytes)) {
          if (kind !== "file") refuse(`${prefix}${safePath(path)}`, kind, kind === "link" ? "a link" : "neither a file nor a folder")
          else {
            await unpack(path, prefix, () => {
              const content = read(Math.min(left, limits.bytes))
              left -= content.length
              return content
            }, depth)
          }
        }
        return
      }
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
