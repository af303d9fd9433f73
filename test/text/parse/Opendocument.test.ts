import { describe, expect, it } from "vitest"
import { openDocument } from "../../../src/text/parse/OpenDocument.ts"
import { problemOf, readWith } from "./support/ReadWith.ts"
import { zipOf } from "./support/ZipWriter.ts"

const oasis = "urn:oasis:names:tc:opendocument:xmlns"
const namespaces = ["office", "text", "table", "style", "presentation", "meta"]
  .map((name) => `xmlns:${name}="${oasis}:${name}:1.0"`)
  .concat(
    `xmlns:draw="${oasis}:drawing:1.0"`,
    `xmlns:svg="${oasis}:svg-compatible:1.0"`,
    `xmlns:xlink="http://www.w3.org/1999/xlink"`,
    `xmlns:dc="http://purl.org/dc/elements/1.1/"`
  )
  .join(" ")

interface Parts {
  readonly styles?: string
  readonly common?: string
  readonly meta?: string
  readonly manifest?: string
}

const file = (kind: "text" | "spreadsheet" | "presentation" | "drawing", body: string, parts: Parts = {}): Uint8Array =>
  zipOf({
    mimetype: `application/vnd.oasis.opendocument.${kind}`,
    "content.xml": `<office:document-content ${namespaces}><office:automatic-styles>${
      parts.styles ?? ""
    }</office:automatic-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
    "styles.xml": `<office:document-styles ${namespaces}>${parts.common ?? ""}</office:document-styles>`,
    "meta.xml": `<office:document-meta ${namespaces}><office:meta>${parts.meta ?? ""}</office:meta></office:document-meta>`,
    "META-INF/manifest.xml": parts.manifest ?? "<manifest/>"
  })

const text = (body: string, parts: Parts = {}) => readWith(openDocument, file("text", body, parts))
const p = (content: string, style = "Standard"): string => `<text:p text:style-name="${style}">${content}</text:p>`

describe("forms", () => {
  const form = `xmlns:form="${oasis}:form:1.0"`
  const controls = `<office:forms ${form}><form:form><form:checkbox form:label="I agree" form:value="on"/>` +
    `<form:text form:value="Default" form:current-value="Marta Reyes"/><form:password form:current-value="otter"/>` +
    `<form:listbox><form:option form:label="Heron" form:current-selected="true"/><form:option form:label="Stork"/></form:listbox></form:form></office:forms>`

  it("say what their controls say and hold, in texts and in sheets", async () => {
    const texts = ["I agree", "Marta Reyes", "Heron"]
    expect((await text(controls + p("Body"))).blocks.map((block) => block.text)).toEqual([...texts, "Body"])
    const sheet = `<table:table table:name="S">${controls}<table:table-row><table:table-cell>${
      p("one")
    }</table:table-cell></table:table-row></table:table>`
    expect((await readWith(openDocument, file("spreadsheet", sheet))).blocks.map((block) => block.text)).toEqual(["S", "one", ...texts])
  })
})

describe("text documents", () => {
  it("have headings by level, by style and as title, code, and paragraphs with their white space", async () => {
    const styles = `<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>
      <style:style style:name="P2" style:family="paragraph" style:parent-style-name="Heading_20_3"/>
      <style:style style:name="P3" style:family="paragraph" style:parent-style-name="P4"/>
      <style:style style:name="P4" style:family="paragraph" style:parent-style-name="P3"/>
      <style:style style:name="P5" style:family="paragraph" style:parent-style-name="Preformatted_20_Text"/>`
    const body = p("The title", "P1") + `<text:h text:outline-level="2">Two</text:h>` + p("Three", "P2") +
      p("in\n   a  circle", "P3") + p("x = 1", "P5") + p(`<text:s text:c="2"/>y`, "P5") +
      p(`a<text:s text:c="2"/>b<text:tab/>c<text:line-break/><text:span>d</text:span> <text:a xlink:href="x">link</text:a>`)
    const document = await text(body, { styles })
    expect(document.title).toBe("The title")
    expect(document.blocks.map(({ kind, text, level }) => [kind, text, level])).toEqual([
      ["heading", "The title", 1],
      ["heading", "Two", 2],
      ["heading", "Three", 3],
      ["paragraph", "in a circle", undefined],
      ["code", "x = 1\n  y", undefined],
      ["paragraph", "a  b\tc\nd link", undefined]
    ])
  })

  it("have lists with bullets and numbers, nested and with several paragraphs", async () => {
    const styles =
      `<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>
      <text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/></text:list-style>`
    const item = (content: string): string => `<text:list-item>${content}</text:list-item>`
    const body = `<text:list text:style-name="L1"><text:list-header>${p("Steps")}</text:list-header>` +
      item(p("one") + p("more") + `<text:list>${item(p("one a"))}${item(p("one b"))}</text:list>`) + item(p("two")) +
      `</text:list><text:list>${item(p("dot"))}</text:list>`
    expect((await text(body, { styles })).shown).toEqual([
      "paragraph: Steps",
      "list: 1. one more\n  a) one a\n  b) one b\n2. two\n- dot"
    ])
  })

  it("have sections, indexes, frames, notes and comments at their place, and no deleted text", async () => {
    const note = (kind: string, citation: string, content: string): string =>
      `<text:note text:note-class="${kind}"><text:note-citation>${citation}</text:note-citation><text:note-body>${
        p(content)
      }</text:note-body></text:note>`
    const body = `<text:tracked-changes><text:changed-region><text:deletion>${
      p("deleted")
    }</text:deletion></text:changed-region></text:tracked-changes>
      <text:table-of-content><text:table-of-content-source>${p("template")}</text:table-of-content-source><text:index-body>${
      p("1 Intro")
    }</text:index-body></text:table-of-content>
      <text:section>${
      p(`claim${note("footnote", "1", "source")} and${note("endnote", "i", "detail")}<draw:frame><draw:text-box>${
        p("boxed")
      }</draw:text-box><svg:desc>a red box</svg:desc></draw:frame><office:annotation><dc:creator>Kim</dc:creator>${
        p("why?")
      }</office:annotation>`)
    }</text:section>${p("end")}`
    expect((await text(body)).shown).toEqual([
      "paragraph: 1 Intro",
      "paragraph: claim[1] and[i]",
      "paragraph: [1] source",
      "paragraph: boxed",
      "paragraph: a red box",
      "paragraph: Comment by Kim: why?",
      "paragraph: end",
      "paragraph: [i] detail"
    ])
  })

  it("have tables with repeated cells and rows, bounded, and nested ones flat", async () => {
    const cell = (content: string, rest = ""): string => `<table:table-cell ${rest}>${content}</table:table-cell>`
    const row = (content: string, rest = ""): string => `<table:table-row ${rest}>${content}</table:table-row>`
    const inner = `<table:table>${row(cell(p("x")) + cell(p("y")))}</table:table>`
    const body = `<table:table><table:table-header-rows>${
      row(cell(p("A")) + cell(p("B"), `table:number-columns-spanned="2"`) + "<table:covered-table-cell/>" + cell(p("D")))
    }</table:table-header-rows>
      ${row(cell(p("1"), `table:number-columns-repeated="2"`) + cell(p("in") + inner))}
      ${row(cell(p("z")) + cell(""), `table:number-rows-repeated="1000000"`)}</table:table>`
    const lines = (await text(body)).blocks[0]?.text.split("\n") ?? []
    expect(lines.slice(0, 3)).toEqual(["A | B |  | D", "1 | 1 | in x y", "z"])
    expect(lines.length).toBe(2 + 256)
  })

  it("have pages where the marks agree with the count, running text once, and facts", async () => {
    const common = `<office:master-styles><style:master-page><style:header>${p("ACME")}</style:header><style:footer>${
      p("Page <text:page-number>1</text:page-number>")
    }</style:footer></style:master-page><style:master-page><style:header>${
      p("ACME")
    }</style:header></style:master-page></office:master-styles>`
    const meta = (pages: number): string =>
      `<meta:initial-creator>Ann</meta:initial-creator><dc:creator>Bo</dc:creator><dc:title>Plan</dc:title><dc:language>fr-CA</dc:language><meta:document-statistic meta:page-count="${pages}"/>`
    const body = p("one") + p("still one<text:soft-page-break/> then two") + "<text:soft-page-break/>" + p("three")
    const document = await text(body, { common, meta: meta(3) })
    const { title, author, language, pages } = document
    expect({ title, author, language, pages }).toEqual({ title: "Plan", author: "Ann", language: "fr", pages: 3 })
    expect(document.blocks.filter(({ kind }) => kind !== "pageBreak").map(({ text, page }) => [text, page])).toEqual([
      ["one", 1],
      ["still one then two", 1],
      ["three", 3],
      ["ACME", 3]
    ])
    expect((await text(body, { meta: meta(9) })).pages).toBeUndefined()
  })

  it("may be flat XML, and of OpenOffice.org 1", async () => {
    const flat =
      `<?xml version="1.0"?><office:document ${namespaces}><office:meta><dc:title>Flat</dc:title></office:meta><office:body><office:text>${
        p("hello")
      }</office:text></office:body></office:document>`
    const { shown, title } = await readWith(openDocument, Buffer.from(flat))
    expect({ shown, title }).toEqual({ shown: ["paragraph: hello"], title: "Flat" })
    const old =
      `<office:document-content xmlns:office="http://openoffice.org/2000/office" xmlns:text="http://openoffice.org/2000/text"><office:body><text:h text:level="1">Old</text:h>${
        p("text")
      }</office:body></office:document-content>`
    expect((await readWith(openDocument, zipOf({ "content.xml": old }))).shown).toEqual(["heading: Old", "paragraph: text"])
  })
})

describe("spreadsheets", () => {
  it("have sheets as pages, dates as ISO, shown values, and bounded repeats", async () => {
    const cell = (attributes: string, content = ""): string => `<table:table-cell ${attributes}>${content}</table:table-cell>`
    const filler = cell(`table:number-columns-repeated="16000"`)
    const sheet = `<table:table table:name="Data"><table:shapes><draw:frame><draw:text-box>${
      p("drawn")
    }</draw:text-box></draw:frame></table:shapes>
      <table:table-row>${cell("", p("Day"))}${cell("", p("Share"))}${cell("", p("Name"))}${filler}</table:table-row>
      <table:table-row>${cell(`office:value-type="date" office:date-value="2026-03-04T00:00:00"`, p("4. März"))}${
      cell(`office:value-type="percentage" office:value="0.25"`, p("25%"))
    }${cell(`office:value-type="float" office:value="7"`)}</table:table-row>
      <table:table-row table:number-rows-repeated="1000000">${filler}</table:table-row>
      <table:table-row table:number-rows-repeated="1000000">${
      cell(`table:number-columns-repeated="1000000" office:value-type="date" office:date-value="2026-03-04T12:30:00"`, p("x"))
    }</table:table-row>
      </table:table><table:table table:name="Empty"><table:table-row>${filler}</table:table-row></table:table>
      <table:table table:name="Notes"><table:table-row>${
      cell("", `<office:annotation><dc:creator>Kim</dc:creator>${p("why?")}</office:annotation>${p("one")}${p("two")}`)
    }</table:table-row></table:table>`
    const { blocks, pages } = await readWith(openDocument, file("spreadsheet", sheet))
    expect(pages).toBe(3)
    expect(blocks[1]?.text).toBe("Day | Share | Name\n2026-03-04 | 25% | 7")
    expect(blocks[2]?.text.split("\n").length).toBe(256)
    expect(blocks[2]?.text.startsWith("2026-03-04 12:30 | 2026-03-04 12:30")).toBe(true)
    expect(blocks.slice(3).map(({ kind, text, page }) => [kind, text, page])).toEqual([
      ["paragraph", "drawn", 1],
      ["pageBreak", "", 2],
      ["pageBreak", "", 3],
      ["heading", "Notes", 3],
      ["paragraph", "one two", 3],
      ["paragraph", "Comment by Kim: why?", 3]
    ])
  })
})

describe("messages of cells", () => {
  it("are read where they are shown, with the cells that have them", async () => {
    const validation = (name: string, content: string) =>
      `<table:content-validation table:name="${name}" table:base-cell-address="S.A1">${content}</table:content-validation>`
    const cell = (name: string, more = "", content = "") =>
      `<table:table-cell table:content-validation-name="${name}"${more}>${content}</table:table-cell>`
    const sheet = `<table:content-validations>${
      validation(
        "v1",
        `<table:help-message table:title="Headcount" table:display="true">${p("Full-time posts")}${p("only")}</table:help-message>`
      )
    }${
      validation(
        "v2",
        `<table:help-message>${p("never shown")}</table:help-message><table:error-message table:display="true">${
          p("Not on the list")
        }</table:error-message>`
      )
    }</table:content-validations><table:table table:name="S"><table:table-row>${cell("v1", "", p("3"))}${
      cell("", ` table:number-columns-repeated="26"`)
    }${cell("v2")}</table:table-row><table:table-row table:number-rows-repeated="9">${cell("v1")}</table:table-row><table:table-row>${
      cell("v1", ` table:number-columns-repeated="1e999"`)
    }</table:table-row></table:table>`
    const { shown } = await readWith(openDocument, file("spreadsheet", sheet))
    expect(shown).toEqual([
      "heading: S",
      "paragraph: 3",
      "paragraph: Input message on A1, A2:A10, A11:BGQCV11: Headcount: Full-time posts only",
      "paragraph: Error message on AB1: Not on the list"
    ])
  })
})

describe("what an OpenDocument file hides or does not keep", () => {
  const hidden = (family: string, attribute: string): string =>
    `<style:style style:name="open" style:family="${family}"/><style:style style:name="shut" style:family="${family}"><style:${family}-properties ${attribute}/></style:style>`

  it("is said: sheets, and results of formulas", async () => {
    const sheet = (name: string, style: string, cells: string): string =>
      `<table:table table:name="${name}" table:style-name="${style}"><table:table-row>${cells}</table:table-row></table:table>`
    const formula = (rest: string, content = ""): string =>
      `<table:table-cell table:formula="of:=[.A1]*2" ${rest}>${content}</table:table-cell>`
    const cells = `<table:table-cell>${p("Sum")}</table:table-cell>` + formula(`office:value-type="float"`) +
      formula(`office:value-type="float" office:value="4"`, p("4")) + formula(`office:value-type="string" office:string-value=""`) +
      formula(`office:value-type="string"`, "<text:p/>") + `<table:table-cell>${p("end")}</table:table-cell>`
    const { remarks, shown } = await readWith(
      openDocument,
      file("spreadsheet", sheet("Plan", "open", cells) + sheet("Old", "shut", `<table:table-cell>${p("past")}</table:table-cell>`), {
        styles: hidden("table", `table:display="false"`)
      })
    )
    expect(shown).toEqual([
      "heading: Plan",
      "table: Sum | =[.A1]*2 | 4 | end",
      "pageBreak: ",
      "heading: Old (hidden)",
      "paragraph: past"
    ])
    expect(remarks).toEqual([
      { kind: "hidden", text: "sheet Old", pages: [2] },
      { kind: "cut", text: "results of a formula, which the file does not keep: the formulas are shown" }
    ])
  })

  it("is said: slides", async () => {
    const slide = (style: string, text: string): string =>
      `<draw:page draw:style-name="${style}"><draw:frame>${p(text)}</draw:frame></draw:page>`
    const { remarks } = await readWith(
      openDocument,
      file("presentation", slide("open", "one") + slide("shut", "two"), {
        styles: hidden("drawing-page", `presentation:visibility="hidden"`)
      })
    )
    expect(remarks).toEqual([{ kind: "hidden", text: "slide 2", pages: [2] }])
  })

  it("may be macros alone: their password is none of the document's", async () => {
    const manifest = `<manifest:manifest xmlns:manifest="${oasis}:manifest:1.0"><manifest:file-entry manifest:full-path="content.xml"/>
      <manifest:file-entry manifest:full-path="Basic/Macros/One.xml"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>`
    expect((await text(p("open text"), { manifest })).shown).toEqual(["paragraph: open text"])
  })
})

describe("drawings", () => {
  it("have their pages, with what shapes, groups and connectors say", async () => {
    const shape = (kind: string, text: string): string => `<draw:${kind}>${p(text)}</draw:${kind}>`
    const body = `<draw:page>${shape("custom-shape", "Board")}<draw:g>${shape("rect", "Works")}${shape("ellipse", "Sales")}</draw:g>${
      shape("connector", "reports to")
    }</draw:page><draw:page>${shape("custom-shape", "Plant 2")}</draw:page>`
    const { pages, shown } = await readWith(openDocument, file("drawing", body))
    expect(pages).toBe(2)
    expect(shown).toEqual([
      "paragraph: Board",
      "paragraph: Works",
      "paragraph: Sales",
      "paragraph: reports to",
      "pageBreak: ",
      "paragraph: Plant 2"
    ])
  })
})

describe("presentations", () => {
  it("have slides as pages with title, content and notes, and a footer once", async () => {
    const frame = (kind: string, content: string): string =>
      `<draw:frame presentation:class="${kind}"><draw:text-box>${content}</draw:text-box></draw:frame>`
    const body = `<presentation:footer-decl presentation:name="f">ACME</presentation:footer-decl>
      <draw:page>${frame("outline", `<text:list><text:list-item>${p("point")}</text:list-item></text:list>`)}${
      frame("title", p("First"))
    }<draw:g><draw:custom-shape>${p("drawn")}</draw:custom-shape></draw:g>
      <presentation:notes><draw:page-thumbnail presentation:class="page"/>${frame("notes", p("say this"))}${
      frame("page-number", p("1"))
    }</presentation:notes></draw:page>
      <draw:page>${frame("title", p("Second"))}</draw:page>`
    const { shown, pages, title } = await readWith(openDocument, file("presentation", body))
    expect({ pages, title }).toEqual({ pages: 2, title: "First" })
    expect(shown).toEqual([
      "paragraph: ACME",
      "heading: First",
      "list: - point",
      "paragraph: drawn",
      "paragraph: say this",
      "pageBreak: ",
      "heading: Second"
    ])
    expect(await problemOf(openDocument, file("presentation", body), { pages: 1 })).toBe("limit")
  })
})

describe("hostile and damaged files", () => {
  it("end with the right problem", async () => {
    const encrypted =
      `<manifest:manifest xmlns:manifest="${oasis}:manifest:1.0"><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>`
    expect(await problemOf(openDocument, file("text", p("x"), { manifest: encrypted }))).toBe("encrypted")
    expect(await problemOf(openDocument, zipOf({ mimetype: "x" }))).toBe("corrupt")
    expect(await problemOf(openDocument, file("text", p("x")).subarray(0, 300))).toBe("corrupt")
    const bomb = `<!DOCTYPE x [<!ENTITY z "zzzz"><!ENTITY a "&z;&z;">]><office:document ${namespaces}><office:body><office:text>${
      p("&a;")
    }</office:text></office:body></office:document>`
    expect(await problemOf(openDocument, Buffer.from(bomb))).toBe("corrupt")
    expect(await problemOf(openDocument, file("text", "<text:section>".repeat(5_000) + p("x")))).toBe("limit")
  })
})
