/**
 * The prefix of each namespace in our readers, whatever prefix a file binds to it. Strict Office Open XML has its own namespaces (ISO/IEC
 * 29500-1), as OpenOffice.org 1 had before OpenDocument: same elements, same prefix.
 */
const transitional = "http://schemas.openxmlformats.org/"
const strict = "http://purl.oclc.org/ooxml/"
const openDocument = "urn:oasis:names:tc:opendocument:xmlns:"
const openOffice = "http://openoffice.org/2000/"

const office: ReadonlyArray<readonly [prefix: string, transitionalPath: string, strictPath: string]> = [
  ["w", "wordprocessingml/2006/main", "wordprocessingml/main"],
  ["p", "presentationml/2006/main", "presentationml/main"],
  ["x", "spreadsheetml/2006/main", "spreadsheetml/main"],
  ["a", "drawingml/2006/main", "drawingml/main"],
  ["c", "drawingml/2006/chart", "drawingml/chart"],
  ["dgm", "drawingml/2006/diagram", "drawingml/diagram"],
  ["xdr", "drawingml/2006/spreadsheetDrawing", "drawingml/spreadsheetDrawing"],
  ["r", "officeDocument/2006/relationships", "officeDocument/relationships"],
  ["m", "officeDocument/2006/math", "officeDocument/math"]
]

const openDocumentParts = ["office", "text", "table", "style", "presentation", "meta", "manifest", "form"]

/** Namespaces of Gnumeric: each version of its format had its own, with the same elements. */
const gnumeric = [
  ...["", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9"].map((version) => `http://www.gnome.org/gnumeric/${version}`),
  ...["v7", "v8", "v9", "v10"].map((version) => `http://www.gnumeric.org/${version}.dtd`)
]

export const canonicalPrefixes: ReadonlyMap<string, string> = new Map([
  ...office.flatMap(([prefix, a, b]) => [[transitional + a, prefix], [strict + b, prefix]] as const),
  ...openDocumentParts.flatMap((part) => [[`${openDocument}${part}:1.0`, part], [`${openOffice}${part}`, part]] as const),
  [`${openDocument}drawing:1.0`, "draw"],
  [`${openOffice}drawing`, "draw"],
  [`${transitional}markup-compatibility/2006`, "mc"],
  [`${transitional}package/2006/relationships`, "rel"],
  [`${transitional}package/2006/content-types`, "ct"],
  [`${transitional}package/2006/metadata/core-properties`, "cp"],
  ["urn:schemas-microsoft-com:vml", "v"],
  ["http://schemas.microsoft.com/office/drawing/2014/chartex", "cx"],
  ["http://schemas.microsoft.com/office/spreadsheetml/2009/9/main", "x14"],
  ["http://schemas.microsoft.com/office/excel/2006/main", "xm"],
  ...gnumeric.map((namespace) => [namespace, "gnm"] as const),
  ["http://purl.org/dc/elements/1.1/", "dc"],
  ["http://www.w3.org/1999/xlink", "xlink"],
  ["urn:oasis:names:tc:opendocument:xmlns:container", "ocf"],
  ["http://www.idpf.org/2007/opf", "opf"],
  ["http://www.w3.org/2001/04/xmlenc#", "enc"]
])
