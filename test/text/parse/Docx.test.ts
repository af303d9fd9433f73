import { describe, expect, it } from "vitest"
import { docx } from "../../../src/text/parse/Docx.ts"
import { coreXml, para, relsXml, wordFile, wordPart } from "./support/Office.ts"
import { problemOf, readWith } from "./support/ReadWith.ts"
import { writeZip, zipOf } from "./support/ZipWriter.ts"

const run = (content: string): string => `<w:r>${content}</w:r>`
const shown = async (...input: Parameters<typeof wordFile>) => (await readWith(docx, wordFile(...input))).shown

const styles = (content: string): readonly [ReadonlyArray<readonly [string, string, string]>, Record<string, string>] => [
  [["s", "styles", "styles.xml"]],
  { "word/styles.xml": wordPart("styles", content) }
]

const style = (id: string, name: string, rest = ""): string =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${rest}</w:style>`

const styled = (id: string, text: string): string => para(text, `<w:pStyle w:val="${id}"/>`)

describe("headings", () => {
  it("come from outline levels, style names, inherited styles, and translated ids without definitions", async () => {
    const body = styled("Titel", "The title") + styled("berschrift1", "One") + styled("Own", "Two") +
      styled("Outlined", "Three") + styled("Custom", "Body") + para("Direct", `<w:outlineLvl w:val="3"/>`) +
      styled("Titre2", "Deux") + para("Text")
    const [links, parts] = styles(
      style("Titel", "Title") + style("berschrift1", "heading 1") +
        style("Own", "My section", `<w:basedOn w:val="Mid"/>`) + style("Mid", "Mid", `<w:basedOn w:val="H2"/>`) +
        style("H2", "heading 2") + style("Outlined", "Clause", `<w:pPr><w:outlineLvl w:val="2"/></w:pPr>`) +
        style("Custom", "TOC Heading", `<w:basedOn w:val="berschrift1"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr>`)
    )
    const document = await readWith(docx, wordFile(body, links, parts))
    expect(document.blocks.map(({ kind, text, level }) => [kind, text, level])).toEqual([
      ["heading", "The title", 1],
      ["heading", "One", 1],
      ["heading", "Two", 2],
      ["heading", "Three", 3],
      ["paragraph", "Body", undefined],
      ["heading", "Direct", 4],
      ["heading", "Deux", 2],
      ["paragraph", "Text", undefined]
    ])
    expect(document.title).toBe("The title")
  })

  it("survive styles based on each other in a circle", async () => {
    const [links, parts] = styles(
      style("A", "A", `<w:basedOn w:val="B"/>`) + style("B", "heading 2", `<w:basedOn w:val="A"/>`)
    )
    expect(await shown(styled("A", "Round"), links, parts)).toEqual(["heading: Round"])
  })
})

describe("fields of forms", () => {
  it("are what was chosen, which stands in no run", async () => {
    const field = (data: string, shows = ""): string =>
      run(`<w:fldChar w:fldCharType="begin"><w:ffData>${data}</w:ffData></w:fldChar>`) + run("<w:instrText>FORM</w:instrText>") +
      run(`<w:fldChar w:fldCharType="separate"/>`) + shows + run(`<w:fldChar w:fldCharType="end"/>`)
    const list = `<w:listEntry w:val="Heron"/><w:listEntry w:val="Bittern"/>`
    const body = [
      field(`<w:ddList><w:result w:val="1"/>${list}</w:ddList>`),
      field(`<w:ddList>${list}</w:ddList>`),
      field(`<w:ddList>${list}</w:ddList>`, run("<w:t>Stork</w:t>")),
      field(`<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>`) + run("<w:t> yes</w:t>"),
      field(`<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>`) + run("<w:t> no</w:t>")
    ].map((content) => `<w:p>${content}</w:p>`).join("")
    expect(await shown(body)).toEqual(["Bittern", "Heron", "Stork", "☒ yes", "☐ no"].map((text) => `paragraph: ${text}`))
  })
})

describe("lists", () => {
  const numbering = wordPart(
    "numbering",
    `<w:abstractNum w:abstractNumId="1">
      <w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
      <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl>
    </w:abstractNum>
    <w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl></w:abstractNum>
    <w:abstractNum w:abstractNumId="3"><w:lvl w:ilvl="0"><w:numFmt w:val="upperRoman"/><w:lvlText w:val="Part %1"/></w:lvl></w:abstractNum>
    <w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>
    <w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>
    <w:num w:numId="3"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>
    <w:num w:numId="4"><w:abstractNumId w:val="3"/></w:num>`
  )
  const links = [["n", "numbering", "numbering.xml"]] as const
  const parts = { "word/numbering.xml": numbering }
  const item = (text: string, list: number, level = 0): string =>
    para(text, `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`)

  it("carry the labels that Word shows: nested, continued, restarted, bulleted", async () => {
    const body = item("one", 1) + item("one a", 1, 1) + item("one b", 1, 1) + item("two", 1) + item("two a", 1, 1) +
      para("between") + item("three", 1) + item("five", 3) + item("dot", 2) + item("none", 0)
    expect(await shown(body, links, parts)).toEqual([
      "list: 1. one\n  1.a) one a\n  1.b) one b\n2. two\n  2.a) two a",
      "paragraph: between",
      "list: 3. three\n5. five\n- dot",
      "paragraph: none"
    ])
  })

  it("number headings too", async () => {
    const heading = para("Scope", `<w:outlineLvl w:val="0"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="4"/></w:numPr>`)
    expect(await shown(heading + heading, links, parts)).toEqual(["heading: Part I Scope", "heading: Part II Scope"])
  })
})

describe("paragraph text", () => {
  it("has tabs, breaks, hyphens, symbols, and text in links, controls, tags and ruby", async () => {
    const body = `<w:p>
      ${run(`<w:t xml:space="preserve">a </w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t>`)}
      ${run(`<w:noBreakHyphen/><w:t>d</w:t><w:softHyphen/><w:t>e</w:t>`)}
      ${run(`<w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Wingdings" w:char="F0FC"/>`)}
      <w:hyperlink r:id="x">${run("<w:t> link</w:t>")}</w:hyperlink>
      <w:smartTag>${run("<w:t> tag</w:t>")}</w:smartTag>
      <w:sdt><w:sdtPr><w:alias w:val="no"/></w:sdtPr><w:sdtContent>${run("<w:t> control</w:t>")}</w:sdtContent></w:sdt>
      <w:ruby><w:rt>${run("<w:t>かん</w:t>")}</w:rt><w:rubyBase>${run("<w:t>漢</w:t>")}</w:rubyBase></w:ruby>
    </w:p>`
    expect(await shown(body)).toEqual(["paragraph: a \tb\nc-deα✓ link tag control漢(かん)"])
  })

  it("has insertions but no deletions, moved text once, and no hidden text", async () => {
    const body = `<w:p><w:ins>${run("<w:t>in </w:t>")}</w:ins><w:del>${run("<w:delText>out</w:delText>")}</w:del>
      <w:moveFrom>${run("<w:t>moved</w:t>")}</w:moveFrom><w:moveTo>${run("<w:t>moved</w:t>")}</w:moveTo>
      ${run("<w:rPr><w:vanish/></w:rPr><w:t>ghost</w:t>")}${run(`<w:rPr><w:vanish w:val="0"/></w:rPr><w:t> shown</w:t>`)}</w:p>`
    expect(await shown(body)).toEqual(["paragraph: in moved shown"])
    expect((await readWith(docx, wordFile(body))).remarks).toEqual([{ kind: "cut", text: "hidden text of 5 characters, left out" }])
  })

  it("has the results of fields, nested and over paragraphs, and never their instructions", async () => {
    const field = (type: string): string => run(`<w:fldChar w:fldCharType="${type}"/>`)
    const body = `<w:p>${field("begin")}${run("<w:instrText>TOC</w:instrText>")}${field("separate")}${run("<w:t>One</w:t>")}</w:p>
      <w:p>${run("<w:t>Two</w:t>")}${field("end")}</w:p>
      <w:p>${field("begin")}${run("<w:instrText>IF </w:instrText>")}${field("begin")}${field("separate")}${run("<w:t>hidden</w:t>")}${
      field("end")
    }
        ${field("separate")}${run("<w:t>seen</w:t>")}${field("end")}<w:fldSimple w:instr="PAGE">${run("<w:t> 7</w:t>")}</w:fldSimple></w:p>
      <w:p>${field("begin")}${run("<w:instrText>never closed</w:instrText>")}</w:p>${para("after")}`
    expect(await shown(body)).toEqual(["paragraph: One", "paragraph: Two", "paragraph: seen 7", "paragraph: after"])
  })

  it("has formulas", async () => {
    const t = (text: string): string => `<m:r><m:t>${text}</m:t></m:r>`
    const body = `<w:p><m:oMath>${t("y=")}<m:f><m:num>${t("a")}</m:num><m:den>${t("b")}</m:den></m:f>` +
      `<m:sSup><m:e>${t("x")}</m:e><m:sup>${t("2")}</m:sup></m:sSup></m:oMath></w:p>`
    expect(await shown(body)).toEqual(["paragraph: y=a/bx^2"])
  })

  it("keeps lines of code together", async () => {
    const [links, parts] = styles(style("HTMLPreformatted", "HTML Preformatted"))
    const body = styled("HTMLPreformatted", "if x:") + styled("HTMLPreformatted", "  y()") + para("text")
    expect(await shown(body, links, parts)).toEqual(["code: if x:\n  y()", "paragraph: text"])
  })
})

describe("pictures", () => {
  it("say how they are described, where it is not their file's name", async () => {
    const picture = (description: string): string =>
      `<w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" descr="${description}"/></wp:inline></w:drawing>`
    const described = ["A map of the site", "C:\\photos\\site 1.jpg", "https://x.org/a", "IMG_1.PNG", "Picture 4", ""]
    const body = `<w:p>${run("<w:t>See:</w:t>")}${described.map((text) => run(picture(text))).join("")}${run("<w:t>there</w:t>")}</w:p>`
    expect(await shown(`${body}<w:p>${run(picture("A dog&#xA;Description automatically generated with medium confidence"))}</w:p>`))
      .toEqual([
        "paragraph: See: A map of the site there",
        "paragraph: A dog"
      ])
  })
})

describe("text boxes", () => {
  const box = (text: string): string => `<wps:txbx><w:txbxContent>${para(text)}</w:txbxContent></wps:txbx>`
  const vml = (text: string): string =>
    `<w:pict><v:shape><v:textbox><w:txbxContent>${para(text)}</w:txbxContent></v:textbox></v:shape></w:pict>`

  it("follow their paragraph, once, from the choice or the fallback", async () => {
    const both = `<mc:AlternateContent><mc:Choice Requires="wps"><w:drawing>${box("boxed")}</w:drawing></mc:Choice>
      <mc:Fallback>${vml("boxed")}</mc:Fallback></mc:AlternateContent>`
    const fallback = `<mc:AlternateContent><mc:Choice Requires="x"><w:drawing/></mc:Choice><mc:Fallback>${
      vml("old")
    }</mc:Fallback></mc:AlternateContent>`
    const body = `<w:p>${run(both)}${run("<w:t>anchor</w:t>")}</w:p><w:p>${run(fallback)}</w:p><w:p>${run(vml("only"))}</w:p>`
    expect(await shown(body)).toEqual(["paragraph: anchor", "paragraph: boxed", "paragraph: old", "paragraph: only"])
  })

  it("may hold charts and diagrams beside the text", async () => {
    const chart =
      `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><c:chart>
      <c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>
      ${
        ["North", "South"].map((name, i) =>
          `<c:ser><c:tx><c:strRef><c:strCache><c:pt idx="0"><c:v>${name}</c:v></c:pt></c:strCache></c:strRef></c:tx>
        <c:cat><c:strRef><c:strCache><c:pt idx="0"><c:v>2023</c:v></c:pt><c:pt idx="1"><c:v>2024</c:v></c:pt></c:strCache></c:strRef></c:cat>
        <c:val><c:numRef><c:numCache><c:pt idx="0"><c:v>${i}</c:v></c:pt><c:pt idx="1"><c:v>${
            i + 5
          }</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>`
        ).join("")
      }
      </c:barChart></c:plotArea></c:chart></c:chartSpace>`
    const diagram =
      `<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><dgm:ptLst>
      <dgm:pt><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt type="pres"/><dgm:pt><dgm:t><a:p><a:r><a:t>Do</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>`
    const body = `<w:p>${run(`<w:drawing><c:chart r:id="c"/></w:drawing>`)}${run(`<w:drawing><dgm:relIds r:dm="d"/></w:drawing>`)}</w:p>`
    expect(
      await shown(body, [["c", "chart", "charts/chart1.xml"], ["d", "diagramData", "/word/data1.xml"]], {
        "word/charts/chart1.xml": chart,
        "word/data1.xml": diagram
      })
    ).toEqual(["paragraph: Sales", "table:  | North | South\n2023 | 0 | 1\n2024 | 5 | 6", "list: - Plan\n- Do"])
  })

  it("may hold charts of the kinds that came with Office 2016, which older programs show as a picture", async () => {
    const chart =
      `<cx:chartSpace xmlns:cx="http://schemas.microsoft.com/office/drawing/2014/chartex" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">
      <cx:chartData><cx:data id="0"><cx:strDim type="cat"><cx:lvl><cx:pt idx="0">Oak</cx:pt><cx:pt idx="1">Elm</cx:pt></cx:lvl>
        <cx:lvl><cx:pt idx="0">Trees</cx:pt></cx:lvl></cx:strDim><cx:numDim type="val"><cx:lvl><cx:pt idx="0">7</cx:pt><cx:pt idx="1">9</cx:pt></cx:lvl></cx:numDim></cx:data></cx:chartData>
      <cx:chart><cx:title><cx:tx><cx:rich><a:p><a:r><a:t>Stems</a:t></a:r></a:p></cx:rich></cx:tx></cx:title><cx:plotArea><cx:plotAreaRegion>
        <cx:series><cx:tx><cx:txData><cx:v>Count</cx:v></cx:txData></cx:tx><cx:dataId val="0"/></cx:series></cx:plotAreaRegion></cx:plotArea></cx:chart></cx:chartSpace>`
    const drawing =
      `<mc:AlternateContent><mc:Choice Requires="cx1"><w:drawing><cx:chart xmlns:cx="http://schemas.microsoft.com/office/drawing/2014/chartex" r:id="c"/></w:drawing></mc:Choice>
      <mc:Fallback><w:drawing/></mc:Fallback></mc:AlternateContent>`
    expect(await shown(`<w:p>${run(drawing)}</w:p>`, [["c", "chartEx", "charts/chartEx1.xml"]], { "word/charts/chartEx1.xml": chart }))
      .toEqual(["paragraph: Stems", "table:  | Count\nTrees Oak | 7\nElm | 9"])
  })

  it("may have labels of one's own and text boxes in charts", async () => {
    const a = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"`
    const chart =
      `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" ${a}><c:chart><c:plotArea><c:ser><c:dLbls><c:dLbl><c:tx><c:rich><a:p><a:r><a:t>Record year</a:t></a:r></a:p></c:rich></c:tx></c:dLbl></c:dLbls><c:val><c:pt idx="0"><c:v>4</c:v></c:pt></c:val></c:ser></c:plotArea></c:chart></c:chartSpace>`
    const blocks = await shown(`<w:p>${run(`<w:drawing><c:chart r:id="c"/></w:drawing>`)}</w:p>`, [["c", "chart", "charts/chart1.xml"]], {
      "word/charts/chart1.xml": chart,
      "word/charts/_rels/chart1.xml.rels": relsXml([["u", "chartUserShapes", "../drawings/drawing1.xml"]]),
      "word/drawings/drawing1.xml":
        `<c:userShapes xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" ${a}><a:p><a:r><a:t>Drawn on it</a:t></a:r></a:p></c:userShapes>`
    })
    expect(blocks).toEqual(["table:  | 4", "paragraph: Record year", "paragraph: Drawn on it"])
  })

  it("say how many points of a chart are left out", async () => {
    const points = Array.from({ length: 1_002 }, (_, i) => `<c:pt idx="${i}"><c:v>${i}</c:v></c:pt>`).join("")
    const chart =
      `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart><c:plotArea><c:ser><c:val>${points}</c:val></c:ser></c:plotArea></c:chart></c:chartSpace>`
    const blocks = await shown(`<w:p>${run(`<w:drawing><c:chart r:id="c"/></w:drawing>`)}</w:p>`, [["c", "chart", "charts/chart1.xml"]], {
      "word/charts/chart1.xml": chart
    })
    expect(blocks[0]).toMatch(/ \| 999$/)
    expect(blocks[1]).toBe("paragraph: (and 2 more points of the chart)")
  })
})

describe("tables", () => {
  const table = (...rows: ReadonlyArray<ReadonlyArray<string>>): string =>
    `<w:tbl>${rows.map((cells) => `<w:tr>${cells.map((cell) => `<w:tc>${cell}</w:tc>`).join("")}</w:tr>`).join("")}</w:tbl>`

  it("are one block; cells are one line, nested tables flat, deleted rows out", async () => {
    const inner = table([para("x"), para("y")])
    const deleted = `<w:tr><w:trPr><w:del/></w:trPr><w:tc>${para("gone")}</w:tc></w:tr>`
    const wrapped = `<w:sdt><w:sdtContent><w:tr><w:tc>${para("in control")}</w:tc></w:tr></w:sdtContent></w:sdt>`
    const body = table([para("Name"), para("Role")], [para("Ann") + para("Lee"), ""], ["", para("in ") + inner])
      .replace(/<\/w:tbl>$/, `${deleted}${wrapped}</w:tbl>`)
    expect(await shown(body)).toEqual(["table: Name | Role\nAnn Lee\n | in x y\nin control"])
  })

  it("of one cell are frames around their text", async () => {
    expect(await shown(table([para("Note", `<w:outlineLvl w:val="1"/>`) + para("text")])))
      .toEqual(["heading: Note", "paragraph: text"])
  })
})

describe("other stories", () => {
  it("are read once each: headers, footnotes at their place, endnotes and comments after, footers", async () => {
    const note = (kind: string, id: number, content: string, type = ""): string => `<w:${kind} w:id="${id}"${type}>${content}</w:${kind}>`
    const body = `<w:p>${run("<w:t>claim</w:t>")}${run(`<w:footnoteReference w:id="2"/>`)}${run(`<w:endnoteReference w:id="1"/>`)}
      ${run("<w:t> again</w:t>")}${run(`<w:footnoteReference w:id="2"/>`)}</w:p>${para("end")}`
    expect(
      await shown(body, [
        ["h1", "header", "header1.xml"],
        ["h2", "header", "header2.xml"],
        ["f", "footer", "footer1.xml"],
        ["fn", "footnotes", "footnotes.xml"],
        ["en", "endnotes", "endnotes.xml"],
        ["c", "comments", "comments.xml"]
      ], {
        "word/header1.xml": wordPart("hdr", para("ACME handbook")),
        "word/header2.xml": wordPart("hdr", para("ACME handbook") + para("Page 3 of 7")),
        "word/footer1.xml": wordPart("ftr", para("Confidential") + para("12")),
        "word/footnotes.xml": wordPart(
          "footnotes",
          note("footnote", 0, para("---"), ` w:type="separator"`) +
            note("footnote", 2, `<w:p>${run("<w:t>source</w:t>")}${run(`<w:footnoteReference w:id="2"/>`)}</w:p>`)
        ),
        "word/endnotes.xml": wordPart("endnotes", note("endnote", 1, para("detail"))),
        "word/comments.xml": wordPart("comments", `<w:comment w:id="0" w:author="Kim">${para("why?")}</w:comment>`)
      })
    ).toEqual([
      "paragraph: ACME handbook",
      "paragraph: claim[1][i] again[1]",
      "paragraph: [1] source[1]",
      "paragraph: end",
      "paragraph: [i] detail",
      "paragraph: Comment by Kim: why?",
      "paragraph: Confidential"
    ])
  })

  it("leave nothing behind when their parts are missing", async () => {
    const body = `<w:p>${run("<w:t>a</w:t>")}${run(`<w:footnoteReference w:id="9"/>`)}${
      run(`<w:drawing><c:chart r:id="no"/></w:drawing>`)
    }</w:p>`
    expect(await shown(body, [["fn", "footnotes", "gone.xml"], ["s", "styles", "gone.xml"]])).toEqual(["paragraph: a"])
  })
})

describe("pages", () => {
  const broken = `<w:p>${run("<w:lastRenderedPageBreak/><w:t>two</w:t>")}</w:p>`
  const splitting = `<w:p>${run("<w:t>two and</w:t><w:lastRenderedPageBreak/><w:t> three</w:t>")}</w:p>`
  const app = (pages: number): Record<string, string> => ({ "docProps/app.xml": `<Properties><Pages>${pages}</Pages></Properties>` })

  it("are known where Word's marks agree with its count", async () => {
    const document = await readWith(docx, wordFile(para("one") + broken + splitting + para("three"), [], app(3)))
    expect(document.pages).toBe(3)
    expect(document.blocks.filter(({ kind }) => kind !== "pageBreak").map(({ page }) => page)).toEqual([1, 2, 2, 3])
  })

  it("begin after a table that runs over them", async () => {
    const row = (content: string): string => `<w:tr><w:tc>${content}</w:tc><w:tc>${para("x")}</w:tc></w:tr>`
    const table = `<w:tbl>${row(para("one"))}${row(broken)}</w:tbl>`
    const { blocks } = await readWith(docx, wordFile(table + para("after"), [], app(2)))
    expect(blocks.map(({ kind, page }) => [kind, page])).toEqual([["table", 1], ["pageBreak", 2], ["paragraph", 2]])
  })

  it("are left out where they do not", async () => {
    const document = await readWith(docx, wordFile(para("one") + broken, [], app(5)))
    expect(document.pages).toBeUndefined()
    expect(document.blocks.every(({ page }) => page === undefined)).toBe(true)
  })
})

describe("the package", () => {
  it("gives title, author and language", async () => {
    const core = coreXml({ title: " Hand book ", creator: "Ann", language: "de-AT" })
    const { title, author, language } = await readWith(docx, wordFile(para("x"), [], { "docProps/core.xml": core }))
    expect({ title, author, language }).toEqual({ title: "Hand book", author: "Ann", language: "de" })
  })

  it("may be strict, use other prefixes, absolute targets and other cases in names", async () => {
    const strict = "http://purl.oclc.org/ooxml"
    const bytes = zipOf({
      "_rels/.rels":
        `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="${strict}/officeDocument/relationships/officeDocument" Target="/Word/Main.xml"/></Relationships>`,
      "word/main.xml":
        `<d:document xmlns:d="${strict}/wordprocessingml/main" xmlns:w="urn:other"><d:body><d:p><d:pPr><d:outlineLvl d:val="1"/></d:pPr><d:r><d:t>Strict</d:t></d:r></d:p></d:body></d:document>`
    })
    const { blocks } = await readWith(docx, bytes)
    expect(blocks).toEqual([{ kind: "heading", text: "Strict", level: 2, page: undefined }])
  })

  it("may have parts in UTF-16", async () => {
    const xml = `\ufeff<?xml version="1.0" encoding="UTF-16"?>${wordPart("document", `<w:body>${para("weit")}</w:body>`)}`
    const bytes = writeZip([
      { name: "_rels/.rels", content: relsXml([["r", "officeDocument", "word/document.xml"]]) },
      { name: "word/document.xml", content: Buffer.from(xml, "utf16le") }
    ])
    expect((await readWith(docx, bytes)).shown).toEqual(["paragraph: weit"])
  })
})

describe("hostile and damaged files", () => {
  const compound = (stream: string): Uint8Array =>
    Buffer.concat([
      Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]),
      Buffer.alloc(600),
      Buffer.from(stream, "utf16le"),
      Buffer.alloc(600)
    ])

  it("end with the right problem", async () => {
    expect(await problemOf(docx, compound("EncryptedPackage"))).toBe("encrypted")
    expect(await problemOf(docx, compound("WordDocument"))).toBe("unsupported")
    expect(await problemOf(docx, wordFile(para("x")).subarray(0, 400))).toBe("corrupt")
    expect(await problemOf(docx, zipOf({ "readme.txt": "hello" }))).toBe("corrupt")
    expect(await problemOf(docx, wordFile(para("x".repeat(5_000))), { characters: 1_000 })).toBe("limit")
  })

  it("are read where their entities stand for plain text", async () => {
    const harmless = `<!DOCTYPE w:document [<!ENTITY co "Acme &#38; Sons">]>` +
      wordPart("document", `<w:body>${para("By &co; in 2026")}</w:body>`)
    expect((await readWith(docx, wordFile("", [], { "word/document.xml": harmless }))).shown).toEqual(["paragraph: By Acme & Sons in 2026"])
  })

  it("never expand entities of entities", async () => {
    const bomb = `<!DOCTYPE w:document [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>` +
      wordPart("document", `<w:body>${para("&b;")}</w:body>`)
    expect(await problemOf(docx, wordFile("", [], { "word/document.xml": bomb }))).toBe("corrupt")
  })

  it("are refused when nested too deeply, and read when only deep", async () => {
    const nested = (depth: number): string => "<w:sdt><w:sdtContent>".repeat(depth) + para("deep") + "</w:sdtContent></w:sdt>".repeat(depth)
    expect(await shown(nested(200))).toEqual(["paragraph: deep"])
    expect(await problemOf(docx, wordFile(nested(100_000)))).toBe("limit")
  })

  it("give what can be read of broken markup", async () => {
    const broken = wordPart("document", `<w:body>${para("before")}<w:p><w:r><w:t>cut</w:t></w:p></w:oops></w:body>`)
    expect(await shown("", [], { "word/document.xml": broken })).toEqual(["paragraph: before", "paragraph: cut"])
  })
})
