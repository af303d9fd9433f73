import { CFB } from "@e965/xlsx"
import { describe, expect, it } from "vitest"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { prepareFile } from "../../../src/text/pool/PrepareFile.ts"
import { defaultLimits } from "../../../src/text/Prepared.ts"
import { png } from "../../../src/text/parse/Png.ts"
import { withPlainPages } from "../../../src/text/parse/pdf/PlainPages.ts"
import { para, relsXml, wordFile } from "./support/Office.ts"
import { parsed, refusal } from "./support/Parsed.ts"
import { writePdf } from "./support/PdfWriter.ts"
import { zipOf } from "./support/ZipWriter.ts"

const pictureOf = (line: string): Promise<Uint8Array> =>
  withPlainPages(writePdf([[`# ${line}`]]), async (pages) => {
    const drawn = await pages.draw(1)
    if (drawn === undefined) throw new Error("the page was not drawn")
    return png(drawn, "grey")
  })

/** A file as the Packager of Windows wraps it. */
const packaged = (name: string, text: string | Uint8Array): Buffer => {
  const content = Buffer.from(text)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(content.length)
  const temporary = Buffer.alloc(4)
  temporary.writeUInt32LE(4)
  const stream = Buffer.concat([
    Buffer.alloc(4),
    Buffer.from([2, 0]),
    Buffer.from(`${name}\0C:\\x\\${name}\0`),
    Buffer.from([0, 0, 3, 0]),
    temporary,
    Buffer.from("tmp\0"),
    length,
    content
  ])
  const file = CFB.utils.cfb_new()
  CFB.utils.cfb_add(file, "/\u0001Ole10Native", stream)
  return CFB.write(file, { type: "buffer" }) as Buffer
}

const unknown = (): Buffer => {
  const file = CFB.utils.cfb_new()
  CFB.utils.cfb_add(file, "/Equation Native", Buffer.from("x"))
  return CFB.write(file, { type: "buffer" }) as Buffer
}

/** A chart of Microsoft Graph: its datasheet and its titles. */
const graph = (): Buffer => {
  const record = (type: number, ...parts: ReadonlyArray<Buffer>): Buffer => {
    const body = Buffer.concat(parts)
    const head = Buffer.alloc(4)
    head.writeUInt16LE(type)
    head.writeUInt16LE(body.length, 2)
    return Buffer.concat([head, body])
  }
  const at = (row: number, column: number, format = 0): Buffer => Buffer.from([row, 0, column, 0, 0, format, 0])
  const double = (value: number): Buffer => {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(value)
    return bytes
  }
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length, 1]), Buffer.from(value, "utf16le")])
  const file = CFB.utils.cfb_new()
  CFB.utils.cfb_add(
    file,
    "/Workbook",
    Buffer.concat([
      record(0x0809, Buffer.from([0, 6, 5, 0])),
      record(0x0a),
      record(0x0809, Buffer.from([0, 6, 0, 0x80])),
      record(0x03, at(2, 3), double(20.4)),
      record(0x04, at(0, 3), Buffer.from([7, 0]), Buffer.from("1st Qtr")),
      record(0x04, at(2, 0), text("Łódź")),
      record(0x03, at(3, 3, 9), double(0.25)),
      record(0x100d, Buffer.alloc(2), text("Łódź")),
      record(0x100d, Buffer.alloc(2), text("Ferries by quarter")),
      record(0x0a)
    ])
  )
  return CFB.write(file, { type: "buffer" }) as Buffer
}

describe("what a document holds", () => {
  it("in charts of Microsoft Graph: the figures and titles", async () => {
    const { remarks, shown } = await parsed("a.docx", wordFile(para("Body"), [], { "word/embeddings/oleObject1.bin": graph() }))
    expect(shown).toEqual([
      "paragraph: Body",
      "heading 2: oleObject1.bin",
      "paragraph: Ferries by quarter",
      "table:  | 1st Qtr\nŁódź | 20.4\n | 25%"
    ])
    expect(remarks).toBe(undefined)
  })

  it("in Office Open XML: files and packaged ones are sections; what cannot be read is named; a chart's workbook is its chart's", async () => {
    const { remarks, shown } = await parsed(
      "a.docx",
      wordFile(para("Body"), [], {
        "word/embeddings/inner.docx": wordFile(para("Inner body")),
        "word/embeddings/oleObject1.bin": packaged("notes.txt", "Packaged notes"),
        "word/embeddings/oleObject2.bin": unknown(),
        "word/embeddings/oleObject3.bin": packaged("more.zip", zipOf({ "in.md": "x" })),
        "word/embeddings/chart.csv": "never,shown",
        "word/charts/_rels/chart1.xml.rels": relsXml([["r1", "package", "../embeddings/chart.csv"]])
      })
    )
    expect(shown).toEqual([
      "paragraph: Body",
      "heading 2: inner.docx",
      "paragraph: Inner body",
      "heading 2: notes.txt",
      "paragraph: Packaged notes",
      "paragraph: Attachment: more.zip"
    ])
    // Nothing opens an archive that stands in a document.
    expect(remarks).toEqual([
      { kind: "attachment", text: "oleObject2.bin (an object of another program)" },
      { kind: "attachment", text: "more.zip (ZIP archive)" }
    ])
  })

  it("in Word: pages and other texts that stand among its paragraphs", async () => {
    const file = wordFile(`${para("Body")}<w:altChunk r:id="c1"/><w:altChunk r:id="c2"/>`, [
      ["c1", "aFChunk", "page.html"],
      ["c2", "aFChunk", "page.mht"]
    ], {
      "word/page.html": "<html><body><h1>Inner page</h1></body></html>",
      "word/page.mht":
        "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n--x\nContent-Type: text/html\n\n<p>Saved page</p>\n--x--\n"
    })
    expect((await parsed("a.docx", file)).shown).toEqual([
      "paragraph: Body",
      "heading 2: page.html",
      "heading 3: Inner page",
      "heading 2: page.mht",
      "paragraph: Saved page"
    ])
  })

  it("in OpenDocument: tables, formulas as typed, objects of other programs", async () => {
    const namespaces =
      `xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"`
    const content = (body: string): string =>
      `<?xml version="1.0"?><office:document-content ${namespaces}><office:body>${body}</office:body></office:document-content>`
    const { remarks, shown } = await parsed(
      "a.odt",
      zipOf({
        mimetype: "application/vnd.oasis.opendocument.text",
        "content.xml": content("<office:text><text:p>Body</text:p></office:text>"),
        "Object 1/content.xml": content(
          `<office:spreadsheet><table:table table:name="Sums"><table:table-row><table:table-cell><text:p>Total</text:p></table:table-cell><table:table-cell><text:p>7</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`
        ),
        "Object 2/content.xml":
          `<?xml version="1.0"?><math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><mi>a</mi></mrow><annotation encoding="StarMath 5.0">a over b</annotation></semantics></math>`,
        "Object 3": unknown(),
        "Obj0013F7E1/content.xml": content("<office:text><text:p>Of another program</text:p></office:text>")
      })
    )
    expect(shown).toEqual([
      "paragraph: Body",
      "heading 2: Object 1",
      "heading 3: Sums",
      "table: Total | 7",
      "paragraph: a over b",
      "heading 2: Obj0013F7E1",
      "paragraph: Of another program"
    ])
    expect(remarks).toEqual([{ kind: "attachment", text: "Object 3 (an object of another program)" }])
  })

  it("in pictures is recognised where that is on; otherwise they are named, and alone they wait", async () => {
    const picture = await pictureOf("The heron stood still")
    const file = wordFile(para("Body"), [], { "word/media/image1.png": picture, "word/media/bullet.png": "tiny" })
    expect((await parsed("a.docx", file)).remarks).toEqual([{ kind: "pictures", text: "2 pictures", count: 2 }])
    const { remarks, shown } = await parsed("a.docx", file, { recognise: ["eng"] })
    expect(shown).toEqual(["paragraph: Body", "paragraph: The heron stood still"])
    expect(remarks).toMatchObject([{ kind: "recognisedPages" }])
    expect(await refusal("a.docx", wordFile("", [], { "word/media/image1.png": picture }))).toMatchObject({ problem: "pictures" })
    const book =
      `<?xml version="1.0"?><FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><body><section><p>Story</p></section></body><binary id="cover.png" content-type="image/png">${
        Buffer.from(picture).toString("base64")
      }</binary></FictionBook>`
    expect((await parsed("a.fb2", book)).remarks).toEqual([{ kind: "pictures", text: "a picture", count: 1 }])
    expect((await parsed("a.fb2", book, { recognise: ["eng"] })).shown).toEqual(["paragraph: Story", "paragraph: The heron stood still"])
  })
  it("is counted for a plan, not recognised", async () => {
    const picture = await pictureOf("Never read")
    const counted = async (name: string, content: Uint8Array, recognise: ReadonlyArray<string>) => {
      const { chunks, waits } = await prepareFile({ name, content, chunking: defaultChunking, counts: true }, {
        ...defaultLimits,
        recognise
      })
      return [chunks.length, waits]
    }
    const file = wordFile(para("Body"), [], { "word/media/image1.png": picture })
    expect(await counted("a.png", picture, ["eng"])).toEqual([0, 1])
    expect(await counted("a.docx", file, ["eng"])).toEqual([1, 1])
    expect(await counted("a.docx", wordFile("", [], { "word/media/1.png": picture, "word/media/2.png": picture }), ["eng"])).toEqual([0, 2])
    // Nothing waits for what is off.
    expect(await counted("a.docx", file, [])).toEqual([1, undefined])
    await expect(counted("a.png", picture, [])).rejects.toMatchObject({ problem: "pictures" })
  })
})
