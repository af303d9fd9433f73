import { Effect, Stream } from "effect"
import type { Connector } from "../../src/ports/Connector.ts"
import type { GoogleDriveConfig, GoogleDriveContext } from "./GoogleDriveConfig.ts"

/**
 * Files and folders of Google Drive, shared drives and shortcuts included. Paths are names as a person sees them
 * (`Handbook/HR/Leave`); of files with one path the oldest has it and the others add their id. Docs are read as
 * Markdown, Sheets, Slides and Drawings as their office formats and PDF. A finished listing's cursor tells what
 * changed since; where that cannot be told (a folder was renamed or moved) the cursor is refused with a violation of
 * `cursor`, and a listing without one is due.
 *
 * Who may read a file is known for sure only to accounts that may share it; for others it is the owners at most, so
 * that nobody reads by mistake.
 */
export const googleDrive = (config: GoogleDriveConfig, context: GoogleDriveContext = {}): Connector => {
  let opening: Promise<Omit<Connector, "kind">> | undefined
  // HTTP loads when it is needed, not when the command line starts.
  const opened = Effect.promise(() => opening ??= import("./Open.ts").then(({ open }) => open(config, context)))
  return {
    kind: "googleDrive",
    check: Effect.flatMap(opened, ({ check }) => check),
    list: (cursor) => Stream.unwrap(Effect.map(opened, ({ list }) => list(cursor))),
    read: (item, maxBytes) => Stream.unwrap(Effect.map(opened, ({ read }) => read(item, maxBytes)))
  }
}
