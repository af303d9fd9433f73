/** One part of a path: NFC, and no `/` of its own. */
export const partOf = (name: string): string => name.normalize("NFC").replaceAll("/", "%2F")

/** A part under a folder; the root is "". */
export const joined = (folder: string, part: string): string => folder === "" ? part : `${folder}/${part}`
