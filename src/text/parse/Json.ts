import { decode } from "./Decode.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { JsonBlocks } from "./json/JsonBlocks.ts"
import type { Reader } from "./Reader.ts"

/**
 * Reads JSON and JSON Lines as text that reads and retrieves well: `key: value` lines, indented like YAML, under headings where there are
 * many. What turns out not to be JSON is kept verbatim.
 */
export const json: Reader = ({ bytes, format, limits }) => {
  const source = decode(bytes)
  const builder = new DocumentBuilder(limits.characters)
  const blocks = new JsonBlocks(builder)
  const whole = format === "jsonl" ? undefined : parsed(source)
  if (whole !== undefined) {
    blocks.add(whole.value)
    return builder.build({ format, title: blocks.title })
  }
  const records = lines(source)
  if (records === undefined) builder.add("code", source)
  else for (const record of records) blocks.add(record)
  return builder.build({ format })
}

const parsed = (source: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(source) }
  } catch {
    return undefined
  }
}

/** The values of JSON Lines; `undefined` when most lines are not JSON. */
const lines = (source: string): ReadonlyArray<unknown> | undefined => {
  const all = source.split("\n").filter((line) => line.trim() !== "")
  let failed = 0
  const values = all.map((line) => {
    const value = parsed(line)
    if (value === undefined) failed++
    return value === undefined ? line : value.value
  })
  return failed * 2 > all.length ? undefined : values
}
