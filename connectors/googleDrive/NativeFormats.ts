const native = "application/vnd.google-apps."
const office = "application/vnd.openxmlformats-officedocument."

/** What a Google file is read as. */
export interface ExportFormat {
  readonly mimeType: string
  /** With its dot; names get it, since they say which reader reads it. */
  readonly extension: string
}

/** Markdown keeps headings, lists, tables and links, and is the smallest of what Docs export to. */
const formats: Readonly<Record<string, ExportFormat>> = {
  document: { mimeType: "text/markdown", extension: ".md" },
  spreadsheet: { mimeType: `${office}spreadsheetml.sheet`, extension: ".xlsx" },
  presentation: { mimeType: `${office}presentationml.presentation`, extension: ".pptx" },
  drawing: { mimeType: "application/pdf", extension: ".pdf" }
}

/** What to export a Doc to whose Markdown Drive does not make. Read by its bytes, so the name may stay. */
export const wordFormat = `${office}wordprocessingml.document`

export const isNative = (mimeType: string): boolean => mimeType.startsWith(native)

/** `form`, `map`, `document`. */
export const nativeKind = (mimeType: string): string => mimeType.slice(native.length)

/** Absent for Google files that have no text form: forms, maps, sites, scripts. */
export const exportFormatOf = (mimeType: string): ExportFormat | undefined =>
  isNative(mimeType) ? formats[nativeKind(mimeType)] : undefined
