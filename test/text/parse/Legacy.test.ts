import { CFB, utils, write } from "@e965/xlsx"
import template from "@e965/xlsx/dist/xlsx.zahl.mjs"
import { describe, expect, it } from "vitest"
import { parsed, refusal } from "./support/Parsed.ts"

const compound = (streams: Readonly<Record<string, Uint8Array>>): Uint8Array => {
  const file = CFB.utils.cfb_new()
  for (const [name, content] of Object.entries(streams)) CFB.utils.cfb_add(file, `/${name}`, Buffer.from(content))
  // Asked for as a buffer.
  return CFB.write(file, { type: "buffer" }) as Buffer
}

describe("workbooks in binary formats", () => {
  it.each([["biff8", "xls"], ["biff5", "xls"], ["xlsb", "xlsb"]] as const)("%s", async (bookType, extension) => {
    const book = utils.book_new()
    utils.book_append_sheet(book, utils.aoa_to_sheet([["Item", "Price"], ["Cheese", 2.5], ["Bread", 1]]), "Prices")
    utils.book_append_sheet(book, utils.aoa_to_sheet([["secret otter"]]), "Old")
    book.Workbook = { Sheets: [{ Hidden: 0 }, { Hidden: 1 }] }
    const { blocks, pages, remarks, shown } = await parsed(`a.${extension}`, write(book, { type: "buffer", bookType }) as Buffer) // asked for as a buffer
    expect(shown.filter((line) => !line.startsWith("pageBreak"))).toEqual([
      "heading 1: Prices",
      "table: Item | Price\nCheese | 2.5\nBread | 1",
      "heading 1: Old (hidden)",
      "paragraph: secret otter"
    ])
    expect(pages).toBe(2)
    expect(blocks.at(-1)?.page).toBe(2)
    expect(remarks).toEqual([{ kind: "hidden", text: "sheet Old", pages: [2] }])
  })
})

describe("workbooks of Numbers", () => {
  it("are sheets under their names", async () => {
    const book = utils.book_new()
    utils.book_append_sheet(book, utils.aoa_to_sheet([["Item", "Price"], ["Cheese", 2.5], ["Bread", 1]]), "Prices")
    const file = write(book, { type: "buffer", bookType: "numbers", numbers: String(template) }) as Buffer // asked for as a buffer
    expect((await parsed("a.numbers", file)).shown).toEqual(["heading 1: Prices", "table: Item | Price\nCheese | 2.5\nBread | 1"])
  })
})

describe("documents of Word", () => {
  /** As Word 95 has it: a head, and the text in one run. */
  const word95 = (text: string, flags = 0): Uint8Array => {
    const body = Buffer.from(text, "latin1")
    const head = Buffer.alloc(128)
    head.writeUInt16LE(0xa5dc, 0)
    head.writeUInt16LE(104, 2)
    head.writeUInt16LE(flags, 10)
    head.writeUInt32LE(128, 24)
    head.writeUInt32LE(128 + body.length, 28)
    return compound({ WordDocument: Buffer.concat([head, body, Buffer.alloc(4_096)]) })
  }

  it("of before 1997 are read", async () => {
    const text = "Minutes of the caf\xe9\rItem\x07Price\x07\x07Tea\x072\x07\x07See \x13 HYPERLINK x \x14the list\x15.\r"
    expect((await parsed("a.doc", word95(text))).shown).toEqual([
      "paragraph: Minutes of the café",
      "table: Item | Price\nTea | 2",
      "paragraph: See the list."
    ])
  })

  it("that are encrypted say so", async () => {
    expect(await refusal("a.doc", word95("x", 0x100))).toMatchObject({ problem: "encrypted" })
  })
})

describe("presentations of PowerPoint 97", () => {
  const record = (type: number, content: Uint8Array | ReadonlyArray<Uint8Array>, instance = 0): Buffer => {
    const container = !(content instanceof Uint8Array)
    const body = content instanceof Uint8Array ? content : Buffer.concat([...content])
    const head = Buffer.alloc(8)
    head.writeUInt16LE((instance << 4) | (container ? 0xf : 0), 0)
    head.writeUInt16LE(type, 2)
    head.writeUInt32LE(body.length, 4)
    return Buffer.concat([head, body])
  }
  const numbers = (...values: ReadonlyArray<number>): Buffer => {
    const body = Buffer.alloc(values.length * 4)
    values.forEach((value, i) => body.writeUInt32LE(value, i * 4))
    return body
  }
  const text = (
    type: number,
    words: string
  ): ReadonlyArray<Buffer> => [record(3999, numbers(type)), record(4000, Buffer.from(words, "utf16le"))]

  const presentation = (): Uint8Array => {
    const info = Buffer.alloc(16)
    info.writeUInt16LE(4, 10)
    const slide = record(1006, [
      record(1007, numbers(0, 0, 0, 0, 77)),
      record(61453, [record(3998, numbers(0))]),
      record(61453, text(4, "A text box\rin two lines\r*")),
      record(1017, info)
    ])
    const notes = record(1008, [record(61453, text(2, "Say this slowly"))])
    const document = record(1000, [
      record(4080, [record(1011, numbers(2, 0, 0, 256, 0)), ...text(0, "Title of the talk"), ...text(1, "First point\rSecond point")], 0),
      record(4080, [record(1011, numbers(3, 0, 0, 77, 0))], 2)
    ])
    const parts = [Buffer.alloc(8), document, slide, notes]
    const at = (i: number): number => parts.slice(0, i).reduce((sum, part) => sum + part.length, 0)
    const directory = record(6002, numbers(1 | (3 << 20), at(1), at(2), at(3)))
    const edit = record(4085, numbers(256, 0, 0, at(4), 1, 4, 0))
    const stream = Buffer.concat([...parts, directory, edit, Buffer.alloc(4_096)])
    const user = record(4086, Buffer.concat([numbers(20, 0xe391c05f, at(4) + directory.length), Buffer.alloc(4_096)]))
    return compound({ "PowerPoint Document": stream, "Current User": user })
  }

  it("are slides with title, texts, and notes; hidden ones are marked", async () => {
    const { pages, remarks, shown, title } = await parsed("a.ppt", presentation())
    expect(shown).toEqual([
      "heading 1: Title of the talk",
      "paragraph: A text box",
      "paragraph: in two lines",
      "paragraph: First point",
      "paragraph: Second point",
      "paragraph: Say this slowly"
    ])
    expect({ pages, title, remarks }).toEqual({
      pages: 1,
      title: "Title of the talk",
      remarks: [{ kind: "hidden", text: "slide 1", pages: [1] }]
    })
  })
})

describe("messages of Outlook", () => {
  it("have a subject, who and when, and a text", async () => {
    const wide = (text: string): Buffer => Buffer.from(text, "utf16le")
    const file = compound({
      "__properties_version1.0": Buffer.alloc(32),
      "__substg1.0_0037001F": wide("Leave in July"),
      "__substg1.0_0C1A001F": wide("Ada L."),
      "__substg1.0_1000001F": wide("I am away\r\nuntil Monday.\r\n\r\nAda")
    })
    expect(await parsed("a.msg", file)).toMatchObject({
      title: "Leave in July",
      author: "Ada L.",
      shown: ["heading 1: Leave in July", "paragraph: From: Ada L.", "paragraph: I am away\nuntil Monday.", "paragraph: Ada"]
    })
  })
})

describe("pages saved as one file", () => {
  it("are read as the page", async () => {
    const file = [
      "From: <Saved by a browser>",
      "Subject: Otters",
      "MIME-Version: 1.0",
      "Content-Type: multipart/related; boundary=x; type=\"text/html\"",
      "",
      "--x",
      "Content-Type: text/html; charset=utf-8",
      "",
      "<h1>Otters</h1><p>They swim.</p>",
      "--x",
      "Content-Type: image/png",
      "Content-Transfer-Encoding: base64",
      "",
      "AAAA",
      "--x--"
    ]
    expect((await parsed("a.mhtml", file.join("\r\n"))).shown).toEqual(["heading 1: Otters", "paragraph: They swim."])
  })
})
