import { Effect } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { VectorDescription, VectorStore } from "../../ports/VectorStore.ts"
import { chunkColumns, unfit } from "../Chunks.ts"
import type { Connection } from "./Connection.ts"
import { usable } from "./Folder.ts"
import type { Table } from "./Library.ts"
import { denseIndex, fileIndex, longestTerm, schemaOf as arrowSchemaOf, wordIndex } from "./Rows.ts"

/** Makes the table with its indexes of words and files, and checks that an existing one fits the corpus and may be written to. */
export const schemaOf = (
  { again, attempt, connection, dimensions, folder, forget, keep, library, name, place, table }: Connection
): Pick<VectorStore, "prepare" | "check"> => {
  const fit = Effect.fnUntraced(function*(found: Table): Effect.fn.Return<void, ServiceError> {
    const { fields } = yield* attempt("looking", () => found.schema())
    const known = new Map(fields.map((field) => [field.name, field.type]))
    // Tables of earlier versions lack the column `record`; `prepare` adds it.
    const lacking = chunkColumns.filter((column) => column !== "record" && !known.has(column))
    if (lacking.length > 0) {
      return yield* unfit("lanceDb.uri", `the ${place} is somebody else's: it has no ${lacking.join(", ")}`, "use another folder")
    }
    const length = known.get("embedding")?.listSize
    if (length !== dimensions) {
      return yield* unfit(
        "lanceDb.uri",
        `the ${place} holds vectors of ${length ?? "no"} dimensions, and the embedder gives ${dimensions} dimensions`,
        "use another folder, or rebuild the corpus: sluice run --replace"
      )
    }
    const index = yield* attempt("looking", () => found.indexStats(denseIndex))
    if (index?.distanceType !== undefined && index.distanceType !== "cosine") {
      return yield* unfit(
        "lanceDb.uri",
        `the index of the ${place} compares vectors by ${index.distanceType}, and the corpus by cosine`,
        "drop the index, or use another folder"
      )
    }
  })

  const check: VectorStore["check"] = Effect.gen(function*() {
    if (folder !== undefined) yield* usable(folder)
    yield* forget
    const { lance } = yield* library
    const found = yield* table
    if (found === undefined) return yield* ServiceError.notFound(`${place} (LanceDB ${lance.version})`)
    yield* fit(found)
    const chunks = yield* attempt("counting", () => found.countRows())
    return { chunks, dimensions, version: `LanceDB ${lance.version}` } satisfies VectorDescription
  })

  const prepare = Effect.gen(function*() {
    if (folder !== undefined) yield* usable(folder)
    yield* forget
    const { arrow, db, lance } = yield* connection
    const there = yield* table
    if (there !== undefined) {
      yield* fit(there)
      const { fields: columns } = yield* attempt("looking", () => there.schema())
      if (columns.some((column) => column.name === "record")) return
      yield* attempt("adding a column", () => there.addColumns([{ name: "record", valueSql: "cast(null as string)" }]))
      return
    }
    // Two processes may make the table at the same time: the second one opens what the first one made.
    const made = yield* attempt(
      "making the table of the corpus",
      () => db.createEmptyTable(name, arrowSchemaOf(arrow, dimensions), { mode: "create", existOk: true })
    )
    keep(made)
    yield* fit(made)
    const words = lance.Index.fts({
      baseTokenizer: "whitespace",
      withPosition: false,
      stem: false,
      lowercase: false,
      removeStopWords: false,
      asciiFolding: false,
      maxTokenLength: longestTerm
    })
    const has = new Set((yield* attempt("looking", () => made.listIndices())).map((index) => index.name))
    for (const [index, column, config] of [[wordIndex, "terms", words], [fileIndex, "file_id", lance.Index.btree()]] as const) {
      if (has.has(index)) continue
      yield* attempt(`indexing ${column}`, () => made.createIndex(column, { config, replace: false })).pipe(
        Effect.catchIf(({ message }) => /already exists/.test(message), () => Effect.void)
      )
    }
  }).pipe(again)

  return { prepare, check }
}
