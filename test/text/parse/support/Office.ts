import { zipOf } from "./ZipWriter.ts"

const relationships = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

export const namespaces = [
  `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`,
  `xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"`,
  `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"`,
  `xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"`,
  `xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"`,
  `xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"`,
  `xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"`,
  `xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"`,
  `xmlns:v="urn:schemas-microsoft-com:vml"`,
  `xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"`,
  `xmlns:r="${relationships}"`
].join(" ")

/** One relationship: `[id, last segment of its type, target]`. */
export type Link = readonly [id: string, type: string, target: string]

export const relsXml = (links: ReadonlyArray<Link>): string =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${
    links.map(([id, type, target]) => `<Relationship Id="${id}" Type="${relationships}/${type}" Target="${target}"/>`).join("")
  }</Relationships>`

export const coreXml = (facts: Readonly<Record<string, string>>): string =>
  `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" ` +
  `xmlns:dc="http://purl.org/dc/elements/1.1/">${
    Object.entries(facts).map(([name, value]) => `<dc:${name}>${value}</dc:${name}>`).join("")
  }</cp:coreProperties>`

/** A Word document with the body given; `links` are relationships of the main part, `parts` further parts. */
export const wordFile = (
  body: string,
  links: ReadonlyArray<Link> = [],
  parts: Readonly<Record<string, string | Uint8Array>> = {}
): Uint8Array =>
  zipOf({
    "[Content_Types].xml": "<Types/>",
    "_rels/.rels": relsXml([
      ["r1", "officeDocument", "word/document.xml"],
      ["r2", "extended-properties", "docProps/app.xml"]
    ]),
    "word/document.xml": `<w:document ${namespaces}><w:body>${body}</w:body></w:document>`,
    "word/_rels/document.xml.rels": relsXml(links),
    ...parts
  })

/** A Word part whose root element is given by name. */
export const wordPart = (root: string, content: string): string => `<w:${root} ${namespaces}>${content}</w:${root}>`

/** A paragraph of one run, with paragraph properties. */
export const para = (text: string, properties = ""): string =>
  `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`
