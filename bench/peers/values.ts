import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { deserialize, serialize } from "node:v8"

/** The value that {@link writeValue} wrote, in Node's fastest format; undefined where none was written yet. */
export const readValue = (path: string) => (existsSync(path) ? deserialize(readFileSync(path)) : undefined)

export const writeValue = (path: string, value: unknown): void => {
  writeFileSync(`${path}.new`, serialize(value))
  renameSync(`${path}.new`, path)
}
