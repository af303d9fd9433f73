import { Effect } from "effect"
import type { Engine } from "../ports/Engine.ts"
import type { TextPool } from "../text/TextPool.ts"

type Read = NonNullable<Engine["Service"]["metadata"]>["properties"]

/** What documents say of themselves, as the text pool reads it. */
export const documentProperties = (pool: TextPool["Service"]): Read => (document, names) =>
  Effect.map(pool.prepare({ ...document, properties: names, counts: true }), ({ properties = {} }) => properties)
