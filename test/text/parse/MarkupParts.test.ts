import { describe, expect, it } from "vitest"
import { type FormatKey } from "../../../src/text/parse/Formats.ts"
import { htmlParts, xmlParts } from "../../../src/text/parse/MarkupParts.ts"
import { parse } from "../../../src/text/parse/Parse.ts"
import { prepareFile } from "../../../src/text/pool/PrepareFile.ts"
import { fileSpans } from "../../../src/text/parse/source/FileSpans.ts"
import { parse as read } from "../../../src/text/ReadDocument.ts"
import { defaultLimits } from "../../../src/text/Prepared.ts"
import { Effect } from "effect"

const lines = (count: number, line: (i: number) => string): string => Array.from({ length: count }, (_, i) => line(i)).join("\n")

/** "" of a part in which all is hidden. */
const textOf = async (bytes: Uint8Array, format: FormatKey): Promise<string> => {
  try {
    return (await parse({ bytes, name: "a", format, limits: defaultLimits })).text
  } catch (error) {
    expect(error).toMatchObject({ problem: "empty" })
    return ""
  }
}

/** The text of a source as a whole and in parts, white space aside, and how many parts there are. */
const both = async (source: string, format: "html" | "xml", bytes = 400) => {
  const file = Buffer.from(source)
  const parts = (format === "html" ? htmlParts : xmlParts)(file, bytes) ?? []
  const texts: Array<string> = []
  for (const part of parts) {
    expect(part().length).toBeLessThan(bytes * 3)
    texts.push(await textOf(part(), format))
  }
  const words = (text: string): string => text.replaceAll(/\s+/g, " ")
  return { whole: words(await textOf(file, format)), parts: words(texts.join(" ")).trim(), count: parts.length }
}

describe("a long page", () => {
  it.each([
    [
      "sections",
      `<!doctype html><html><head><title>T</title></head><body><h1>T</h1>${
        lines(60, (i) => `<section><h2>Head ${i}</h2><p>Größe ${i} &amp; more<p>second <b>bold</b></section>`)
      }</body></html>`
    ],
    ["omitted tags", `<title>T</title><h1>T</h1>${lines(90, (i) => `<p>Number ${i}, <i>and<br>a line`)}`],
    [
      "lists",
      `<body><ul>${lines(10, (i) => `<li>mark ${i}`)}</ul><ol start=5>${lines(90, (i) => `<li>item ${i}<ol><li>inner</ol>`)}</ol></body>`
    ],
    [
      "a table",
      `<table class="x"><thead><tr><th>a<th>b</thead><tbody>${lines(90, (i) => `<tr><td>cell ${i}</td><td>y</td></tr>`)}</table>`
    ],
    ["a page laid out by a table", `<table><tr><td>${lines(90, (i) => `<p>text ${i}</p>`)}</td></tr></table>`],
    ["lines", `<body>${lines(150, (i) => `a line of text ${i}<br>`)}`],
    ["preformatted text", `<pre>${lines(150, (i) => `2026-01-01 &lt;${i}> done`)}</pre><p>after`],
    ["what is hidden", `<main><p>${"seen ".repeat(30)}<div hidden>${lines(90, (i) => `<p>not ${i}</p>`)}</div><p>end</main>`]
  ])("of %s says in parts what it says as a whole", async (_, source) => {
    const found = await both(source, "html")
    expect(found.count).toBeGreaterThan(3)
    // An item, a row or a line begins a block of its own after a cut; its words are the same.
    expect(found.parts).toBe(found.whole)
  })

  it("has its parts cut between blocks rather than in a table, under the headings of the parts before", async () => {
    const padding = `<!--${"x".repeat(2_000)}-->`
    const content = Buffer.from(
      `<html lang="de"><meta name=author content=Ann><body><h1>Handbook</h1><h2>Leave</h2>${
        lines(2_200, (i) =>
          `<p>${padding}Paragraph p${i}, <b>bold</b></p><table>${
            lines(3, (j) => `<tr><td>${padding}row r${i}/${j}<td>b`)
          }</table>`)
      }</body>`
    )
    expect(content.length).toBeGreaterThan(17 * 1024 * 1024)
    const chunking = { strategy: "structure", size: 2_000, overlap: 0 } as const
    const { author, chunks, language, title } = await prepareFile({ content, name: "a.html", chunking }, defaultLimits)
    expect([title, author, language]).toEqual(["Handbook", "Ann", "de"])
    expect(chunks.at(-1)?.headings).toEqual(["Handbook", "Leave"])
    const all = chunks.map(({ text }) => text).join("\n")
    expect(all.match(/Paragraph p\d+, bold/g)?.length).toBe(2_200)
    expect(all.match(/row r\d+\/0 \| b\nrow r\d+\/1 \| b\nrow/g)?.length).toBe(2_200)

    const document = await Effect.runPromise(read({ content, name: "a.html", chunking }))
    expect(document.chunks).toEqual(chunks)
    const last = chunks.at(-1)!
    expect(document.text.slice(last.start, last.end)).toBe(last.text)
    const quote = "Paragraph p2199, bold"
    const byteStart = Buffer.from(document.text).indexOf(quote)
    const [span] = await fileSpans({ bytes: content, name: "a.html", limits: defaultLimits }, [
      { quote, byteStart, byteEnd: byteStart + quote.length }
    ])
    expect(content.toString("utf8", span?.byteStart, span?.byteEnd)).toBe("Paragraph p2199, <b>bold")
  })
})

describe("a long XML document", () => {
  it.each([
    [
      "records",
      `<?xml version="1.0"?><rows>${lines(60, (i) => `<row id="${i}"><name>Name ${i}</name><size>${i * 2}</size></row>`)}</rows>`
    ],
    ["records within records", `<a><b><c>${lines(60, (i) => `<d><e>Value ${i}</e><f><g>deep ${i}</g></f></d>`)}</c></b><h>end</h></a>`],
    [
      "chapters",
      `<book xmlns="urn:x"><title>Book</title>${
        lines(
          30,
          (i) => `<chapter><title>Chapter ${i}</title><para>Some <emphasis>text</emphasis> ${i}.</para><para>More.</para></chapter>`
        )
      }</book>`
    ],
    ["its own entities", `<!DOCTYPE a [<!ENTITY co "The Company">]><a>${lines(120, (i) => `<p>&co; ${i}</p>`)}</a>`],
    [
      "other prefixes",
      `<t:doc xmlns:t="urn:oasis:names:tc:opendocument:xmlns:text:1.0">${lines(60, (i) => `<t:p>Text<t:s/>${i}</t:p>`)}</t:doc>`
    ]
  ])("of %s says in parts what it says as a whole", async (_, source) => {
    const found = await both(source, "xml")
    expect(found.count).toBeGreaterThan(3)
    expect(found.parts).toBe(found.whole)
  })

  it("is read by the charset that it declares, once", async () => {
    const padding = `<!--${"x".repeat(4_000)}-->`
    const content = Buffer.from(
      `<?xml version="1.0" encoding="iso-8859-1"?><rows>${
        lines(4_300, (i) => `<row>${padding}<name>Größe ${i}</name><note>ein Wort</note></row>`)
      }</rows>`,
      "latin1"
    )
    const chunking = { strategy: "structure", size: 2_000, overlap: 0 } as const
    const { chunks } = await prepareFile({ content, name: "a.xml", chunking }, defaultLimits)
    expect(chunks.map(({ text }) => text).join("\n").match(/Größe \d+/g)?.length).toBe(4_300)
    await expect(prepareFile({ content, name: "a.xml", chunking }, { ...defaultLimits, characters: 50_000 })).rejects.toMatchObject({
      problem: "limit",
      message: "more than 50000 characters of text"
    })
  })

  it("is left whole where nothing cuts it", () => {
    for (const source of ["<a/>", "", "no markup", `<p>${"<b>x</b>".repeat(100)}</p>`]) {
      expect(xmlParts(Buffer.from(source), 40)).toBe(undefined)
    }
    expect(htmlParts(Buffer.from(`<h1>${"<b>x</b>".repeat(100)}</h1>`), 40)).toBe(undefined)
  })
})
