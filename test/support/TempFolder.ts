import { Effect } from "effect"
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

/** A temporary folder, which is removed with the scope. */
export const tempFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "sluice-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Writes files by their `/`-separated paths under `folder`. */
export const write = (folder: string, files: Readonly<Record<string, string | Uint8Array>>): void => {
  for (const [path, content] of Object.entries(files)) {
    const absolute = join(folder, path)
    mkdirSync(dirname(absolute), { recursive: true })
    writeFileSync(absolute, content)
  }
}

/** Gives a file another modification time than it has. */
export const touch = (path: string): void => {
  const then = new Date(Date.now() - 3_600_000 - Math.floor(Math.random() * 1_000_000))
  utimesSync(path, then, then)
}
