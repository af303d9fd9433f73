import ignore, { type Ignore } from "ignore"
import { type BigIntStats, type Dirent, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs"
import { join, sep } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import picomatch from "picomatch"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import type { Listed, SourceItem } from "../../src/ports/Connector.ts"

/** The default name of ignore files. */
export const defaultIgnoreFile = ".sluiceignore"

/** The ignore files that apply in a folder, outermost first, each with the folder it stands in. */
export type IgnoreFiles = ReadonlyArray<{ readonly folder: string; readonly rules: Ignore }>

/** Decides which files of a folder the configuration takes. Paths are relative to the root, `/`-separated. */
export interface Rules {
  /** Why a file or folder is left out; undefined where it is taken. */
  readonly reject: (path: string, name: string, folder: boolean, ignores: IgnoreFiles) => string | undefined
  /**
   * The ignore files that apply inside `folder` (`""` is the root), given those outside it. Throws where one is there and
   * cannot be read: what it leaves out must not be taken.
   */
  readonly enter: (folder: string, outer: IgnoreFiles) => IgnoreFiles
}

export const makeRules = (config: SettingsOf<"local">): Rules => {
  const ignoreFile = config.ignoreFile ?? defaultIgnoreFile
  const included = config.include.length === 0
    ? undefined
    : picomatch([...config.include], { dot: true })
  const excluded = picomatch([...config.exclude], { dot: true })
  // `drafts/**` leaves nothing of `drafts`, so it need not be entered.
  const excludedFolder = picomatch(config.exclude.map((glob) => glob.replace(/\/\*\*(?:\/\*)?$/, "")), { dot: true })

  return {
    reject: (path, name, folder, ignores) => {
      if (!config.hidden && name.startsWith(".")) return "hidden"
      if (excluded(path) || (folder && excludedFolder(path))) return "exclude"
      let ignoredBy: string | undefined
      // As in Git, the innermost file that has a rule for the path decides, with a negation too.
      for (const { folder: at, rules } of ignores) {
        const relative = at === "" ? path : path.slice(at.length + 1)
        const { ignored, unignored } = rules.test(folder ? `${relative}/` : relative)
        if (ignored) ignoredBy = join(at, ignoreFile)
        else if (unignored) ignoredBy = undefined
      }
      if (ignoredBy !== undefined) return ignoredBy
      if (!folder && included !== undefined && !included(path)) return "include"
      return undefined
    },
    enter: (folder, outer) => {
      const text = readIfThere(join(config.path, folder, ignoreFile))
      return text === undefined ? outer : [...outer, { folder, rules: ignore().add(text) }]
    }
  }
}

const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8")
  } catch (cause) {
    if (isNodeError(cause) && absentCodes.has(cause.code ?? "")) return undefined
    throw asServiceError(cause, path)
  }
}

/** Error codes of a file that is not there. */
const absentCodes = new Set(["ENOENT", "ENOTDIR", "EISDIR"])

/** Milliseconds during which a new file may change again within the clock's resolution, so its revision cannot be trusted. */
const unsettledMs = 2_000

/**
 * Whether a file was changed just now. Its modification time may be set to any time, also one that lies ahead; the change
 * time cannot, and so decides then.
 */
export const isYoung = ({ ctimeMs, mtimeMs }: BigIntStats, now: number): boolean =>
  now - Number(mtimeMs > ctimeMs && mtimeMs <= now ? mtimeMs : ctimeMs) < unsettledMs

interface Folder {
  /** The path as the file system spells it, relative to the root. */
  readonly real: string
  /** The path as the ledger spells it (NFC). */
  readonly path: string
  readonly ignores: IgnoreFiles
  /** Real paths of the folders above, to break link loops. */
  readonly above: ReadonlyArray<string>
}

/** Most entries listed before the caller may let others run, even if the folder has more. */
const mostAtOnce = 500

/**
 * Lists a folder depth first, names in code-unit order. Synchronous, a folder or {@link mostAtOnce} entries of it at a time: the caller
 * decides when to let others run. Keeps only the open folders in memory, never the whole tree.
 *
 * @throws {ServiceError} when the root itself cannot be read
 */
export function* walk(
  config: SettingsOf<"local">,
  options: { readonly now: number; readonly dataDir: string | undefined }
): Generator<ReadonlyArray<Listed>> {
  const rules = makeRules(config)
  const root = realpathSync(config.path)
  const dataDir = options.dataDir === undefined ? undefined : realIfThere(options.dataDir)
  const stack: Array<Folder> = [{ real: "", path: "", ignores: [], above: [root] }]
  for (let folder = stack.pop(); folder !== undefined; folder = stack.pop()) {
    let out: Array<Listed> = []
    const { entries, ignores } = openFolder(config.path, folder, rules, out)
    const names = new Set(entries.map((entry) => entry.name))
    const at = join(config.path, folder.real)
    const address = addressOf(at)
    const folders: Array<Folder> = []
    for (const entry of entries) {
      if (out.length >= mostAtOnce) {
        yield out
        out = []
      }
      // Two names that differ only in normalisation are two files; only a single one is spelled in NFC.
      const composed = entry.name.normalize("NFC")
      const name = composed !== entry.name && names.has(composed) ? entry.name : composed
      const path = folder.path === "" ? name : `${folder.path}/${name}`
      const real = folder.real === "" ? entry.name : `${folder.real}/${entry.name}`
      const absolute = at.endsWith(sep) ? at + entry.name : at + sep + entry.name
      const skip = (reason: "ignored" | "link" | "special" | "limit", detail: string) => out.push({ _tag: "skipped", path, reason, detail })

      const kind = kindOf(entry, absolute, config.followLinks)
      if (kind === "link") {
        skip("link", "a symbolic link; followLinks takes links that stay inside the folder")
        continue
      }
      if (kind === "broken") {
        skip("link", "a symbolic link that leads nowhere")
        continue
      }
      if (kind === "special") {
        skip("special", "neither a file nor a folder")
        continue
      }
      const because = rules.reject(path, entry.name, kind === "folder", ignores)
      if (because !== undefined) {
        out.push({ _tag: "skipped", path: kind === "folder" ? `${path}/` : path, reason: "ignored", detail: because })
        continue
      }
      if (typeof kind === "object") {
        out.push({ _tag: "failed", path, error: asServiceError(kind.cause, path) })
        continue
      }
      const linked = entry.isSymbolicLink() ? realIfThere(absolute) : undefined
      if (linked !== undefined && linked !== root && !linked.startsWith(root + sep)) {
        skip("link", "a symbolic link that leads out of the folder")
        continue
      }
      if (kind === "folder") {
        const place = linked ?? join(folder.above.at(-1) ?? root, entry.name)
        if (place === dataDir) continue
        if (linked !== undefined && folder.above.includes(linked)) {
          skip("link", "a symbolic link to a folder it is in")
          continue
        }
        folders.push({ real, path, ignores, above: [...folder.above, place] })
        continue
      }
      out.push(listFile(config, path, absolute, address(entry.name), options.now))
    }
    stack.push(...folders.reverse())
    yield out
  }
}

/** The entries of a folder and the ignore files that apply in it. Where either cannot be read, that is listed instead. */
const openFolder = (
  root: string,
  folder: Folder,
  rules: Rules,
  out: Array<Listed>
): { readonly entries: ReadonlyArray<Dirent>; readonly ignores: IgnoreFiles } => {
  try {
    return {
      entries: readdirSync(join(root, folder.real), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1)),
      ignores: rules.enter(folder.real, folder.ignores)
    }
  } catch (cause) {
    const error = asServiceError(cause, folder.path === "" ? root : folder.path)
    if (folder.path === "") throw error
    out.push({ _tag: "failed", path: `${folder.path}/`, error })
    return { entries: [], ignores: folder.ignores }
  }
}

type Kind = "file" | "folder" | "link" | "broken" | "special"

/** What an entry is, or why that cannot be found out: a link may lead to a place that may not be read. */
const kindOf = (entry: Dirent, absolute: string, follow: boolean): Kind | { readonly cause: unknown } => {
  if (entry.isFile()) return "file"
  if (entry.isDirectory()) return "folder"
  if (!entry.isSymbolicLink()) return "special"
  if (!follow) return "link"
  try {
    const target = statSync(absolute, { throwIfNoEntry: false })
    return target === undefined ? "broken" : target.isFile() ? "file" : target.isDirectory() ? "folder" : "special"
  } catch (cause) {
    return isNodeError(cause) && cause.code === "ELOOP" ? "broken" : { cause }
  }
}

/** Names that need no escape in an address: constructing a URL for each of very many files takes longer than reading its size. */
const plainName = /^[\w.-]+$/
const plainAddress = /^file:\/\/(\/[\w./-]+)$/

/** A function from the names of files in a folder to their addresses. */
const addressOf = (folder: string): (name: string) => string => {
  const base = pathToFileURL(folder + sep).href
  return (name) => plainName.test(name) ? base + name : pathToFileURL(join(folder, name)).href
}

/**
 * The path of a file on this machine, by its address.
 *
 * @throws {Error} where the address is another machine's
 */
export const pathOfAddress = (uri: string): string => {
  const plain = sep === "/" && !uri.includes("/..") ? plainAddress.exec(uri) : null
  return plain?.[1] ?? fileURLToPath(uri)
}

const listFile = (config: SettingsOf<"local">, path: string, absolute: string, uri: string, now: number): Listed => {
  let stats: BigIntStats
  try {
    stats = statSync(absolute, { bigint: true })
  } catch (cause) {
    // Deleted since the folder was read, or a name that is not UTF-8 and so cannot be opened.
    if (isNodeError(cause) && cause.code === "ENOENT" && lstatSync(absolute, { throwIfNoEntry: false }) === undefined) {
      return path.includes("\ufffd")
        ? { _tag: "skipped", path, reason: "special", detail: "its name is not UTF-8" }
        : { _tag: "skipped", path, reason: "special", detail: "deleted while the folder was listed" }
    }
    return { _tag: "failed", path, error: asServiceError(cause, path) }
  }
  const size = Number(stats.size)
  if (config.maxFileSize !== undefined && size > config.maxFileSize) {
    return { _tag: "skipped", path, reason: "limit", detail: `${size} bytes; maxFileSize is ${config.maxFileSize}` }
  }
  const item: SourceItem = {
    path,
    uri,
    displayName: path,
    revision: revisionOf(stats),
    size,
    metadata: { modifiedTime: new Date(Number(stats.mtimeMs)).toISOString() },
    ...(isYoung(stats, now) ? { unsettled: true } : {})
  }
  return { _tag: "item", item }
}

/** Revision of a file: its size and both times. A write that resets the modification time still moves the change time. */
export const revisionOf = (stats: BigIntStats): string => `${stats.size}-${stats.mtimeNs}-${stats.ctimeNs}`

/** The real path of a file or folder; undefined where it does not exist. */
export const realIfThere = (path: string): string | undefined => {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

const isNodeError = (cause: unknown): cause is NodeJS.ErrnoException => cause instanceof Error

const codes: Record<string, ServiceError["code"]> = {
  ENOENT: "NOT_FOUND",
  ENOTDIR: "NOT_FOUND",
  ERR_INVALID_URL_SCHEME: "NOT_FOUND",
  EACCES: "PERMISSION_DENIED",
  EPERM: "PERMISSION_DENIED",
  EMFILE: "RESOURCE_EXHAUSTED",
  ENFILE: "RESOURCE_EXHAUSTED",
  EIO: "UNAVAILABLE"
}

export const asServiceError = (cause: unknown, what: string): ServiceError => {
  if (cause instanceof ServiceError) return cause
  const errno = isNodeError(cause) ? cause.code : undefined
  return new ServiceError({
    code: (errno === undefined ? undefined : codes[errno]) ?? "UNKNOWN",
    message: `${what}: ${errno === undefined ? String(cause) : words[errno] ?? errno}`,
    cause
  })
}

const words: Record<string, string> = {
  ENOENT: "no such file or folder",
  ENOTDIR: "not a folder",
  ERR_INVALID_URL_SCHEME: "not a file on this machine",
  EACCES: "may not be read",
  EPERM: "may not be read"
}
