import type { SourceItem } from "../../ports/Connector.ts"
import { tellingName } from "../../text/parse/Formats.ts"

/**
 * The name of an item whose extension tells its format: its path's before that of its display name, which may be a title,
 * and before that of its address, which of what is inside a file is the file's.
 */
export const itemName = ({ displayName, mimeType, path, uri, within }: SourceItem): string =>
  tellingName([path, displayName, ...(within === undefined ? [uri] : [])], mimeType) ??
    (/\.[A-Za-z0-9]{1,8}$/.test(displayName) ? displayName : path)
