import { oneLine } from "./BlockSink.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { embeddedInBook, withEmbedded } from "./Embedded.ts"
import { htmlBlocks } from "./Html.ts"
import { languageCode } from "./LanguageCode.ts"
import { resolvePart } from "./PartPath.ts"
import { ReadFailure } from "./ReadFailure.ts"
import type { Reader } from "./Reader.ts"
import { childElements, decodeXml, descendants, eachElement, parseXml, textContent, type XmlElement } from "./Xml.ts"
import { openZip, type Zip } from "./Zip.ts"

/**
 * Reads EPUB 2 and 3 books: the documents of the spine in reading order, each once, without the navigation document, then those that only
 * links reach (https://www.w3.org/TR/epub-33/). Such books have no pages.
 */
export const epub: Reader = ({ bytes, format, inner, limits }) => {
  const zip = openZip(bytes, limits)
  const path = packagePath(zip)
  const opf = parseXml(zip.read(path) ?? new Uint8Array())
  const protectedParts = encryptedParts(zip)
  const builder = new DocumentBuilder(limits.characters)
  const { documents, others } = spine(opf, path)
  const chapters = documents.filter((chapter) => zip.has(chapter))
  const left = [
    ...documents.filter((chapter) => !zip.has(chapter)).map((chapter) => `${chapter} (the book names it and does not hold it)`),
    ...others
  ]
  inner.remarks.push(...left.map((text) => ({ kind: "attachment", text }) as const))
  if (chapters.length === 0) throw new ReadFailure("corrupt", "the book contains none of the documents that it names")
  for (const chapter of chapters) {
    if (protectedParts.has(chapter)) throw new ReadFailure("encrypted", "the book is protected by DRM")
    const content = zip.read(chapter)
    if (content !== undefined) htmlBlocks(decodeXml(content), builder, { book: true })
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

/** The package document that container.xml names, or the only one in the archive. */
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

const pageTypes = new Set(["application/xhtml+xml", "text/html", "text/x-oeb1-document"])
const documentTypes = new Set([...pageTypes, "application/xml", "text/xml"])

interface Spine {
  /** Paths of the documents, in order. */
  readonly documents: ReadonlyArray<string>
  /** Files among them that are not text, by path and type. */
  readonly others: ReadonlyArray<string>
}

const spine = (opf: XmlElement, path: string): Spine => {
  const items = new Map(descendants(opf, "opf:item").map(({ attributes }) => [attributes["id"] ?? "", attributes]))
  const typeOf = (item: XmlElement["attributes"]): string => item["media-type"]?.toLowerCase() ?? ""
  const isNavigation = (item: XmlElement["attributes"]): boolean => item["properties"]?.split(/\s+/).includes("nav") === true
  const pathOf = (item: XmlElement["attributes"]): string => resolvePart(path, item["href"] ?? "")
  // A text stands in for formats that readers need not support.
  const readable = (item: XmlElement["attributes"] | undefined): XmlElement["attributes"] | undefined => {
    const fallback = item === undefined || documentTypes.has(typeOf(item)) ? undefined : items.get(item["fallback"] ?? "")
    return fallback !== undefined && documentTypes.has(typeOf(fallback)) ? fallback : item
  }
  const listed = descendants(opf, "opf:itemref").flatMap(({ attributes }) => {
    const item = readable(items.get(attributes["idref"] ?? ""))
    return item === undefined ? [] : [item]
  })
  const linked = [...items.values()].filter((item) => (listed.length > 0 ? pageTypes : documentTypes).has(typeOf(item)))
  return {
    documents: [...new Set([...listed, ...linked].filter((item) => documentTypes.has(typeOf(item)) && !isNavigation(item)).map(pathOf))],
    others: listed.filter((item) => !documentTypes.has(typeOf(item))).map((item) => `${pathOf(item)} (${typeOf(item)})`)
  }
}

/** Encryption methods of fonts, which are often scrambled against copying; this does not protect the text. */
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
