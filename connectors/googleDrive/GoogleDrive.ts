import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import { lazyConnector } from "../../src/kit/Paged.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import type { GoogleDriveContext } from "./Open.ts"

/**
 * Files and folders of Google Drive, shared drives and shortcuts included. Paths are the names that a person sees (`Handbook/HR/Leave`);
 * where several files have the same path, the oldest keeps it and the others append their id. Docs are read as Markdown, Sheets, Slides and
 * Drawings as their office formats and PDF. A finished listing's cursor lists what changed since; where that cannot be determined (a folder
 * was renamed or moved), the cursor is refused with a violation of `cursor`, and a listing without a cursor is needed.
 *
 * Only accounts that may share a file know for certain who may read it. For others it is the owners at most, so that nobody gains access by
 * mistake.
 */
export const googleDrive = (settings: SettingsOf<"googleDrive">, context: GoogleDriveContext = {}): Connector =>
  lazyConnector({ kind: "googleDrive" }, () => import("./Open.ts").then(({ open }) => open(settings, context)))
