import { Schema } from "effect"

const size = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 8192 }))
const overlap = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 8191 }))

/**
 * How text is cut. `size` and `overlap` are in tokens (o200k), the API's `fixedLengthChunking` meaning;
 * the defaults are the service's, 1024 and 200. `overlap` is less than `size`.
 *
 * - `fixed`: windows of `size` tokens, each starting `size - overlap` after the last.
 * - `structure`: packs whole blocks up to `size`, never cutting a heading, table row or code fence that fits,
 *   and carries the heading path. Embedded engine only.
 */
export const Chunking = Schema.Struct({
  strategy: Schema.Literals(["fixed", "structure"]),
  size,
  overlap
}).check(
  Schema.makeFilter((c) => c.overlap < c.size || { path: ["overlap"], issue: `overlap must be less than size (${c.size})` })
)
export type Chunking = typeof Chunking.Type

/** What holds where a pipeline says nothing of chunking: windows of 1,024 tokens, each sharing 200 with the last. */
export const defaultChunking: Chunking = { strategy: "fixed", size: 1024, overlap: 200 }
