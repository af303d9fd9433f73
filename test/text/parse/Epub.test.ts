import { describe, expect, it } from "vitest"
import { epub } from "../../../src/text/parse/Epub.ts"
import { parsed } from "./support/Parsed.ts"
import { problemOf, readWith } from "./support/ReadWith.ts"
import { zipOf } from "./support/ZipWriter.ts"

const container = (path: string): string =>
  `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="${path}" media-type="application/oebps-package+xml"/></rootfiles></container>`

const xhtml = (body: string): string =>
  `<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>${body}</body></html>`

const item = (id: string, href: string, rest = ""): string => `<item id="${id}" href="${href}" media-type="application/xhtml+xml" ${rest}/>`

const opf = (items: string, spine: ReadonlyArray<string>, metadata = ""): string =>
  `<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/" version="3.0"><metadata>${metadata}</metadata><manifest>${items}</manifest><spine>${
    spine.map((id) => `<itemref idref="${id}"/>`).join("")
  }</spine></package>`

const chapters = {
  "OEBPS/text/chapter 1.xhtml": xhtml("<h1>One</h1><p>First words.</p>"),
  "OEBPS/text/c2.xhtml": xhtml("<h1>Two</h1><ul><li>a</li></ul>"),
  "OEBPS/nav.xhtml": xhtml("<ol><li>One</li><li>Two</li></ol>")
}
const items = item("c2", "text/c2.xhtml") + item("c1", "text/chapter%201.xhtml") +
  item("nav", "nav.xhtml", `properties="nav"`) + `<item id="css" href="a.css" media-type="text/css"/>`

describe("books", () => {
  it("are read in the order of the spine, each document once, without navigation", async () => {
    const metadata =
      "<dc:title> A book </dc:title><dc:creator>Ann Lee</dc:creator><dc:creator>Bo</dc:creator><dc:language>en-GB</dc:language>"
    const document = await readWith(
      epub,
      zipOf({
        mimetype: "application/epub+zip",
        "META-INF/container.xml": container("OEBPS/book.opf"),
        "OEBPS/book.opf": opf(items, ["nav", "c1", "c2", "c1", "css", "gone"], metadata),
        ...chapters
      })
    )
    expect(document.shown).toEqual(["heading: One", "paragraph: First words.", "heading: Two", "list: - a"])
    const { title, author, language, pages } = document
    expect({ title, author, language, pages }).toEqual({ title: "A book", author: "Ann Lee", language: "en", pages: undefined })
  })

  it("are found without container.xml", async () => {
    const { shown } = await readWith(epub, zipOf({ "OEBPS/book.opf": opf(items, ["c2"]), ...chapters }))
    // The first chapter, which the spine does not have, is reached by links.
    expect(shown).toEqual(["heading: Two", "list: - a", "heading: One", "paragraph: First words."])
  })

  it("are read with what is no part of their order: notes, asides and pages beside the text; what is missing is named", async () => {
    const read = async (spine: ReadonlyArray<string>, more: string, parts: Readonly<Record<string, string>>) => {
      const { remarks, shown } = await parsed(
        "a.epub",
        zipOf({
          mimetype: "application/epub+zip",
          "META-INF/container.xml": container("a.opf"),
          "a.opf": opf(more, spine).replace(`<itemref idref="notes"/>`, `<itemref idref="notes" linear="no"/>`),
          ...parts
        })
      )
      return { remarks, shown }
    }
    const chapter = xhtml(
      "<h1>Rivers</h1><p>The otter swam<a epub:type=\"noteref\" href=\"#n1\">1</a>.</p>" +
        "<aside epub:type=\"footnote\" id=\"n1\">Seen at dawn.</aside><aside hidden=\"\" epub:type=\"footnote\">Seen at dusk.</aside>" +
        "<p hidden=\"\">Never shown</p><footer>By the warden</footer><p>" + "And so on and on. ".repeat(10) + "</p>"
    )
    const more = item("c1", "c1.xhtml") + item("notes", "notes.xhtml") + item("gone", "gone.xhtml") + item("extra", "extra.xhtml") +
      `<item id="map" href="map.svg" media-type="image/svg+xml" fallback="text"/>` + item("text", "map.xhtml") +
      `<item id="plan" href="plan.svg" media-type="image/svg+xml"/>`
    const { remarks, shown } = await read(["map", "c1", "plan", "notes", "gone"], more, {
      "c1.xhtml": chapter,
      "notes.xhtml": xhtml("<p>A note beside the text</p>"),
      "extra.xhtml": xhtml("<p>Reached by a link</p>"),
      "map.xhtml": xhtml("<p>The map in words</p>"),
      "map.svg": "<svg/>",
      "plan.svg": "<svg/>"
    })
    expect(shown.map((line) => line.slice(0, 40))).toEqual([
      "paragraph: The map in words",
      "heading 1: Rivers",
      "paragraph: The otter swam1.",
      "paragraph: Seen at dawn.",
      "paragraph: Seen at dusk.",
      "paragraph: By the warden",
      expect.stringMatching(/^paragraph: And so on/),
      "paragraph: A note beside the text",
      "paragraph: Reached by a link"
    ])
    expect(remarks).toEqual([
      { kind: "attachment", text: "gone.xhtml (the book names it and does not hold it)" },
      { kind: "attachment", text: "plan.svg (image/svg+xml)" }
    ])
  })

  it("count as protected when their text is, not when only fonts are", async () => {
    const encryption = (algorithm: string, uri: string): string =>
      `<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:EncryptionMethod Algorithm="${algorithm}"/><enc:CipherData><enc:CipherReference URI="${uri}"/></enc:CipherData></enc:EncryptedData></encryption>`
    const book = (encrypted: string): Uint8Array =>
      zipOf({ "OEBPS/book.opf": opf(items, ["c2"]), "META-INF/encryption.xml": encrypted, ...chapters })
    expect(await problemOf(epub, book(encryption("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/text/c2.xhtml")))).toBe("encrypted")
    expect((await readWith(epub, book(encryption("http://www.idpf.org/2008/embedding", "OEBPS/a.otf")))).blocks.length).toBe(4)
  })

  it("that hold nothing to read are corrupt", async () => {
    expect(await problemOf(epub, zipOf({ mimetype: "application/epub+zip" }))).toBe("corrupt")
    expect(await problemOf(epub, zipOf({ "a.opf": opf(item("c", "gone.xhtml"), ["c"]) }))).toBe("corrupt")
    expect(await problemOf(epub, zipOf({ "a.opf": opf(items, ["c2"]), ...chapters }).subarray(0, 200))).toBe("corrupt")
    const long = { "a.opf": opf(item("c", "c.xhtml"), ["c"]), "c.xhtml": xhtml(`<p>${"word ".repeat(1_000)}</p>`) }
    expect(await problemOf(epub, zipOf(long), { characters: 100 })).toBe("limit")
  })
})
