import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { ReadFailure } from "../parse/ReadFailure.ts"

/** A file in a 7-Zip or RAR archive. */
interface Entry {
  readonly path: string
  readonly kind: "file" | "link" | "special"
  /** Reads its bytes; to be called before the next entry is requested. Fails with `limit` where there are more than `most`. */
  readonly read: (most: number) => Uint8Array
}

/** The parts of libarchive-wasm, an optional package, that are used here. */
interface Archive {
  readonly nextEntryPointer: () => number
  readonly getEntryPathname: (entry: number) => string | null
  /** `File`, `Directory`, `SymbolicLink`, … */
  readonly getEntryFiletype: (entry: number) => string
  readonly getHardlinkTarget: (entry: number) => string | null
  readonly isEntryEncrypted: (entry: number) => boolean
  readonly hasEncryptedData: () => boolean | null
  /** At most this many bytes of the entry; empty at its end. */
  readonly readData: (bytes: number) => Uint8Array
  readonly archive: number
  readonly free: () => void
}
interface Library {
  readonly error_string: (archive: number) => string | null
}
interface Package {
  readonly ArchiveReader: new(library: Library, data: Int8Array) => Archive
  readonly libarchiveWasm: (options: { readonly wasmBinary: Uint8Array }) => Promise<Library>
}

let loaded: Promise<{ readonly package: Package; readonly library: Library }> | undefined

/** Bytes read from an entry at a time. */
const chunkBytes = 1024 * 1024

/** Whether bytes start like a 7-Zip or RAR archive. */
export const isLibarchives = (bytes: Uint8Array): boolean =>
  /^(?:7z\xbc\xaf\x27\x1c|Rar!\x1a\x07)/.test(Buffer.from(bytes.subarray(0, 8)).toString("latin1"))

/**
 * The files of a 7-Zip or RAR archive, without folders. Fails with `unsupported` where the package is not installed, with `encrypted`, or
 * with `corrupt` where the archive is damaged; the entries before the damage are yielded.
 */
export async function* libarchiveEntries(bytes: Uint8Array): AsyncGenerator<Entry> {
  const { library, package: { ArchiveReader } } = await (loaded ??= load())
  let archive: Archive
  try {
    archive = new ArchiveReader(library, new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  } catch {
    throw corrupt
  }
  let entries = 0
  try {
    for (;; entries++) {
      const entry = archive.nextEntryPointer()
      if (entry === 0) {
        // The library does not distinguish the end from an error, nor an archive that is cut off at its start from an empty one.
        const why = library.error_string(archive.archive) ?? ""
        if (why === "" && (entries > 0 || isEmpty(bytes))) return
        throw /encrypt|passphrase/i.test(why) || archive.hasEncryptedData() === true ? encrypted : corrupt
      }
      const type = archive.getEntryFiletype(entry)
      if (type === "Directory") continue
      const isLink = type === "SymbolicLink" || (archive.getHardlinkTarget(entry) ?? "") !== ""
      const locked = archive.isEntryEncrypted(entry)
      yield {
        path: archive.getEntryPathname(entry) ?? "",
        kind: isLink ? "link" : type === "File" ? "file" : "special",
        read: (most) => {
          if (locked) throw encrypted
          return readEntry(archive, most)
        }
      }
    }
  } finally {
    archive.free()
  }
}

/** Whether a 7-Zip archive declares that it is empty. */
const isEmpty = (bytes: Uint8Array): boolean => bytes.length === 32 && bytes[0] === 0x37

const readEntry = (archive: Archive, most: number): Uint8Array => {
  const chunks: Array<Uint8Array> = []
  let length = 0
  try {
    for (;;) {
      const chunk = archive.readData(chunkBytes)
      if (chunk.length === 0) return Buffer.concat(chunks)
      length += chunk.length
      if (length > most) throw new ReadFailure("limit", `the file unpacks to more than ${most} bytes`)
      chunks.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    }
  } catch (error) {
    if (error instanceof ReadFailure) throw error
    throw error instanceof Error && /encrypt|passphrase/i.test(error.message) ? encrypted : corrupt
  }
}

const corrupt = new ReadFailure("corrupt", "not a readable archive: it is damaged or cut off")
const encrypted = new ReadFailure("encrypted", "the archive is protected by a password")

const load = async () => {
  // Imported through a variable, so that the bundle does not include it: most installations do without it.
  const name = "libarchive-wasm"
  try {
    const found: Package & { readonly default?: Package } = await import(name)
    const wasm = createRequire(import.meta.url).resolve("libarchive-wasm/dist/libarchive.wasm")
    const package_ = found.default ?? found
    return { package: package_, library: await package_.libarchiveWasm({ wasmBinary: readFileSync(wasm) }) }
  } catch {
    loaded = undefined
    throw new ReadFailure("unsupported", "7-Zip and RAR archives need a package that is not installed: npm i libarchive-wasm")
  }
}
