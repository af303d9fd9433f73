import { createHash, type Hash } from "node:crypto"
import { closeSync, fsyncSync, openSync, readSync, statSync, writeSync } from "node:fs"
import { open } from "node:fs/promises"
import { DatabaseSync } from "node:sqlite"
import { StateError } from "../domain/Errors.ts"
import { migrations } from "./Migrations.ts"

/**
 * A bundle is a single file with the state database of one corpus, to be read and never written. The database comes first, and has nothing
 * that depends on when or where it was made. A footer of {@link footerBytes} follows:
 *
 * | bytes | what |
 * |---|---|
 * | 16 | {@link magic} |
 * | 4 | version of the bundle's format, little endian as all numbers |
 * | 4 | version of the database's schema |
 * | 8 | bytes of the database |
 * | 32 | SHA-256 of all that comes before |
 *
 * Magic and format version have the same place in all versions, so that a newer bundle can be distinguished from a damaged one.
 */
const magic = "sluice bundle 1\n"
const format = 1
const footerBytes = 64

/** SQLite's `application_id`, "SLUB", which distinguishes a truncated bundle from other databases. */
const applicationId = 0x53_4c_55_42
const sqliteMagic = "SQLite format 3\0"
/** Offset of the application id in the header of a database, https://www.sqlite.org/fileformat.html#the_database_header. */
const applicationIdAt = 68
const headBytes = applicationIdAt + 4
/** Offsets of header fields that depend on how the database was written: change counter, version-valid-for number and SQLite's version. */
const counters = [24, 92] as const
const writtenByAt = 96

/** Whether a path is a bundle rather than a data directory. It does not check whether the bundle is intact. */
export const isBundle = (place: string): boolean => {
  if (statSync(place, { throwIfNoEntry: false })?.isFile() !== true) return false
  try {
    const file = openSync(place, "r")
    try {
      const head = Buffer.alloc(headBytes)
      readSync(file, head, 0, headBytes, 0)
      return isDatabase(head) && head.readUInt32BE(applicationIdAt) === applicationId
    } finally {
      closeSync(file)
    }
  } catch {
    // Opening it will report why it cannot be read.
    return false
  }
}

const isDatabase = (head: Buffer): boolean => head.toString("latin1", 0, sqliteMagic.length) === sqliteMagic

/** Opens a database in which a bundle is made. Writes are not durable: after a crash the bundle is made again from the start. */
export const makeBundleDatabase = (path: string): DatabaseSync => {
  const db = new DatabaseSync(path)
  db.exec(
    "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE; PRAGMA cache_size = -16384"
  )
  db.exec(`PRAGMA application_id = ${applicationId}`)
  for (const sql of migrations) db.exec(sql)
  db.exec(`PRAGMA user_version = ${migrations.length}; CREATE TABLE bundle (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`)
  return db
}

/** Size and hash of a bundle. */
export interface Sealed {
  readonly bytes: number
  /** SHA-256 of the whole file, footer included, in hex, as `sha256sum` prints it. */
  readonly sha256: string
}

/** Makes a bundle at `to` from the finished database `from`. It is durable when this returns. Synchronous; memory stays flat. */
export const sealBundle = (from: DatabaseSync, to: string): Sealed => {
  // Afterwards rows are in order, no free space is left, and nothing depends on how the database was written.
  from.prepare("VACUUM INTO ?").run(to)
  const file = openSync(to, "r+")
  try {
    const one = Buffer.from([0, 0, 0, 1])
    for (const at of counters) writeSync(file, one, 0, 4, at)
    writeSync(file, Buffer.alloc(4), 0, 4, writtenByAt)
    const hash = createHash("sha256")
    const part = Buffer.allocUnsafe(partBytes)
    let bytes = 0
    for (let read = readSync(file, part, 0, partBytes, 0); read > 0; read = readSync(file, part, 0, partBytes, bytes)) {
      hash.update(part.subarray(0, read))
      bytes += read
    }
    const footer = Buffer.alloc(footerBytes)
    footer.write(magic, 0, "latin1")
    footer.writeUInt32LE(format, 16)
    footer.writeUInt32LE(migrations.length, 20)
    footer.writeBigUInt64LE(BigInt(bytes), 24)
    digestOf(hash, footer).copy(footer, 32)
    writeSync(file, footer, 0, footerBytes, bytes)
    fsyncSync(file)
    return { bytes: bytes + footerBytes, sha256: wholeOf(hash, footer) }
  } finally {
    closeSync(file)
  }
}

const partBytes = 1 << 20

/** The digest at the end of the footer. */
const digestOf = (hash: Hash, footer: Buffer): Buffer => hash.update(footer.subarray(0, 32)).copy().digest()

/** SHA-256 of the whole file, to be called after {@link digestOf}. */
const wholeOf = (hash: Hash, footer: Buffer): string => hash.update(footer.subarray(32)).digest("hex")

/**
 * Reads a whole bundle, and checks that it is one, of this version or an older one, and as it was written.
 *
 * Rejects with a {@link StateError}: `other` where it is no bundle or cannot be read, `newer`, or `damaged`.
 */
export const checkBundle = async (path: string): Promise<Sealed> => {
  const file = await open(path, "r").catch((cause: NodeJS.ErrnoException) => {
    throw refused(
      "other",
      `${path} cannot be read${cause.code === undefined ? "" : ` (${cause.code})`}`,
      "check the name, and who may read it",
      cause
    )
  })
  try {
    const { size } = await file.stat()
    const bytesAt = async (position: number, length: number): Promise<Buffer> =>
      (await file.read(Buffer.alloc(length), 0, length, position)).buffer
    const footer = await bytesAt(Math.max(0, size - footerBytes), footerBytes)
    if (footer.toString("latin1", 0, magic.length) !== magic) {
      const head = await bytesAt(0, headBytes)
      if (!isDatabase(head)) throw notOne(path, "")
      if (head.readUInt32BE(applicationIdAt) !== applicationId) throw notOne(path, ", but another SQLite database")
      throw refused("damaged", `${path} is not whole: a bundle ends with its checksum, and this one was cut short or written to`, copyAgain)
    }
    const [madeFormat, schema, length] = [footer.readUInt32LE(16), footer.readUInt32LE(20), footer.readBigUInt64LE(24)]
    if (madeFormat > format || schema > migrations.length) {
      throw refused(
        "newer",
        `${path} was written by a newer Sluice (bundle format ${madeFormat}, schema ${schema}; this one reads ${format} and ${migrations.length})`,
        "upgrade Sluice, or export the bundle with this version"
      )
    }
    if (length !== BigInt(size - footerBytes)) {
      throw refused("damaged", `${path} has ${size} bytes where its footer says ${length + BigInt(footerBytes)}`, copyAgain)
    }
    const hash = createHash("sha256")
    for await (const part of file.createReadStream({ start: 0, end: size - footerBytes - 1, autoClose: false, highWaterMark: partBytes })) {
      hash.update(part as Buffer)
    }
    if (!digestOf(hash, footer).equals(footer.subarray(32))) {
      throw refused("damaged", `${path} is damaged: its bytes are not those that its checksum was made of`, copyAgain)
    }
    if (schema < migrations.length) {
      throw refused(
        "other",
        `${path} was written by an older Sluice (schema ${schema}; this one reads ${migrations.length})`,
        "export it again"
      )
    }
    return { bytes: size, sha256: wholeOf(hash, footer) }
  } finally {
    await file.close()
  }
}

const copyAgain = "copy it again from where it came from, or make it anew with `sluice export`"

const notOne = (path: string, what: string): StateError =>
  refused("other", `${path} is not a bundle of Sluice${what}`, "name a file that `sluice export` wrote, or a pipeline file")

const refused = (problem: StateError["problem"], message: string, fix: string, cause?: unknown): StateError =>
  new StateError({ problem, message, fix, ...(cause === undefined ? {} : { cause }) })
