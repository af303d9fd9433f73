import { Effect, Stream } from "effect"
import type { BatchInput } from "../../domain/batch/BatchPrediction.ts"
import { type BatchRow, ownForm, readRow, reservedColumns, type RowProblem } from "../../domain/batch/BatchRow.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { parseExactly } from "../../domain/Json.ts"
import type { ObjectStore } from "../../ports/ObjectStore.ts"
import type { TableStore } from "../../ports/TableStore.ts"
import { type Line, LineSplitter } from "./LineSplitter.ts"

/** Most bytes of one line of a JSONL file. */
const maxLine = 10 * 1024 * 1024

/** A row of an input, or what is wrong with it. */
export interface PlacedRow {
  /** Place for messages: `gs://b/in.jsonl:17`, or a table with its row, counted from 1. */
  readonly place: string
  readonly row?: BatchRow
  readonly problems: ReadonlyArray<RowProblem>
}

/** The stores that rows are read from. */
export interface Stores {
  readonly objects: ObjectStore["Service"]
  readonly tables: TableStore["Service"]
}

type Rows<A> = Stream.Stream<ReadonlyArray<A>, ServiceError>

/**
 * Every row of an input, in order and in groups, read as a stream: of files and tables of any size, one group is in memory. A table whose
 * columns break a rule fails before its first row. Without a `model`, rows may have any form.
 */
export const readRows = (input: BatchInput, { objects, tables }: Stores, model?: string): Rows<PlacedRow> =>
  input._tag === "jsonl"
    ? Stream.fromIterable(input.uris).pipe(Stream.flatMap((uri) =>
      lineGroups(objects.get(uri, Infinity)).pipe(
        Stream.map((lines) => lines.map((line) => rowOf(`${uri}:${line.number}`, line, model)))
      )
    ))
    : Stream.unwrap(Effect.map(checkColumns(input.uri, tables, model), () => {
      let number = 0
      return Stream.map(tables.read(input.uri), (rows) =>
        rows.map((row): PlacedRow => ({ place: `${input.uri}:${++number}`, ...readRow(row, model) })))
    }))

/** The lines of a text, in groups. */
export const lineGroups = (bytes: Stream.Stream<Uint8Array, ServiceError>, maxBytes = maxLine): Rows<Line> =>
  Stream.suspend(() => {
    const splitter = new LineSplitter(maxBytes)
    return Stream.map(bytes, (piece) => splitter.push(piece)).pipe(
      Stream.concat(Stream.sync(() => splitter.finish())),
      Stream.filter((lines) => lines.length > 0)
    )
  })

const rowOf = (place: string, line: Line, model: string | undefined): PlacedRow => {
  if ("problem" in line) {
    const rule = line.problem === "long" ? `the line is longer than ${maxLine} bytes` : "the line is not UTF-8"
    return { place, problems: [{ path: "", rule }] }
  }
  const value = parsed(line.text)
  return value === undefined
    ? { place, problems: [{ path: "", rule: "the line is not JSON, or nested too deeply" }] }
    : { place, ...readRow(value, model) }
}

const parsed = (text: string): unknown => {
  try {
    return nesting(text) > deepest ? undefined : parseExactly(text)
  } catch {
    return undefined
  }
}

/** Most levels of JSON in a row: far fewer than the recursive `JSON.stringify` can write. */
const deepest = 500

/** The deepest nesting of brackets outside of strings. */
const nesting = (text: string): number => {
  if (text.length < 2 * deepest) return 0
  let [depth, most, quoted] = [0, 0, false]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (quoted) {
      if (code === backslash) at++
      else if (code === quote) quoted = false
    } else if (code === quote) quoted = true
    else if (code === 0x5b || code === 0x7b) most = Math.max(most, ++depth)
    else if (code === 0x5d || code === 0x7d) depth--
  }
  return most
}

const quote = 0x22
const backslash = 0x5c

/** Checks the columns that an input table must have, and those it must not have. */
export const checkColumns = (uri: string, tables: TableStore["Service"], model?: string): Effect.Effect<void, ServiceError> =>
  Effect.flatMap(tables.head(uri), ({ columns }) => {
    const field = "inputConfig.bigquerySource.inputUri"
    const types = new Map(columns.map(({ name, type }) => [name, type]))
    const own = model === undefined ? "anthropic" : ownForm(model)
    const form = own !== undefined && types.has("request") && !types.has("body") ? own : "chat"
    const violations = [
      // Column names of a table are case-insensitive, and the output has these columns too.
      ...columns.filter(({ name }) => reservedColumns(form).includes(name.toLowerCase())).map(({ name }) =>
        `column ${name} is reserved for the output`
      ),
      ...Object.entries(model === undefined && form !== "chat" ? needed.gemini : needed[form]).flatMap(([name, type]) => {
        const found = types.get(name)
        return found === undefined ? [`column ${name} is missing`] : found === type ? [] : [`column ${name} must be ${type}, not ${found}`]
      })
    ].map((description) => ({ field, description: `${uri}: ${description}` }))
    return violations.length === 0 ? Effect.void : Effect.fail(
      new ServiceError({
        code: "INVALID_ARGUMENT",
        message: violations.map(({ description }) => description).join("\n"),
        violations
      })
    )
  })

const needed = {
  chat: { custom_id: "STRING", body: "JSON" },
  gemini: { request: "JSON" },
  anthropic: { custom_id: "STRING", request: "JSON" }
} as const
