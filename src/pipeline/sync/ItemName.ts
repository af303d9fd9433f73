import type { SourceItem } from "../../ports/Connector.ts"
import { tellingName } from "../../text/parse/Formats.ts"

/**
 * The name by which an item's format is known: its path, else its display name (which may be a title), else its address.
 * The address of something inside a file is that of the file, and is not considered.
 */
export const itemName = ({ displayName, mimeType, path, uri, within }: SourceItem): string =>
  tellingName([path, displayName, ...(within === undefined ? [uri] : [])], mimeType) ??
    (/\.[A-Za-z0-9]{1,8}$/.test(displayName) ? displayName : path)
