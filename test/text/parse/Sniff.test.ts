import { describe, expect, it } from "vitest"
import { formatOfMimeType, formatOfName, formats, tellingName } from "../../../src/text/parse/Formats.ts"
import { sniff } from "../../../src/text/parse/Sniff.ts"
import { defaultLimits } from "../../../src/text/Prepared.ts"
import { refusal } from "./support/Parsed.ts"
import { compound } from "./support/WordWriter.ts"
import { zipOf } from "./support/ZipWriter.ts"

const formatOf = (name: string, content: string | Uint8Array, mimeType?: string): string =>
  sniff(typeof content === "string" ? Buffer.from(content) : content, name, defaultLimits, mimeType)

describe("the table of formats", () => {
  it("gives each extension and media type to one format", () => {
    const all = Object.values(formats)
    for (const names of [all.flatMap((format) => format.extensions), all.flatMap((format) => format.mimeTypes)]) {
      expect(names.filter((name: string, at) => names.indexOf(name as never) !== at)).toEqual([])
    }
    for (const [key, format] of Object.entries(formats)) {
      for (const extension of format.extensions) expect(formatOfName(`Folder.x/Some File.${extension.toUpperCase()}`)).toBe(key)
      for (const mimeType of format.mimeTypes) expect(formatOfMimeType(`${mimeType.toUpperCase()}; charset=x`)).toBe(key)
    }
  })

  it("finds of several names the one that tells the format", () => {
    expect(tellingName(["a.md", "About Node.js"], undefined)).toBe("a.md")
    expect(tellingName(["notes", "Alpha v1.2", "https://x.example/a.md?as=b.csv#c.csv"], undefined)).toBe("https://x.example/a.md")
    // A page that was made Markdown says so.
    expect(tellingName(["x.example/page.html", "A page.md"], "text/markdown")).toBe("A page.md")
    expect(tellingName(["a.md", "b.html"], "text/plain")).toBe("a.md")
    expect(tellingName(["a.1", "b"], "text/plain")).toBeUndefined()
  })

  it("loads a reader for each format", async () => {
    for (const format of Object.values(formats)) expect(await format.load()).toBeTypeOf("function")
  })
})

describe("the content decides", () => {
  it("what an archive is", () => {
    const types = (type: string) => zipOf({ "[Content_Types].xml": `<Override ContentType="${type}+xml"/>`, "x.xml": "<x/>" })
    const office = "application/vnd.openxmlformats-officedocument"
    expect(formatOf("a.zip", types(`${office}.wordprocessingml.document.main`))).toBe("docx")
    expect(formatOf("a.docx", types("application/vnd.ms-excel.sheet.macroEnabled.main"))).toBe("xlsx")
    expect(formatOf("a", types("application/vnd.ms-word.template.macroEnabledTemplate.main"))).toBe("docx")
    expect(formatOf("a", types(`${office}.presentationml.slideshow.main`))).toBe("pptx")
    expect(formatOf("a.zip", zipOf({ mimetype: "application/vnd.oasis.opendocument.text-template" }))).toBe("odt")
    expect(formatOf("a.zip", zipOf({ mimetype: "application/epub+zip" }))).toBe("epub")
    expect(formatOf("a", zipOf({ mimetype: "application/vnd.oasis.opendocument.graphics", "content.xml": "<x/>" }))).toBe("odg")
    expect(formatOf("a.otg", zipOf({ "content.xml": "<x/>" }))).toBe("odg")
    expect(() => formatOf("a.odb", zipOf({ mimetype: "application/vnd.oasis.opendocument.base\n", "content.xml": "<x/>" })))
      .toThrow("document of another office program")
    expect(formatOf("a.dat", zipOf({ "word/document.xml": "<w/>" }))).toBe("docx")
  })

  it("where a name promises something else", () => {
    expect(formatOf("a.txt", "{\\rtf1 x}")).toBe("rtf")
    expect(formatOf("a.txt", "%PDF-1.7\n")).toBe("pdf")
    expect(formatOf("a.txt", "\ufeff<!DOCTYPE html><p>x")).toBe("html")
    expect(formatOf("a.docx", "<html><body>saved by a browser</body></html>")).toBe("html")
    expect(formatOf("a.xml", "<?xml version=\"1.0\"?><html xmlns=\"http://www.w3.org/1999/xhtml\">")).toBe("html")
    expect(formatOf("a.txt", "<?xml version=\"1.0\"?><feed/>")).toBe("xml")
    expect(formatOf("a.json", "{\"cells\": [], \"nbformat\": 4}")).toBe("ipynb")
    expect(formatOf("a.xls", "a\tb\n1\t2\n")).toBe("tsv")
  })

  it("where there is no name to go by", () => {
    expect(formatOf("file", "From: a@b.c\nTo: d@e.f\nSubject: x\n\nHello")).toBe("eml")
    expect(formatOf("file", "From a@b Mon Jun 01 10:00:00 2009\nReceived: x\n\nHello")).toBe("mbox")
    expect(formatOf("file", "WEBVTT\n\n00:00.000 --> 00:01.000\nHi")).toBe("vtt")
    expect(formatOf("file", "1\n00:00:00,000 --> 00:00:01,000\nHi")).toBe("srt")
    expect(formatOf("file", "{\"a\": [1, 2]}")).toBe("json")
    expect(formatOf("file", "{not json}")).toBe("text")
    expect(formatOf("file", "% x\n\\documentclass{article}")).toBe("latex")
    expect(formatOf("file", "#!/bin/sh\necho")).toBe("code")
    expect(formatOf("Makefile", "all:\n\techo")).toBe("code")
    expect(formatOf("notes.unknown", "Just words: nothing else")).toBe("text")
    expect(formatOf("blob", "# Title", "text/markdown; charset=utf-8")).toBe("markdown")
  })

  it("and the name which kind of text a text is", () => {
    expect(formatOf("a.md", "<div>Markdown may begin so</div>")).toBe("markdown")
    expect(formatOf("a.vue", "<html><template/></html>")).toBe("code")
    expect(formatOf("a.rst", "Plain")).toBe("rst")
    expect(formatOf("a.csv", "a,b")).toBe("csv")
  })
})

describe("what is not read", () => {
  it("is named for what it is", async () => {
    expect(await refusal("a.doc", compound({ WordDocument: Buffer.alloc(9) }))).toEqual({
      problem: "corrupt",
      message: "the Word document is damaged"
    })
    expect(await refusal("a.bin", compound({ nothing: Buffer.from("WordDocument", "utf16le") }))).toEqual({
      problem: "unsupported",
      message: "OLE compound file"
    })
    expect(await refusal("a.vsd", compound({ VisioDocument: Buffer.alloc(9) }))).toMatchObject({ message: "Visio drawing" })
    expect(await refusal("a.doc", compound({ WordDocument: Buffer.alloc(9) }).subarray(0, 600))).toMatchObject({ problem: "corrupt" })
    expect(await refusal("a.docx", compound({ EncryptedPackage: Buffer.alloc(9) }))).toMatchObject({ problem: "encrypted" })

    // Bytes from another process may lie at any address of a larger buffer.
    const content = compound({ WordDocument: Buffer.alloc(9) })
    const odd = new Uint8Array(content.length + 1).subarray(1)
    odd.set(content)
    expect(await refusal("a.doc", odd)).toMatchObject({ problem: "corrupt" })
    expect(await refusal("a.zip", zipOf({ "readme.txt": "x" }))).toEqual({
      problem: "unsupported",
      message: "ZIP archive; import.archives opens it"
    })
    expect(await refusal("a.docx", zipOf({ "readme.txt": "x" }))).toMatchObject({ problem: "corrupt" })
    expect(await refusal("a.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"><text>x</text></svg>")).toMatchObject({
      problem: "unsupported"
    })
  })

  it.each([
    ["a.pst", "!BDN", "Outlook archive; import.archives opens it"],
    ["a.mp3", "ID3\u0003", "audio"],
    ["a.mp4", "\0\0\0\u0018ftypmp42", "video"],
    ["a.db", "SQLite format 3\0", "database"],
    ["a.exe", "MZ\u0090", "program"],
    ["a.7z", "7z\u00bc\u00af\u0027\u001c", "7-Zip archive; import.archives opens it"],
    ["a.rar", "Rar!\u001a\u0007", "RAR archive; import.archives opens it"],
    ["a.doc", "\u00db\u00a5-\0", "Word document of before 1993"],
    ["a.doc", "1\u00be\0\0\0\u00ab", "document of Word for DOS, or of Windows Write"],
    ["a.pdf", "\u00ffWPC", "WordPerfect document"],
    ["a.dat", "\u0001\u0002", "binary file"]
  ])("is %s for what its bytes say", async (name, start, message) => {
    const content = Buffer.concat([Buffer.from(start, "latin1"), Buffer.alloc(64, 1)])
    expect(await refusal(name, content)).toEqual({ problem: "unsupported", message })
  })

  it.each([
    ["searchindex.js", `Search.setIndex({"docnames": ["index"], "terms": {"bread": [0]}})`, "search index of Sphinx"],
    [
      "search_index.json",
      `{"config":{"lang":["en"],"fields":{"title":{"boost":1000.0}}},"docs":[{"location":"","text":"Bread rises."}]}`,
      "search index of MkDocs"
    ],
    [
      "searchindex-1a.js",
      `window.search = Object.assign(window.search, JSON.parse('{"doc_urls":["a.html#b"]}'));`,
      "search index of mdBook"
    ],
    ["searchindex.json", `{"doc_urls":["a.html#b"],"index":{}}`, "search index of mdBook"],
    ["all_0.js", "var searchData=\n[\n  ['bread_0',['Bread',['../bread.html',1,'']]]\n];\n", "search index of Doxygen"],
    ["searchdata.js", "var indexSectionsWithContent =\n{\n  0: \"ab\"\n};", "search index of Doxygen"],
    ["navtreedata.js", "/*\n @licstart MIT\n*/\nvar NAVTREE =\n[\n  [ \"Bread\", \"index.html\" ]\n];", "navigation of Doxygen"],
    ["navtreeindex0.js", "var NAVTREEINDEX0 =\n{\n\"a.html\":[0]\n};", "navigation of Doxygen"],
    ["menudata.js", "/* @licstart */\nvar menudata={children:[\n{text:\"Main\",url:\"index.html\"}]}", "navigation of Doxygen"],
    [
      "member-search-index.js",
      `memberSearchIndex = [{"p":"a","c":"Bread","l":"rise()"}];updateSearchResults();`,
      "search index of Javadoc"
    ],
    ["search-index.js", `var searchIndex = new Map(JSON.parse('[["bread",{"t":"F"}]]'));`, "search index of rustdoc"],
    ["search.js", `window.searchData = "data:application/octet-stream;base64,H4sIAAAA";`, "search index of TypeDoc"],
    ["search_data-1A.js", `searchData={"items":[{"type":"module","title":"Bread"}]}`, "search index of ExDoc"],
    ["search-index.json", `[{"documents":[{"i":1,"t":"Bread","u":"/bread"}],"index":{}}]`, "search index of Lunr"],
    ["wx.eix", "%% \n%% Search data file for wx 2.2.1\n%% \n{\"wx.html\", []}", "search index of EDoc"],
    ["app.js.map", `{"version":3,"sources":["a.ts"],"sourcesContent":["let a = 1"],"mappings":"AAAA"}`, "source map"],
    ["lunr.json", `{"version":"2.3.9","fields":["title"],"fieldVectors":[["title/0",[0,0.1]]]}`, "search index of Lunr"]
  ])("is an index that a program made of other files: %s", async (name, text, message) => {
    expect(await refusal(name, text)).toEqual({ problem: "generated", message })
  })

  it.each([
    ["searchtools.js", `const Search = {\n  setIndex: (index) => {}\n};\nSearch.setIndex({});`, "code"],
    ["query.js", "var searchData={};\nsearchData.name = 1;", "code"],
    ["find.js", "var searchIndex = line.indexOf('x')", "code"],
    ["page.js", "window.searchData = async function(page = 1) {}", "code"],
    ["settings.json", `{"config":{"lang":"en"},"docs":[{"title":"Bread"}]}`, "json"],
    ["package-lock.json", `{"version":3,"packages":{}}`, "json"],
    ["links.json", `{"name":"a","doc_urls":["b"]}`, "json"],
    ["about.md", "Search.setIndex({}) is called by Sphinx.", "markdown"]
  ])("is no index that only mentions one: %s", (name, text, format) => {
    expect(formatOf(name, text)).toBe(format)
  })

  it("is a key that must stay secret", async () => {
    const key = "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----\n"
    for (const name of ["id_rsa", "a.pem", "a.txt"]) {
      expect(await refusal(name, key)).toEqual({ problem: "unsupported", message: "private key" })
    }
  })

  it("is any binary content, whatever its name", async () => {
    const picture = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 1, 2, 3, 4])
    const noise = Buffer.from(Array.from({ length: 4_000 }, (_, i) => (i * 7919 + (i * i) % 251) & 0xff))
    for (const name of ["a.png", "a.txt", "a", "a.md"]) {
      expect(await refusal(name, picture)).toMatchObject({ problem: "pictures" })
      expect(await refusal(name, noise)).toMatchObject({ problem: name === "a.png" ? "corrupt" : "unsupported" })
    }
    expect(await refusal("a.pdf", noise)).toMatchObject({ problem: "corrupt" })
  })

  it("is empty, or longer than the limit", async () => {
    expect(await refusal("a.txt", "")).toMatchObject({ problem: "empty" })
    expect(await refusal("a.txt", " \n\t\n")).toMatchObject({ problem: "empty" })
    expect(await refusal("a.txt", "12345", { bytes: 4 })).toMatchObject({ problem: "limit" })
    expect(await refusal("a.txt", "12345", { characters: 4 })).toMatchObject({ problem: "limit" })
  })
})
