import { oneLine } from "./BlockSink.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { embeddedInBook, withEmbedded } from "./Embedded.ts"
import { htmlBlocks } from "./Html.ts"
import { languageCode } from "./Language.ts"
import { resolvePart } from "./PartPath.ts"
import { ReadFailure } from "./ReadFailure.ts"
import type { Reader } from "./Reader.ts"
import { childElements, decodeXml, descendants, eachElement, parseXml, textContent, type XmlElement } from "./Xml.ts"
import { openZip, type Zip } from "./Zip.ts"

/**
 * EPUB 2 and 3 books: the documents of the spine in reading order, each once, without the navigation document
 * (https://www.w3.org/TR/epub-33/). Pages are not a property of such books.
 */
export const epub: Reader = ({ bytes, format, inner, limits }) => {
  const zip = openZip(bytes, limits)
  const path = packagePath(zip)
  const opf = parseXml(zip.read(path) ?? new Uint8Array())
  const protectedParts = encryptedParts(zip)
  const builder = new DocumentBuilder(limits.characters)
  const chapters = spine(opf, path).filter((chapter) => zip.has(chapter))
  if (chapters.length === 0) throw new ReadFailure("corrupt", "the book names no document that it holds")
  for (const chapter of chapters) {
    if (protectedParts.has(chapter)) throw new ReadFailure("encrypted", "the book is protected by DRM")
    const content = zip.read(chapter)
    if (content !== undefined) htmlBlocks(decodeXml(content), builder)
  }
  const fact = (name: string): string => oneLine(textContent(descendants(opf, `dc:${name}`)[0]))
  const language = languageCode(fact("language"))
  return withEmbedded(embeddedInBook(zip), { builder, inner, limits }, () =>
    builder.build({
      format,
      title: fact("title") === "" ? undefined : fact("title"),
      author: fact("creator") === "" ? undefined : fact("creator"),
      language
    }))
}

/** The package document that container.xml names, or the only one there is. */
const packagePath = (zip: Zip): string => {
  const container = zip.read("META-INF/container.xml")
  let path: string | undefined
  if (container !== undefined) {
    eachElement(container, (name) => name === "ocf:rootfile", (element) => {
      path ??= resolvePart("", element.attributes["full-path"] ?? "")
    })
  }
  const found = [path, zip.names().find((name) => name.toLowerCase().endsWith(".opf"))]
    .find((name) => name !== undefined && zip.has(name))
  if (found === undefined) throw new ReadFailure("corrupt", "not a book: it has no package document")
  return found
}

const documentTypes = new Set(["application/xhtml+xml", "text/html", "application/xml", "text/xml", "text/x-oeb1-document"])

/** Paths of the documents to read, in order. */
const spine = (opf: XmlElement, path: string): ReadonlyArray<string> => {
  const items = new Map(descendants(opf, "opf:item").map(({ attributes }) => [attributes["id"] ?? "", attributes]))
  const references = descendants(opf, "opf:itemref").map(({ attributes }) => items.get(attributes["idref"] ?? ""))
  const documents = (references.length > 0 ? references : Array.from(items.values())).flatMap((item) => {
    const isText = item !== undefined && documentTypes.has(item["media-type"]?.toLowerCase() ?? "")
    const isNavigation = item?.["properties"]?.split(/\s+/).includes("nav") === true
    return isText && !isNavigation ? [resolvePart(path, item["href"] ?? "")] : []
  })
  return Array.from(new Set(documents))
}

/** Fonts are often scrambled against copying; that is no protection of the text. */
const fontScrambling = new Set(["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"])

const encryptedParts = (zip: Zip): ReadonlySet<string> => {
  const parts = new Set<string>()
  const bytes = zip.read("META-INF/encryption.xml")
  if (bytes === undefined) return parts
  eachElement(bytes, (name) => name === "enc:EncryptedData", (data) => {
    const algorithm = childElements(data, "enc:EncryptionMethod")[0]?.attributes["Algorithm"] ?? ""
    if (fontScrambling.has(algorithm)) return
    for (const reference of descendants(data, "enc:CipherReference")) {
      parts.add(resolvePart("", reference.attributes["URI"] ?? ""))
    }
  })
  return parts
}
