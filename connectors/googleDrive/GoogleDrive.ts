import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { lazyConnector } from "../../src/kit/Paged.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import type { GoogleDriveContext } from "./Open.ts"

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
export const googleDrive = (settings: SettingsOf<"googleDrive">, context: GoogleDriveContext = {}): Connector =>
  lazyConnector({ kind: "googleDrive" }, () => import("./Open.ts").then(({ open }) => open(settings, context)))
