import { describe, expect, it } from "vitest"
import { xlsx } from "../../../src/text/parse/Xlsx.ts"
import { coreXml, type Link, namespaces, relsXml } from "./support/Office.ts"
import { problemOf, readWith } from "./support/ReadWith.ts"
import { zipOf } from "./support/ZipWriter.ts"

const main = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ${namespaces}`

interface Book {
  /** Content of `sheetData`, by sheet name. */
  readonly sheets: Readonly<Record<string, string>>
  /** What follows the cells of every sheet. */
  readonly tail?: string
  readonly strings?: ReadonlyArray<string>
  /** Number formats by id, and the id of each cell style. */
  readonly formats?: Readonly<Record<number, string>>
  readonly styles?: ReadonlyArray<number>
  readonly date1904?: boolean
  /** The `state` of sheets, by name. */
  readonly states?: Readonly<Record<string, string>>
  readonly links?: ReadonlyArray<Link>
  readonly parts?: Readonly<Record<string, string>>
}

const workbook = (book: Book): Uint8Array => {
  const names = Object.keys(book.sheets)
  return zipOf({
    "_rels/.rels": relsXml([["r", "officeDocument", "xl/workbook.xml"]]),
    "xl/workbook.xml": `<workbook ${main}><workbookPr date1904="${book.date1904 === true ? 1 : 0}"/><sheets>${
      names.map((name, i) => `<sheet name="${name}" state="${book.states?.[name] ?? "visible"}" sheetId="${i + 1}" r:id="s${i}"/>`).join("")
    }</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relsXml([
      ...names.map((_, i): Link => [`s${i}`, "worksheet", `worksheets/sheet${i + 1}.xml`]),
      ["ss", "sharedStrings", "sharedStrings.xml"],
      ["st", "styles", "styles.xml"],
      ["pe", "person", "persons.xml"]
    ]),
    "xl/sharedStrings.xml": `<sst ${main}>${(book.strings ?? []).map((string) => `<si>${string}</si>`).join("")}</sst>`,
    "xl/styles.xml": `<styleSheet ${main}><numFmts>${
      Object.entries(book.formats ?? {}).map(([id, code]) => `<numFmt numFmtId="${id}" formatCode="${code}"/>`).join("")
    }</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${
      (book.styles ?? []).map((id) => `<xf numFmtId="${id}"/>`).join("")
    }</cellXfs></styleSheet>`,
    ...Object.fromEntries(
      Object.values(book.sheets).map((data, i) => [
        `xl/worksheets/sheet${i + 1}.xml`,
        `<worksheet ${main}><sheetData>${data}</sheetData>${book.tail ?? ""}</worksheet>`
      ])
    ),
    "xl/worksheets/_rels/sheet1.xml.rels": relsXml(book.links ?? []),
    ...book.parts
  })
}

const inline = (reference: string, text: string): string => `<c r="${reference}" t="inlineStr"><is><t>${text}</t></is></c>`

describe("sheets", () => {
  it("are marked where they are hidden", async () => {
    const cell = (text: string): string => `<row r="1">${inline("A1", text)}</row>`
    const states = { Old: "hidden", Older: "veryHidden" }
    const { remarks, shown } = await readWith(
      xlsx,
      workbook({ sheets: { New: cell("one"), Old: cell("two"), Older: cell("three") }, states })
    )
    expect(shown.filter((line) => line.startsWith("heading"))).toEqual(["heading: New", "heading: Old (hidden)", "heading: Older (hidden)"])
    expect(remarks).toEqual([{ kind: "hidden", text: "sheet Old", pages: [2] }, { kind: "hidden", text: "sheet Older", pages: [3] }])
  })

  it("show formulas that nothing has calculated, and say so", async () => {
    const formula = (reference: string, text: string, rest: string, type = "n"): string =>
      `<c r="${reference}" t="${type}"><f>${text}</f>${rest}</c>`
    const row = inline("A1", "Sum") + formula("B1", "SUM(A2:A3)", "<v/>") + formula("C1", "A2&amp;&quot;x&quot;", "") +
      formula("D1", "A9", "<v>7</v>") + formula("E1", "IF(A2,\"\",1)", "<v></v>", "str") + inline("F1", "end")
    const { remarks, shown } = await readWith(xlsx, workbook({ sheets: { Plan: `<row r="1">${row}</row>` } }))
    expect(shown).toEqual(["heading: Plan", "table: Sum | =SUM(A2:A3) | =A2&\"x\" | 7 | end"])
    expect(remarks).toEqual([
      { kind: "cut", text: "results of 2 formulas, which the file does not keep: the formulas are shown" }
    ])
  })

  it("that the file names and does not have are told", async () => {
    const file = (names: ReadonlyArray<string>, links: ReadonlyArray<Link>): Uint8Array =>
      zipOf({
        "_rels/.rels": relsXml([["r", "officeDocument", "xl/workbook.xml"]]),
        "xl/workbook.xml": `<workbook ${main}><sheets>${
          names.map((name, i) => `<sheet name="${name}" r:id="s${i}"/>`).join("")
        }</sheets></workbook>`,
        "xl/_rels/workbook.xml.rels": relsXml(links),
        "xl/worksheets/sheet1.xml": `<worksheet ${main}><sheetData><row r="1">${inline("A1", "kept")}</row></sheetData></worksheet>`
      })
    const { remarks, shown } = await readWith(xlsx, file(["Here", "Gone"], [["s0", "worksheet", "worksheets/sheet1.xml"]]))
    expect(shown).toEqual(["heading: Here", "paragraph: kept", "pageBreak: "])
    expect(remarks).toEqual([{ kind: "cut", text: "sheets that the file names and does not have: Gone" }])
    expect(await problemOf(xlsx, file(["Gone"], []))).toBe("corrupt")
  })

  it("are pages under their names, hidden or not, empty ones without a heading", async () => {
    const cell = (text: string): string => `<row r="1">${inline("A1", text)}</row>`
    const document = await readWith(xlsx, workbook({ sheets: { "Q1 &amp; Q2": cell("one"), Empty: "", Last: cell("three") } }))
    expect(document.pages).toBe(3)
    expect(document.blocks.map(({ kind, text, page }) => [kind, text, page])).toEqual([
      ["heading", "Q1 & Q2", 1],
      ["paragraph", "one", 1],
      ["pageBreak", "", 2],
      ["pageBreak", "", 3],
      ["heading", "Last", 3],
      ["paragraph", "three", 3]
    ])
  })

  it("are cut into tables at empty rows; empty columns vanish, empty cells keep their place", async () => {
    const data = `<row r="1">${inline("C1", "Title")}</row>
      <row r="3">${inline("B3", "Name")}${inline("D3", "Role")}${inline("E3", "Since")}</row>
      <row r="4">${inline("B4", "Ann")}${inline("E4", "2020")}</row>
      <row r="5">${inline("D5", "Chief")}</row>`
    const { shown } = await readWith(xlsx, workbook({ sheets: { S: data } }))
    expect(shown).toEqual(["heading: S", "paragraph: Title", "table: Name | Role | Since\nAnn |  | 2020\n | Chief"])
  })

  it("show each kind of cell as a person sees it", async () => {
    const strings = [
      "<t>plain</t>",
      `<r><t>rich </t></r><r><rPr><b/></rPr><t xml:space="preserve">text</t></r><rPh><t>kana</t></rPh>`,
      "<t>two\nlines_x000D_&lt;b&gt;</t>"
    ]
    const data = `<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>2</v></c><c t="s"><v>99</v></c></row>
      <row><c t="b"><v>1</v></c><c t="b"><v>0</v></c><c t="e"><v>#N/A</v></c><c t="str"><f>A1&amp;B1</f><v>joined</v></c></row>
      <row><c><f>1+2</f><v>3</v></c><c><f>NOW()</f></c><c><v>0.30000000000000004</v></c><c><v>1234567890123456</v></c></row>
      <row><c><v>-1.5E-7</v></c><c t="d"><v>2026-03-04T00:00:00</v></c></row>`
    const { shown } = await readWith(xlsx, workbook({ sheets: { S: data }, strings }))
    expect(shown[1]).toBe(
      "table: plain | rich text | two lines <b>\nTRUE | FALSE | #N/A | joined\n3 | =NOW() | 0.3 | 1234567890123456\n-1.5e-7 | 2026-03-04"
    )
  })
})

describe("number formats", () => {
  const shownAs = async (code: string, value: number, date1904 = false): Promise<string | undefined> => {
    const data = `<row r="1"><c r="A1" s="1"><v>${value}</v></c></row>`
    const book = { sheets: { S: data }, formats: { 170: code }, styles: [0, 170], date1904 }
    return (await readWith(xlsx, workbook(book))).blocks[1]?.text
  }

  it.each([
    ["yyyy-mm-dd", 45_000, "2023-03-15"],
    ["[$-407]d. mmmm yyyy;@", 45_000, "2023-03-15"],
    ["d/m/yy h:mm", 45_000.5, "2023-03-15 12:00"],
    ["d/m/yy h:mm", 45_000, "2023-03-15"],
    ["mm/dd/yyyy", 45_000.75, "2023-03-15"],
    ["h:mm AM/PM", 0.75, "18:00"],
    ["hh:mm:ss", 0.123456, "02:57:47"],
    ["mm:ss", 0.001, "00:01:26"],
    ["[h]:mm", 1.5, "36:00:00"],
    ["d.m.yyyy", 1, "1900-01-01"],
    ["d.m.yyyy", 61, "1900-03-01"],
    ["0%", 0.256, "26%"],
    ["0.00%", 0.256, "25.60%"],
    ["#,##0.00", 1234.5, "1234.5"],
    ["0.00 &quot;days&quot;", 2.5, "2.5"],
    ["[Red]0", 7, "7"],
    ["General", 45_000, "45000"],
    ["@", 45_000, "45000"],
    ["yyyy", -3, "-3"],
    ["yyyy", 1e12, "1000000000000"]
  ])("%s of %d is %s", async (code, value, expected) => {
    expect(await shownAs(code, value)).toBe(expected)
  })

  it("count days from 1904 where the workbook says so", async () => {
    expect(await shownAs("yyyy-mm-dd", 43_538, true)).toBe("2023-03-15")
  })

  it("are known by id where they are built in", async () => {
    const cells = [9, 10, 14, 20, 22, 46].map((_, i) => `<c s="${i}"><v>1.5</v></c>`).join("")
    const { blocks } = await readWith(xlsx, workbook({ sheets: { S: `<row>${cells}</row>` }, styles: [9, 10, 14, 20, 22, 46] }))
    expect(blocks[1]?.text).toBe("150% | 150.00% | 1900-01-01 | 12:00 | 1900-01-01 12:00 | 36:00:00")
  })
})

describe("beside the cells", () => {
  it("are headers and footers, text boxes, charts, and comments old and threaded", async () => {
    const drawing =
      `<xdr:wsDr ${namespaces}><xdr:twoCellAnchor><xdr:sp><xdr:txBody><a:p><a:r><a:t>boxed</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:twoCellAnchor>
      <xdr:twoCellAnchor><xdr:graphicFrame><a:graphic><a:graphicData><c:chart r:id="c"/></a:graphicData></a:graphic></xdr:graphicFrame></xdr:twoCellAnchor></xdr:wsDr>`
    const { shown } = await readWith(
      xlsx,
      workbook({
        sheets: { S: `<row r="1">${inline("A1", "x")}${inline("B1", "y")}</row>` },
        tail:
          `<headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"&amp;12Plan &amp;&amp; budget&amp;RPage &amp;P of &amp;N</oddHeader></headerFooter><drawing r:id="d"/>`,
        links: [
          ["d", "drawing", "../drawings/drawing1.xml"],
          ["c", "comments", "../comments1.xml"],
          ["t", "threadedComment", "../threaded.xml"]
        ],
        parts: {
          "xl/drawings/drawing1.xml": drawing,
          "xl/drawings/_rels/drawing1.xml.rels": relsXml([["c", "chart", "../charts/chart1.xml"]]),
          "xl/charts/chart1.xml":
            `<c:chartSpace ${namespaces}><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Growth</a:t></a:r></a:p></c:rich></c:tx></c:title></c:chart></c:chartSpace>`,
          "xl/comments1.xml":
            `<comments ${main}><authors><author>Kim</author><author>tc={1}</author></authors><commentList><comment ref="A1" authorId="0"><text><r><t>Kim:</t></r><r><t xml:space="preserve"> check</t></r></text></comment><comment ref="B1" authorId="1"><text><t>[Threaded comment] Your version of Excel...</t></text></comment></commentList></comments>`,
          "xl/threaded.xml":
            `<ThreadedComments xmlns="urn:tc"><threadedComment ref="B1" personId="{1}"><text>new</text></threadedComment></ThreadedComments>`,
          "xl/persons.xml": `<personList xmlns="urn:tc"><person displayName="Ann" id="{1}"/></personList>`
        }
      })
    )
    expect(shown.slice(1)).toEqual([
      "table: x | y",
      "paragraph: Plan & budget Page of",
      "paragraph: boxed",
      "paragraph: Growth",
      "paragraph: Comment on A1 by Kim: check",
      "paragraph: Comment on B1 by Ann: new"
    ])
  })
})

describe("messages of cells", () => {
  const tail =
    `<dataValidations count="4"><dataValidation type="whole" showInputMessage="1" showErrorMessage="1" sqref="A1 C3:C9" promptTitle="Headcount" prompt="Full-time posts_x000a_only" errorTitle="Stop" error="A whole number"><formula1>1</formula1></dataValidation>
    <dataValidation showInputMessage="1" sqref="D1 E1 F1" promptTitle="Headcount" prompt="Full-time posts_x000a_only"/>
    <dataValidation type="list" sqref="G1" prompt="never shown" error="nor this"/><dataValidation type="list" showInputMessage="1" sqref="H1"/></dataValidations>
    <extLst><ext><x14:dataValidations xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main" xmlns:xm="http://schemas.microsoft.com/office/excel/2006/main"><x14:dataValidation showErrorMessage="1" error="Not on the list"><x14:formula1><xm:f>Lists!A1:A9</xm:f></x14:formula1><xm:sqref>B2</xm:sqref></x14:dataValidation></x14:dataValidations></ext></extLst>`

  it("are read where they are shown, each once, with its cells", async () => {
    const { shown } = await readWith(xlsx, workbook({ sheets: { S: `<row r="1">${inline("A1", "x")}</row>` }, tail }))
    expect(shown.slice(2)).toEqual([
      "paragraph: Input message on A1, C3:C9, D1, …: Headcount: Full-time posts only",
      "paragraph: Error message on A1, C3:C9: Stop: A whole number",
      "paragraph: Error message on B2: Not on the list"
    ])
  })

  it("make a sheet of an empty form", async () => {
    const { shown } = await readWith(xlsx, workbook({ sheets: { Form: "" }, tail }))
    expect(shown.slice(0, 2)).toEqual(["heading: Form", "paragraph: Input message on A1, C3:C9, D1, …: Headcount: Full-time posts only"])
  })
})

describe("controls of a sheet", () => {
  it("have their labels, once, and comments are no controls", async () => {
    const shape = (type: string, text: string): string =>
      `<v:shape><v:textbox><div><font>${text}</font></div></v:textbox><x:ClientData ObjectType="${type}"/></v:shape>`
    const box = "<xdr:sp><xdr:txBody><a:p><a:r><a:t>Send it</a:t></a:r></a:p></xdr:txBody></xdr:sp>"
    const { shown } = await readWith(
      xlsx,
      workbook({
        sheets: { S: `<row r="1">${inline("A1", "x")}</row>` },
        links: [["d", "drawing", "../drawings/d.xml"], ["v", "vmlDrawing", "../drawings/v.vml"]],
        parts: {
          "xl/drawings/d.xml": `<xdr:wsDr ${namespaces}><xdr:twoCellAnchor>${box}</xdr:twoCellAnchor></xdr:wsDr>`,
          "xl/drawings/v.vml": `<xml xmlns:v="urn:schemas-microsoft-com:vml" xmlns:x="urn:schemas-microsoft-com:office:excel">${
            shape("Checkbox", "Paid in advance")
          }${shape("Button", "Send it")}${shape("Note", "a comment")}</xml>`
        }
      })
    )
    expect(shown).toEqual(["heading: S", "paragraph: x", "paragraph: Send it", "paragraph: Paid in advance"])
  })
})

describe("charts of a sheet", () => {
  it("have titles that stand in cells, and the sizes of bubbles", async () => {
    const cached = (...texts: ReadonlyArray<string>): string =>
      `<c:strRef><c:strCache>${texts.map((text, i) => `<c:pt idx="${i}"><c:v>${text}</c:v></c:pt>`).join("")}</c:strCache></c:strRef>`
    const chart = `<c:title><c:tx>${cached("Ferries", "by ford")}</c:tx></c:title><c:plotArea><c:bubbleChart><c:ser><c:tx>${
      cached("Upper")
    }</c:tx><c:xVal>${cached("1", "2")}</c:xVal><c:yVal>${cached("10", "20")}</c:yVal><c:bubbleSize>${
      cached("300", "400")
    }</c:bubbleSize></c:ser></c:bubbleChart></c:plotArea>`
    const frame = `<xdr:graphicFrame><a:graphic><a:graphicData><c:chart r:id="c"/></a:graphicData></a:graphic></xdr:graphicFrame>`
    const { shown } = await readWith(
      xlsx,
      workbook({
        sheets: { S: "" },
        links: [["d", "drawing", "../drawings/d.xml"]],
        parts: {
          "xl/drawings/d.xml": `<xdr:wsDr ${namespaces}><xdr:twoCellAnchor>${frame}</xdr:twoCellAnchor></xdr:wsDr>`,
          "xl/drawings/_rels/d.xml.rels": relsXml([["c", "chart", "../c.xml"]]),
          "xl/c.xml": `<c:chartSpace ${namespaces}><c:chart>${chart}</c:chart></c:chartSpace>`
        }
      })
    )
    expect(shown).toEqual(["heading: S", "paragraph: Ferries by ford", "table:  | Upper\n1 | 10 | 300\n2 | 20 | 400"])
  })
})

describe("large and hostile workbooks", () => {
  it("are read in the order of their cells, whatever range they claim", async () => {
    const data = `<row r="1">${inline("A1", "first")}${inline("XFD1", "far")}</row>
      <row r="2">${inline("C2", "c")}${inline("A2", "a")}</row>
      <row r="1048576">${inline("XFD1048576", "last")}</row>`
    const { shown } = await readWith(xlsx, workbook({ sheets: { S: data } }))
    expect(shown).toEqual(["heading: S", "table: first |  | far\na | c", "paragraph: last"])
  })

  it("do not pay for the grid that strewn cells span", async () => {
    const column = (i: number): string => String.fromCharCode(65 + Math.floor(i / 676) % 26, 65 + Math.floor(i / 26) % 26, 65 + i % 26)
    const data = Array.from({ length: 5_000 }, (_, i) => `<row r="${i + 1}">${inline(`${column(i)}${i + 1}`, `v${i}`)}</row>`)
    const { text } = await readWith(xlsx, workbook({ sheets: { S: data.join("") } }))
    expect(text.length).toBeLessThan(100_000)
    expect(text).toContain("v4999")
  })

  it("are read in one table when long, with columns that begin late", async () => {
    const data = Array.from(
      { length: 3_000 },
      (_, i) => `<row r="${i + 1}">${inline(`A${i + 1}`, `a${i}`)}${i === 2_500 ? inline(`C${i + 1}`, "late") : ""}</row>`
    )
    const { blocks } = await readWith(xlsx, workbook({ sheets: { S: data.join("") } }))
    expect(blocks.map(({ kind }) => kind)).toEqual(["heading", "table"])
    expect(blocks[1]?.text.split("\n")[2_500]).toBe("a2500 | late")
  })

  it("end with the right problem", async () => {
    const cell = `<row r="1">${inline("A1", "x")}</row>`
    expect(await problemOf(xlsx, workbook({ sheets: { A: cell, B: cell, C: cell } }), { pages: 2 })).toBe("limit")
    const long = "y".repeat(100_000)
    const repeated = Array.from({ length: 1_000 }, (_, i) => `<row r="${i + 1}"><c t="s"><v>0</v></c></row>`).join("")
    const amplified = workbook({ sheets: { S: repeated }, strings: [`<t>${long}</t>`] })
    expect(await problemOf(xlsx, amplified, { characters: 10_000_000 })).toBe("limit")
    const bomb = `<!DOCTYPE x [<!ENTITY z "zzzz"><!ENTITY a "&z;&z;">]><sst ${main}><si><t>&a;</t></si></sst>`
    expect(await problemOf(xlsx, workbook({ sheets: { S: cell }, parts: { "xl/sharedStrings.xml": bomb } }))).toBe("corrupt")
    const binary = zipOf({
      "_rels/.rels": relsXml([["r", "officeDocument", "xl/workbook.bin"]]),
      "xl/workbook.bin": "\u0001"
    })
    expect(await problemOf(xlsx, binary)).toBe("unsupported")
  })

  it("are read where a sheet has no address", async () => {
    const cell = (text: string): string => `<worksheet ${main}><sheetData><row r="1">${inline("A1", text)}</row></sheetData></worksheet>`
    const bytes = zipOf({
      "_rels/.rels": relsXml([["r", "officeDocument", "xl/workbook.xml"]]),
      "xl/workbook.xml":
        `<workbook ${main}><sheets><sheet name="A" r:id=""/><sheet name="B" r:id="b"/><sheet name="C" r:id=""/></sheets></workbook>`,
      "xl/_rels/workbook.xml.rels": relsXml([["a", "worksheet", "a.xml"], ["b", "worksheet", "b.xml"]]),
      "xl/a.xml": cell("one"),
      "xl/b.xml": cell("two")
    })
    expect((await readWith(xlsx, bytes)).shown.filter((line) => !line.startsWith("pageBreak"))).toEqual([
      "heading: A",
      "paragraph: one",
      "heading: B",
      "paragraph: two"
    ])
  })

  it("are read without the parts that are missing", async () => {
    const bytes = zipOf({
      "_rels/.rels": relsXml([["r", "officeDocument", "/xl/workbook.xml"]]),
      "docProps/core.xml": coreXml({ title: "Budget" }),
      "xl/workbook.xml":
        `<x:workbook xmlns:x="http://purl.oclc.org/ooxml/spreadsheetml/main" xmlns:r="http://purl.oclc.org/ooxml/officeDocument/relationships"><x:sheets><x:sheet name="S" r:id="a"/><x:sheet name="Gone" r:id="b"/></x:sheets></x:workbook>`,
      "xl/_rels/workbook.xml.rels": relsXml([["a", "worksheet", "s.xml"]]),
      "xl/s.xml":
        `<x:worksheet xmlns:x="http://purl.oclc.org/ooxml/spreadsheetml/main"><x:sheetData><x:row><x:c s="4"><x:v>5</x:v></x:c></x:row></x:sheetData></x:worksheet>`
    })
    const { shown, title } = await readWith(xlsx, bytes)
    expect({ shown, title }).toEqual({ shown: ["heading: S", "paragraph: 5", "pageBreak: "], title: "Budget" })
  })
})
