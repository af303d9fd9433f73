import { describe, expect, it } from "vitest"
import { pptx } from "../../../src/text/parse/Pptx.ts"
import { coreXml, type Link, namespaces, relsXml } from "./support/Office.ts"
import { problemOf, readWith } from "./support/ReadWith.ts"
import { zipOf } from "./support/ZipWriter.ts"

interface Slide {
  readonly shapes: string
  /** Attributes of the slide. */
  readonly own?: string
  readonly links?: ReadonlyArray<Link>
}

/** A presentation; the files of its slides are numbered backwards, so that only the list of slides orders them. */
const presentation = (
  slides: ReadonlyArray<Slide>,
  parts: Readonly<Record<string, string>> = {},
  links: ReadonlyArray<Link> = []
): Uint8Array => {
  const file = (i: number): string => `slides/slide${slides.length - i}.xml`
  const entries = slides.flatMap(({ shapes, own = "", links = [] }, i): ReadonlyArray<readonly [string, string]> => [
    [`ppt/${file(i)}`, `<p:sld ${namespaces} ${own}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`],
    [`ppt/slides/_rels/slide${slides.length - i}.xml.rels`, relsXml(links)]
  ])
  return zipOf({
    "_rels/.rels": relsXml([["r", "officeDocument", "ppt/presentation.xml"]]),
    "ppt/presentation.xml": `<p:presentation ${namespaces}><p:sldIdLst>${
      slides.map((_, i) => `<p:sldId id="${256 + i}" r:id="s${i}"/>`).join("")
    }</p:sldIdLst></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": relsXml([
      ...slides.map((_, i): Link => [`s${i}`, "slide", file(i)]),
      ...links
    ]),
    ...Object.fromEntries(entries),
    ...parts
  })
}

const paragraph = (text: string, properties = ""): string => `<a:p>${properties}<a:r><a:t>${text}</a:t></a:r></a:p>`
const shape = (placeholder: string | undefined, paragraphs: string): string =>
  `<p:sp><p:nvSpPr><p:nvPr>${
    placeholder === undefined ? "" : `<p:ph ${placeholder}/>`
  }</p:nvPr></p:nvSpPr><p:txBody>${paragraphs}</p:txBody></p:sp>`

describe("slides", () => {
  it("are pages in the order of the show, titles first as headings", async () => {
    const document = await readWith(
      pptx,
      presentation([
        { shapes: shape(undefined, paragraph("free text")) + shape(`type="title"`, paragraph("First") + paragraph("title")) },
        { shapes: shape(`type="ctrTitle"`, paragraph("Second")) + shape(`type="subTitle" idx="1"`, paragraph("below")) }
      ])
    )
    expect(document.pages).toBe(2)
    expect(document.title).toBe("First title")
    expect(document.blocks.map(({ kind, text, page }) => [kind, text, page])).toEqual([
      ["heading", "First title", 1],
      ["paragraph", "free text", 1],
      ["pageBreak", "", 2],
      ["heading", "Second", 2],
      ["paragraph", "below", 2]
    ])
  })

  it("that are hidden are kept, and told", async () => {
    const slide = (text: string, own: string): Slide => ({ shapes: shape(undefined, paragraph(text)), own })
    const { remarks, shown } = await readWith(pptx, presentation([slide("one", `show="1"`), slide("two", `show="0"`), slide("three", "")]))
    expect(shown.filter((line) => line.startsWith("paragraph"))).toEqual(["paragraph: one", "paragraph: two", "paragraph: three"])
    expect(remarks).toEqual([{ kind: "hidden", text: "slide 2", pages: [2] }])
  })

  it("have lists: bullets of the layout, own bullets, numbers, levels", async () => {
    const content = paragraph("one") + paragraph("one a", `<a:pPr lvl="1"/>`) + paragraph("") +
      paragraph("plain", `<a:pPr><a:buNone/></a:pPr>`)
    const numbered = paragraph("x", `<a:pPr><a:buAutoNum type="alphaUcParenR"/></a:pPr>`) +
      paragraph("y", `<a:pPr><a:buAutoNum type="alphaUcParenR"/></a:pPr>`) +
      paragraph("z", `<a:pPr><a:buChar char="•"/></a:pPr>`)
    const { shown } = await readWith(pptx, presentation([{ shapes: shape(`idx="1"`, content) + shape(undefined, numbered) }]))
    expect(shown).toEqual(["list: - one\n  - one a", "paragraph: plain", "list: A) x\nB) y\n- z"])
  })

  it("have the descriptions of pictures and graphics", async () => {
    const properties = (kind: string, description: string): string =>
      `<p:${kind}><p:cNvPr id="2" name="x" descr="${description}"/></p:${kind}>`
    const group = `<p:grpSp><p:pic>${properties("nvPicPr", "The plant from above")}</p:pic></p:grpSp>`
    const frame = `<p:graphicFrame>${properties("nvGraphicFramePr", "Costs by year")}</p:graphicFrame>`
    const file = `<p:pic>${properties("nvPicPr", "logo.png")}</p:pic>`
    const { shown } = await readWith(pptx, presentation([{ shapes: group + frame + file }]))
    expect(shown).toEqual(["paragraph: The plant from above", "paragraph: Costs by year"])
  })

  it("have text in groups, alternate content, tables, line breaks and fields, without slide numbers", async () => {
    const table = `<p:graphicFrame><a:graphic><a:graphicData><a:tbl>${
      [["Name", "Role"], ["Ann", ""], ["", "Chief"]].map((row) =>
        `<a:tr>${row.map((cell) => `<a:tc><a:txBody>${paragraph(cell)}</a:txBody></a:tc>`).join("")}</a:tr>`
      ).join("")
    }</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`
    const group = `<p:grpSp><p:grpSp>${shape(undefined, paragraph("grouped"))}</p:grpSp></p:grpSp>`
    const alternate = `<mc:AlternateContent><mc:Choice>${shape(undefined, paragraph("new"))}</mc:Choice><mc:Fallback>${
      shape(undefined, paragraph("old"))
    }</mc:Fallback></mc:AlternateContent>`
    const fields =
      `<a:p><a:r><a:t>a</a:t></a:r><a:br/><a:r><a:t>b</a:t></a:r><a:fld type="slidenum"><a:t>9</a:t></a:fld><a:fld type="datetime1"><a:t> today</a:t></a:fld></a:p>`
    const { shown } = await readWith(
      pptx,
      presentation([{ shapes: group + alternate + table + shape(undefined, fields) + shape(`type="sldNum"`, paragraph("1")) }])
    )
    expect(shown).toEqual(["paragraph: grouped", "paragraph: new", "table: Name | Role\nAnn\n | Chief", "paragraph: a\nb today"])
  })

  it("repeat no footer, and have notes, comments old and new, charts and diagrams", async () => {
    const footer = shape(`type="ftr"`, paragraph("ACME 2026"))
    const frames = `<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id="c"/></a:graphicData></a:graphic></p:graphicFrame>` +
      `<p:graphicFrame><a:graphic><a:graphicData><dgm:relIds r:dm="d"/></a:graphicData></a:graphic></p:graphicFrame>`
    const notes = `<p:notes ${namespaces}><p:cSld><p:spTree>${shape(`type="sldImg"`, "")}${
      shape(`type="body"`, paragraph("say this"))
    }${footer}</p:spTree></p:cSld></p:notes>`
    const { shown } = await readWith(
      pptx,
      presentation(
        [
          {
            shapes: shape(`type="title"`, paragraph("T")) + footer + frames,
            links: [
              ["n", "notesSlide", "../notesSlides/n1.xml"],
              ["k", "comments", "../comments/c1.xml"],
              ["m", "comments", "../comments/modern.xml"],
              ["c", "chart", "../charts/chart1.xml"],
              ["d", "diagramData", "../diagrams/data1.xml"]
            ]
          },
          { shapes: shape(`type="title"`, paragraph("U")) + footer }
        ],
        {
          "ppt/notesSlides/n1.xml": notes,
          "ppt/commentAuthors.xml": `<p:cmAuthorLst ${namespaces}><p:cmAuthor id="0" name="Kim"/></p:cmAuthorLst>`,
          "ppt/comments/c1.xml": `<p:cmLst ${namespaces}><p:cm authorId="0"><p:text>why?</p:text></p:cm></p:cmLst>`,
          "ppt/comments/modern.xml":
            `<q:cmLst xmlns:q="urn:modern" ${namespaces}><q:cm authorId="{1}"><q:replyLst><q:reply authorId="{1}"><q:txBody>${
              paragraph("because")
            }</q:txBody></q:reply></q:replyLst><q:txBody>${paragraph("new one")}</q:txBody></q:cm></q:cmLst>`,
          "ppt/charts/chart1.xml":
            `<c:chartSpace ${namespaces}><c:chart><c:plotArea><c:pieChart><c:ser><c:tx><c:v>Share</c:v></c:tx><c:cat><c:strLit><c:pt idx="0"><c:v>A</c:v></c:pt></c:strLit></c:cat><c:val><c:numLit><c:pt idx="0"><c:v>4</c:v></c:pt></c:numLit></c:val></c:ser></c:pieChart></c:plotArea></c:chart></c:chartSpace>`,
          "ppt/diagrams/data1.xml": `<dgm:dataModel ${namespaces}><dgm:ptLst><dgm:pt><dgm:t>${
            paragraph("Step")
          }</dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>`
        },
        [["a", "commentAuthors", "commentAuthors.xml"]]
      )
    )
    expect(shown).toEqual([
      "heading: T",
      "paragraph: ACME 2026",
      "table:  | Share\nA | 4",
      "list: - Step",
      "paragraph: say this",
      "paragraph: Comment by Kim: why?",
      "paragraph: Comment: new one",
      "paragraph: Comment: because",
      "pageBreak: ",
      "heading: U"
    ])
  })
})

describe("masters and layouts", () => {
  it("say once what is their own, and nothing of prompts, on slides that show them", async () => {
    const part = (name: string, text: string, attributes = ""): string =>
      `<p:${name} ${namespaces} ${attributes}><p:cSld><p:spTree>${shape(undefined, paragraph(text))}${
        shape(`type="body"`, paragraph("Click to edit"))
      }<p:pic><p:nvPicPr><p:cNvPr descr="Logo of Acme"/></p:nvPicPr></p:pic></p:spTree></p:cSld></p:${name}>`
    const parts = {
      "ppt/slideLayouts/a.xml": part("sldLayout", "Of layout A"),
      "ppt/slideLayouts/b.xml": part("sldLayout", "Of layout B", `showMasterSp="0"`),
      "ppt/slideLayouts/_rels/a.xml.rels": relsXml([["m", "slideMaster", "../slideMasters/m.xml"]]),
      "ppt/slideLayouts/_rels/b.xml.rels": relsXml([["m", "slideMaster", "../slideMasters/m.xml"]]),
      "ppt/slideMasters/m.xml": part("sldMaster", "Acme Ltd")
    }
    const slide = (text: string, layout: string): Slide => ({
      shapes: shape(undefined, paragraph(text)),
      links: [["l", "slideLayout", `../slideLayouts/${layout}.xml`]]
    })
    const { blocks } = await readWith(pptx, presentation([slide("one", "b"), slide("two", "a"), slide("three", "a")], parts))
    expect(blocks.filter(({ kind }) => kind !== "pageBreak").map(({ page, text }) => [page, text])).toEqual([
      [1, "one"],
      [1, "Of layout B"],
      [2, "two"],
      [2, "Of layout A"],
      [2, "Acme Ltd"],
      [3, "three"]
    ])
  })
})

describe("the package", () => {
  it("may miss slides and notes, and its placeholder title counts for nothing", async () => {
    const bytes = presentation(
      [{ shapes: shape(`type="title"`, paragraph("Real")), links: [["n", "notesSlide", "../gone.xml"]] }],
      { "docProps/core.xml": coreXml({ title: "PowerPoint Presentation", creator: "Ann" }) }
    )
    const { title, author, shown } = await readWith(pptx, bytes)
    expect({ title, author, shown }).toEqual({ title: "Real", author: "Ann", shown: ["heading: Real"] })
    const none = zipOf({
      "_rels/.rels": relsXml([["r", "officeDocument", "ppt/presentation.xml"]]),
      "ppt/presentation.xml": `<p:presentation ${namespaces}><p:sldIdLst><p:sldId r:id="x"/></p:sldIdLst></p:presentation>`
    })
    expect((await readWith(pptx, none)).blocks).toEqual([])
  })

  it("is refused when it has too many slides, or none it can be", async () => {
    const slide = { shapes: shape(undefined, paragraph("x")) }
    expect(await problemOf(pptx, presentation([slide, slide, slide]), { pages: 2 })).toBe("limit")
    expect(await problemOf(pptx, zipOf({ "[Content_Types].xml": "<Types/>" }))).toBe("corrupt")
    expect(await problemOf(pptx, Buffer.from("PK"))).toBe("corrupt")
  })
})
