import { Effect } from "effect"
import type { Engine } from "../ports/Engine.ts"
import type { TextPool } from "../text/TextPool.ts"

type Read = NonNullable<Engine["Service"]["metadata"]>["properties"]

/** Reads documents' own properties with the text pool. */
export const documentProperties = (pool: TextPool["Service"]): Read => (document, names) =>
  Effect.map(pool.prepare({ ...document, properties: names, counts: true }), ({ properties = {} }) => properties)
