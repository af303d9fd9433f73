import { Effect, Predicate, Stream } from "effect"
import { isEmpty } from "../../domain/Defined.ts"
import { printable } from "../../domain/Text.ts"
import { Output } from "../Output.ts"
import { root } from "../Root.ts"
import { type Column, makeTable } from "./Table.ts"

/** Rows printed at a time, so that a listing of any length is shown with constant memory. */
const pageSize = 200

/**
 * Converts a value's tagged choices to the form of a pipeline file: `{ _tag: "managed" }` is `managed`, one with settings
 * is `{ weaviate: { … } }`.
 */
export const asWritten = (value: object): object => Object.fromEntries(Object.entries(value).map(([key, field]) => [key, written(field)]))

const written = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(written)
  if (!Predicate.isObject(value)) return value
  if (!("_tag" in value)) return asWritten(value)
  const { _tag, ...settings } = value
  return isEmpty(settings) ? _tag : { [String(_tag)]: asWritten(settings) }
}

/** Prints a listing: a table for people, one JSON line per item for programs. */
export const rows = <A extends object, E, R>(
  items: Stream.Stream<A, E, R>,
  columns: ReadonlyArray<Column & { readonly cell: (item: A) => string }>
) =>
  Effect.gen(function*() {
    const { json } = yield* root
    const output = yield* Output
    if (json) return yield* items.pipe(Stream.runForEach((item) => output.json({ version: 1, ...asWritten(item) })))
    const table = makeTable(columns, output.width)
    let any = false
    yield* items.pipe(
      Stream.grouped(pageSize),
      Stream.runForEach((page) => {
        any = true
        return output.print(table(page.map((item) => columns.map((column) => column.cell(item)))))
      })
    )
    if (!any) yield* output.say("none")
  })

/** Prints one value: YAML for people, JSON for programs. */
export const printValue = Effect.fnUntraced(function*(value: object) {
  const { json } = yield* root
  const output = yield* Output
  if (json) return yield* output.json({ version: 1, ...asWritten(value) })
  const { stringify } = yield* Effect.promise(() => import("yaml"))
  yield* output.print(printable(stringify(asWritten(value)).trimEnd()))
})

/** Prints that something was done with a resource, such as `deleted NAME`. */
export const printDone = Effect.fnUntraced(function*(done: string, name: string) {
  const { json } = yield* root
  const output = yield* Output
  yield* json ? output.json({ version: 1, [done]: name }) : output.print(`${done} ${name}`)
})
