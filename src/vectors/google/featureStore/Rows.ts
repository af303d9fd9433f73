import { Effect } from "effect"
import { mergeOf, type Queried } from "../BigQuery.ts"
import { columnsWith, key } from "./Columns.ts"
import { tableIn, type View } from "./View.ts"

/** Statements on the rows of the view's table. */
export const rowsOf = ({ query, set }: View) => {
  /** Selects columns of the rows of corpus `of`, of some files or of all. */
  const select = Effect.fnUntraced(
    function*(doing: string, selected: ReadonlyArray<string>, of: string, files?: ReadonlyArray<string>) {
      const found = yield* set
      // A table without these columns has no rows written by Sluice.
      if (found.wanted !== undefined) return { rows: [], affected: 0 } satisfies Queried
      return yield* query(
        doing,
        `SELECT ${selected.join(", ")} FROM ${tableIn(found)} WHERE corpus_id = @corpus${
          files === undefined ? "" : " AND file_id IN UNNEST(@files)"
        }`,
        { corpus: of, ...(files === undefined ? {} : { files }) }
      )
    }
  )
  /** Deletes the rows of corpus `of`, of some files or of all, and returns their number. */
  const deleteRows = Effect.fnUntraced(function*(of: string, files?: ReadonlyArray<string>) {
    const { affected } = yield* query(
      "deleting chunks",
      `DELETE FROM ${tableIn(yield* set)} WHERE corpus_id = @corpus${files === undefined ? "" : " AND file_id IN UNNEST(@files)"}`,
      { corpus: of, ...(files === undefined ? {} : { files }) }
    )
    return affected
  })
  const writeRows = Effect.fnUntraced(function*(rows: ReadonlyArray<string>) {
    const found = yield* set
    const { dataset, project, table } = found.table
    yield* query("writing chunks", mergeOf(`${project}.${dataset}.${table}`, key, columnsWith(found.vector)), {
      rows: `[${rows.join(",")}]`
    })
  })

  return { select, deleteRows, writeRows }
}

export type Rows = ReturnType<typeof rowsOf>
