import { createHash } from "node:crypto"
import { closeSync, fsyncSync, mkdtempSync, openSync, readdirSync, renameSync, rmSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { Effect } from "effect"
import { isElsewhere } from "../../../domain/Corpus.ts"
import { ServiceError, StateError } from "../../../domain/Errors.ts"
import type { Metadata } from "../../../domain/RagFile.ts"
import { isAlive } from "../../../jobs/JobRunner.ts"
import { makeBundleDatabase, sealBundle, type Sealed } from "../../../state/Bundle.ts"
import { asStateError, databaseAt, makeFolder, openDatabase, transaction } from "../../../state/Database.ts"
import { asBlob, checkedColumns, isIntact, type Row, StoreDamage } from "./Checksum.ts"
import { intactPage, type NewChunk, packPages, unpackChunk } from "./ChunkPage.ts"
import { damageError } from "./Commands.ts"
import { CorpusTable } from "./CorpusTable.ts"
import { FileTable } from "./FileTable.ts"
import { fromHex, unpackHashes } from "./Hash.ts"
import { Index } from "./Index.ts"
import { corpusRow, permissionsOfRow } from "./Rows.ts"

/** A request to export a corpus as a bundle. */
export interface ExportRequest {
  readonly dataDir: string
  /** Path of the bundle; a file that is there is replaced in one step. */
  readonly file: string
  /** Last segment of the corpus's name. */
  readonly corpus: string
  /** Start of corpora's names in the ledger: `projects/local/locations/local`. */
  readonly parent: string
  /** Scope of the corpus's files in the ledger. */
  readonly scope: string
  /** The pipeline, with the text of those of its settings that reading needs. */
  readonly pipeline: { readonly name: string; readonly scope: string; readonly text: string; readonly displayName: string }
}

/** Facts about a written bundle. */
export interface Exported extends Sealed {
  readonly files: number
  readonly chunks: number
}

/** Chunks that are indexed and written at a time, and so are in memory. */
const step = 4_096

/**
 * Writes a corpus as a bundle (`src/state/Bundle.ts`). It is a snapshot of the database, whatever is written meanwhile. Order and names
 * are derived from the content, and the corpus is analyzed as a whole, in one segment: the same files make the same bytes, wherever and in
 * whatever order they were uploaded. The bundle gets its name once it is complete.
 *
 * Fails with `NOT_FOUND`, `UNIMPLEMENTED` (the corpus's vectors are in another database) and `DATA_LOSS` (part of it is damaged).
 */
export const exportCorpus = (request: ExportRequest): Effect.Effect<Exported, ServiceError | StateError> =>
  Effect.scoped(Effect.gen(function*() {
    const path = databaseAt(request.dataDir)
    const target = resolve(request.file)
    const attempt = <A>(where: string, body: () => A): Effect.Effect<A, ServiceError | StateError> =>
      Effect.try({
        try: body,
        catch: (cause) =>
          cause instanceof ServiceError
            ? cause
            : cause instanceof StoreDamage
            ? damageError(cause.message)
            : where === target && isErrno(cause)
            ? unwritable(cause, target)
            : asStateError(cause, where)
      })
    const from = yield* Effect.acquireRelease(
      attempt(path, () => openDatabase(request.dataDir, { readOnly: true })),
      (db) => Effect.sync(() => db.close())
    )
    const folder = yield* Effect.acquireRelease(
      attempt(target, () => {
        makeFolder(dirname(target))
        clearLeftovers(target)
        return mkdtempSync(join(dirname(target), `${besides(target)}${process.pid}-`))
      }),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
    const to = yield* Effect.acquireRelease(
      attempt(target, () => makeBundleDatabase(join(folder, "made.db"))),
      (db) => Effect.sync(() => db.close())
    )
    const writing = yield* attempt(path, () => new Writing(from, to, request, path))
    // One step at a time, so that an interrupt takes effect.
    while (yield* attempt(target, () => writing.step())) yield* Effect.sleep(0)
    const { chunks, files } = yield* attempt(target, () => writing.finish())
    const made = join(folder, "made.bundle")
    const sealed = yield* attempt(target, () => sealBundle(to, made))
    yield* attempt(target, () => {
      renameSync(made, target)
      const place = openSync(dirname(target), "r")
      try {
        fsyncSync(place)
      } finally {
        closeSync(place)
      }
    })
    return { ...sealed, files, chunks }
  }))

/** Whether it is a failure of the file system, and not of SQLite. */
const isErrno = (cause: unknown): cause is NodeJS.ErrnoException => cause instanceof Error && "syscall" in cause

const unwritable = (cause: NodeJS.ErrnoException, target: string): StateError =>
  new StateError({
    problem: cause.code === "ENOSPC" || cause.code === "EDQUOT" ? "full" : "readOnly",
    message: `${target} cannot be written in ${dirname(target)} (${cause.code})`,
    fix: "check that folder and its space, or name a file in another folder",
    cause
  })

/** Start of the names of the folders in which a bundle is made; the process's id follows. */
const besides = (target: string): string => `.${basename(target)}.`

/** Deletes what killed exports of the same bundle left behind. */
const clearLeftovers = (target: string): void => {
  const prefix = besides(target)
  for (const name of readdirSync(dirname(target))) {
    const pid = name.startsWith(prefix) ? /^(\d+)-\w+$/.exec(name.slice(prefix.length))?.[1] : undefined
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(dirname(target), name), { recursive: true, force: true })
  }
}

/** An id that is derived from the content it stands for, in the service's form: a decimal number of 19 digits. */
const derivedId = (...of: ReadonlyArray<string>): string => {
  const digest = createHash("sha256").update(JSON.stringify(of)).digest()
  return (digest.readBigUInt64BE() >> 2n | 1n << 60n).toString()
}

/** Copies a corpus from one database into another. Synchronous. */
class Writing {
  readonly #from: DatabaseSync
  readonly #to: DatabaseSync
  readonly #request: ExportRequest
  readonly #path: string
  readonly #corpora: CorpusTable
  readonly #files: FileTable
  readonly #index: Index
  readonly #copied
  readonly #pages
  readonly #vector
  readonly #written
  readonly #taken
  readonly #writeMetadata
  readonly #corpus: {
    readonly id: number
    readonly embedder: string
    readonly files: number
    readonly chunks: number
    readonly name: string
  }
  readonly #rows: Iterator<Row>
  #count = { files: 0, chunks: 0 }

  constructor(from: DatabaseSync, to: DatabaseSync, request: ExportRequest, path: string) {
    this.#from = from
    this.#to = to
    this.#request = request
    this.#path = path
    // Everything that is read from here on is of the same snapshot.
    from.exec("BEGIN")
    const row = from.prepare(`SELECT ${checkedColumns("corpora")} FROM corpora WHERE name = ?`).get(request.corpus)
    if (row === undefined) throw ServiceError.notFound(`corpus ${request.corpus}`)
    if (!isIntact("corpora", row)) throw this.#damage("the record of the corpus")
    const { chunks, embedder, files, id, vectorDb } = corpusRow(row)
    if (isElsewhere(vectorDb)) {
      throw new ServiceError({
        code: "UNIMPLEMENTED",
        message:
          `corpus.vectorDb: the vectors of ${request.pipeline.name} are in another database (${vectorDb._tag}), which a bundle cannot hold`,
        fix: "build a candidate with corpus.vectorDb: managed, which embeds nothing again, and export that: sluice export --generation N",
        field: "corpus.vectorDb"
      })
    }
    this.#corpora = new CorpusTable(to)
    this.#files = new FileTable(to)
    this.#index = new Index(to, Infinity)
    to.exec("CREATE TEMP TABLE copied (file INTEGER PRIMARY KEY)")
    this.#copied = { note: to.prepare("INSERT OR IGNORE INTO copied VALUES (?)") }
    this.#pages = from.prepare(
      `SELECT ${checkedColumns("chunk_pages")} FROM chunk_pages WHERE first_chunk >= ? AND first_chunk < ? ORDER BY first_chunk`
    )
    this.#vector = from.prepare(`SELECT ${checkedColumns("embeddings")} FROM embeddings WHERE hash = ? AND embedder = ?`)
    this.#written = from.prepare("SELECT name, key, value FROM file_metadata WHERE file = ? ORDER BY key")
    this.#taken = to.prepare("SELECT 1 FROM files WHERE name = ?")
    this.#writeMetadata = to.prepare("INSERT INTO file_metadata (file, name, key, value) VALUES (?, ?, ?, ?)")
    const name = derivedId("corpus", request.pipeline.name)
    this.#corpora.insert({
      name,
      displayName: request.pipeline.displayName,
      description: textOf(row, "description"),
      vectorDb: { _tag: "managed" },
      embeddingModel: textOf(row, "embedding_model"),
      options: jsonOf(row, "options"),
      embedder,
      at: 0
    })
    this.#corpus = { id: Number(to.prepare("SELECT id FROM corpora").get()?.["id"]), embedder, files, chunks, name }
    this.#writeFacts(id)
    this.#rows = this.#allFiles(id)
  }

  /** Writes the facts about the pipeline, and its only generation. */
  #writeFacts(corpus: number): void {
    const { parent, pipeline } = this.#request
    const fact = this.#to.prepare("INSERT INTO bundle VALUES (?, ?)")
    fact.run("pipeline", pipeline.text)
    this.#to.prepare(
      "INSERT INTO generations (scope, pipeline, number, role, corpus, whole, served) VALUES (?1, ?1, 1, 'live', ?2, 0, 1)"
    ).run(pipeline.scope, `${parent}/ragCorpora/${this.#corpus.name}`)
    const schema = this.#to.prepare("INSERT INTO data_schemas (corpus, name, key, schema) VALUES (?, ?, ?, ?)")
    for (const row of this.#from.prepare("SELECT name, key, schema FROM data_schemas WHERE corpus = ? ORDER BY key").iterate(corpus)) {
      schema.run(this.#corpus.id, ...[row["name"], row["key"], row["schema"]].map(String))
    }
  }

  /** The files in the ledger, by source and path, then all others. */
  *#allFiles(corpus: number): Generator<Row> {
    const { parent, scope } = this.#request
    const prefix = `${parent}/ragCorpora/${this.#request.corpus}/ragFiles/`
    const columns = checkedColumns("files", "f")
    const accounted = this.#from.prepare(
      `SELECT l.source AS source, l.path AS path, ${columns} FROM ledger l JOIN files f ON f.name = substr(l.file, ?)
       WHERE l.scope = ? AND l.file IS NOT NULL AND f.corpus = ? ORDER BY l.source, l.path`
    )
    for (const row of accounted.iterate(prefix.length + 1, scope, corpus)) if (this.#first(row)) yield row
    const all = this.#from.prepare(
      `SELECT ${columns} FROM files f WHERE f.corpus = ? ORDER BY f.display_name, f.source_uri, f.size_bytes, f.id`
    )
    for (const row of all.iterate(corpus)) if (this.#first(row)) yield row
  }

  #first(row: Row): boolean {
    return Number(this.#copied.note.run(Number(row["id"])).changes) > 0
  }

  /** Copies some files. Returns whether there are more. */
  step(): boolean {
    return transaction(this.#to, () => {
      this.#files.begin()
      let chunks = 0
      while (chunks < step) {
        const { done, value } = this.#rows.next()
        if (done === true) return false
        chunks += this.#copy(value) + 1
      }
      this.#index.flush()
      return true
    })
  }

  /** Finishes the bundle: writes the segment and the counts. */
  finish(): { readonly files: number; readonly chunks: number } {
    const { chunks, files, id } = this.#corpus
    if (this.#count.files !== files || this.#count.chunks !== chunks) throw this.#damage("the list of files")
    transaction(this.#to, () => {
      this.#index.flush()
      while (this.#index.merge(id, Infinity) !== "nothing") { /* until there is one */ }
      this.#corpora.count(id, files, chunks)
      this.#corpora.seal()
    })
    this.#from.exec("ROLLBACK")
    this.#to.exec("DROP TABLE temp.copied")
    return this.#count
  }

  #copy(row: Row): number {
    const shown = String(row["display_name"])
    if (!isIntact("files", row)) throw this.#damage(`the record of ${shown}`)
    const chunks = this.#chunksOf(row, shown)
    const hashes = chunks.map(({ hash }) => hash)
    const own = ownPlace(row)
    const { embedder, id: corpus } = this.#corpus
    let name = derivedId("file", own.source, own.path, ...hashes)
    for (let again = 1; this.#taken.get(name) !== undefined; again++) {
      name = derivedId("file", own.source, own.path, ...hashes, String(again))
    }
    const metadata = jsonOf<Metadata>(row, "metadata")
    const inserted = this.#files.insert(
      corpus,
      embedder,
      {
        name,
        displayName: shown,
        description: textOf(row, "description"),
        sourceUri: own.uri,
        sizeBytes: Number(row["size_bytes"]),
        metadata: own.local ? withoutTimes(metadata) : metadata,
        permissions: permissionsOfRow(row),
        tokens: Number(row["tokens"]),
        pages: typeof row["pages"] === "number" ? row["pages"] : undefined,
        language: textOf(row, "language"),
        title: textOf(row, "title"),
        author: textOf(row, "author")
      },
      packPages(chunks),
      (place) => this.#vectorOf(hashes[place] ?? "", shown),
      0
    )
    if ("missing" in inserted) throw this.#damage(`a vector of ${shown}`)
    const { id: file, indexed } = inserted
    this.#index.add(corpus, {
      chunks: indexed,
      language: textOf(row, "language"),
      words: this.#index.wordsOf(chunks, textOf(row, "title"))
    })
    for (const written of this.#written.all(Number(row["id"]))) {
      const key = String(written["key"])
      const id = String(written["name"])
      // An id that was random is replaced by a derived one, like the file's own.
      this.#writeMetadata.run(
        file,
        /^\d{19}$/.test(id) ? derivedId("metadata", name, key) : id,
        key,
        String(written["value"])
      )
    }
    this.#count = { files: this.#count.files + 1, chunks: this.#count.chunks + chunks.length }
    return chunks.length
  }

  #chunksOf(row: Row, shown: string): ReadonlyArray<NewChunk> {
    const first = Number(row["first_chunk"])
    const end = first + Number(row["chunks"])
    const chunks: Array<NewChunk> = []
    for (const page of this.#pages.iterate(first, end)) {
      const packed = intactPage(page)
      if (packed === undefined || page["file"] !== row["id"]) throw this.#damage(`a text of ${shown}`)
      const own = unpackHashes(asBlob(page["hashes"]))
      packed.forEach((chunk, i) => chunks.push({ ...unpackChunk(chunk), hash: own[i] ?? "" }))
    }
    if (chunks.length !== end - first) throw this.#damage(`a text of ${shown}`)
    return chunks
  }

  #vectorOf(hash: string, shown: string): Uint8Array {
    const row = this.#vector.get(fromHex(hash), this.#corpus.embedder)
    if (!isIntact("embeddings", row)) throw this.#damage(`a vector of ${shown}`)
    return asBlob(row["vector"])
  }

  #damage(what: string): StoreDamage {
    return new StoreDamage(`${what} is damaged in ${this.#path}: nothing was exported`)
  }
}

/**
 * Identifies a file independently of the machine: by its source and its path there. They replace the address of a local file, which is that
 * of one copy only.
 */
const ownPlace = (row: Row): { readonly source: string; readonly path: string; readonly uri: string; readonly local: boolean } => {
  const uri = String(row["source_uri"])
  const local = uri.startsWith("file:")
  const source = textOf(row, "source") ?? ""
  const path = textOf(row, "path") ?? String(row["display_name"])
  return { source, path, local, uri: local ? pathToFileURL(join("/", source, path)).pathname.slice(1) : uri }
}

/** Metadata without file times: when a copy was written says nothing about the file. */
const withoutTimes = (metadata: Metadata | undefined): Metadata | undefined => {
  if (metadata === undefined) return undefined
  const { modifiedTime: _, ...rest } = metadata
  return Object.keys(rest).length === 0 ? undefined : rest
}

const textOf = (row: Row, column: string): string | undefined => {
  const value = row[column]
  return typeof value === "string" ? value : undefined
}

/** JSON that Committer wrote from a value of this very type. */
const jsonOf = <A>(row: Row, column: string): A | undefined => {
  const value = textOf(row, column)
  return value === undefined ? undefined : JSON.parse(value) as A
}
