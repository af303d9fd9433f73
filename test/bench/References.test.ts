import { expect, it } from "vitest"
import { excuses } from "../../bench/lib/References.ts"
import { namespaces } from "../text/parse/support/Office.ts"
import { zipOf } from "../text/parse/support/ZipWriter.ts"

/** Words excused, by all rules together. */
const excused = (name: string, bytes: Uint8Array | string, reference = "") =>
  excuses(name, Buffer.from(bytes), reference).map(({ words }) => Object.fromEntries(words))

it("excuses words of a reference that was read in a wrong charset", () => {
  expect(excused("a.md", "", "sch\ufffdne gute Welt \ufffd")).toEqual([{ sch: 1, ne: 1 }])
})

it("excuses navigation and what is hidden, not the text", () => {
  const page = `<nav>Home</nav><div role="navigation"><p>Next</p></div><p>Text <b hidden>secret</b></p><main>Next</main>`
  expect(excused("a.html", page)).toEqual([{ home: 1, next: 1, secret: 1 }])
})

it("excuses the number of each slide, and a date or a footer after its first time", () => {
  const slide = (type: string, text: string) =>
    `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`
  const part = (number: number) =>
    `<p:sld ${namespaces}>${slide("title", "Plan")}${slide("sldNum", String(number))}${slide("dt", "May")}</p:sld>`
  expect(excused("a.pptx", zipOf({ "ppt/slides/slide1.xml": part(7), "ppt/slides/slide2.xml": part(8) }))).toEqual([{ 7: 1, may: 1, 8: 1 }])
})

it("excuses who changed a text and when, and what a drawing says twice", () => {
  const odf =
    `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:dc="d"><text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:p>there</text:p><dc:creator>Ann</dc:creator></office:document-content>`
  expect(excused("a.odt", zipOf({ "content.xml": odf }))).toEqual([{ gone: 1, ann: 1 }])
  const word = `<w:document ${namespaces}><w:p><w:t>box</w:t></w:p><mc:Fallback><w:p><w:t>box</w:t></w:p></mc:Fallback></w:document>`
  expect(excused("a.docx", zipOf({ "word/document.xml": word }))).toEqual([{ box: 1 }])
})
