import { deflateSync } from "node:zlib"
import { utils, write } from "@e965/xlsx"
import template from "@e965/xlsx/dist/xlsx.zahl.mjs"
import { describe, expect, it, vi } from "vitest"
import { drawingsOf } from "../../../src/text/parse/xls/Drawings.ts"
import { defaultLimits } from "../../../src/text/Prepared.ts"
import type { CellMessages } from "../../../src/text/parse/SheetRows.ts"
import { openZip } from "../../../src/text/parse/Zip.ts"
import { parsed, refusal } from "./support/Parsed.ts"
import { zipOf } from "./support/ZipWriter.ts"
import { compound, wordStreams } from "./support/WordWriter.ts"

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

  it("are read without a word on the console, whatever the library does not know in them", async () => {
    const book = utils.book_new()
    utils.book_append_sheet(book, utils.aoa_to_sheet([["Ann", 3]]), "Sheet1")
    const plain = write(book, { type: "buffer", bookType: "biff2" }) as Buffer // asked for as a buffer
    const record = (type: number, body: Buffer): Buffer => {
      const head = Buffer.alloc(4)
      head.writeUInt16LE(type)
      head.writeUInt16LE(body.length, 2)
      return Buffer.concat([head, body])
    }
    // A name for the range from "a!b" to A1, which is none, and a record of no type that there is.
    const formula = Buffer.from([0x17, 3, ...Buffer.from("a!b"), 0x44, 0, 0, 0, 0x11])
    const name = record(0x18, Buffer.concat([Buffer.from([0, 0, 0, 4, formula.length]), Buffer.from("both"), formula, Buffer.alloc(1)]))
    const begin = 4 + plain.readUInt16LE(2)
    const file = Buffer.concat([plain.subarray(0, begin), name, record(0x7777, Buffer.alloc(2)), plain.subarray(begin)])
    const said = vi.spyOn(console, "error").mockImplementation(() => {})
    try {
      expect((await parsed("a.xls", file)).shown).toEqual(["heading 1: Sheet1", "table: Ann | 3"])
      console.error("and after it there is a console again")
      expect(said.mock.calls).toEqual([["and after it there is a console again"]])
    } finally {
      said.mockRestore()
    }
  })
})

describe("whole numbers in binary workbooks", () => {
  it.each([["biff8", "xls"], ["xlsb", "xlsb"]] as const)("have all their digits: %s", async (bookType, extension) => {
    const sheet = utils.aoa_to_sheet([[4_006_381_333_931, 123_456_789_012, -123_456_789_012_345, { t: "n", v: 4e12, z: "0.00E+00" }]])
    const book = { SheetNames: ["S"], Sheets: { S: sheet } }
    const { shown } = await parsed(`a.${extension}`, write(book, { type: "buffer", bookType }) as Buffer) // asked for as a buffer
    expect(shown[1]).toBe("table: 4006381333931 | 123456789012 | -123456789012345 | 4.00E+12")
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

  it("of before 1997 in East Asian editions, with two bytes a character, are read whole", async () => {
    // „会議の記録は次の通りです。川を渡る船は朝に出ます。“ and „料金は二百円です。Tea“ in Shift JIS, the bytes of each character in reverse.
    const halves = [
      "ef89638bcc824c8b5e98cd829f8ecc82ca92e882c582b7824281ec90f0826e93e9824491cd82a992c9826f8fdc82b7824281",
      "bf97e08bcd82f19353957e89c582b78242815400650061000d00"
    ].map((hex) => Buffer.from(hex, "hex"))
    const stream = Buffer.alloc(8_192)
    stream.writeUInt16LE(104, 2)
    stream.writeUInt16LE(4, 10)
    stream.writeUInt32LE(2_000, 0x160)
    stream.writeUInt32LE(200, 0x164)
    stream[2_000] = 2
    stream.writeUInt32LE(28, 2_001)
    const [one, two] = halves.map(({ length }) => length / 2)
    stream.writeUInt32LE(one!, 2_009)
    stream.writeUInt32LE(one! + two!, 2_013)
    halves.forEach((half, at) => {
      stream.writeUInt32LE(3_000 + at * 1_000, 2_017 + at * 8 + 2)
      half.copy(stream, 3_000 + at * 1_000)
    })
    expect((await parsed("a.doc", compound({ WordDocument: stream }))).shown).toEqual([
      "paragraph: 会議の記録は次の通りです。川を渡る船は朝に出ます。料金は二百円です。Tea"
    ])
  })

  it("of before 1997 are read in their own charset, and in pieces", async () => {
    // „Компания предлагает вина со склада в Москве“ in windows-1251.
    const russian = Buffer.from("caeeecefe0ede8ff20eff0e5e4ebe0e3e0e5f220e2e8ede020f1ee20f1eaebe0e4e020e220cceef1eae2e5", "hex").toString(
      "latin1"
    )
    expect((await parsed("a.doc", word95(`${russian}\r`))).shown).toEqual(["paragraph: Компания предлагает вина со склада в Москве"])
    const stream = Buffer.alloc(8_192)
    stream.writeUInt16LE(104, 2)
    stream.writeUInt16LE(4, 10)
    stream.writeUInt32LE(2_000, 0x160)
    stream.writeUInt32LE(200, 0x164)
    stream.write("second half.\r", 3_000, "latin1")
    stream.write("The first and the ", 4_000, "latin1")
    stream[2_000] = 2
    stream.writeUInt32LE(28, 2_001)
    for (const [i, place] of [0, 18, 31].entries()) stream.writeUInt32LE(place, 2_005 + i * 4)
    stream.writeUInt32LE(4_000, 2_019)
    stream.writeUInt32LE(3_000, 2_027)
    expect((await parsed("a.doc", compound({ WordDocument: stream }))).shown).toEqual(["paragraph: The first and the second half."])
  })

  it("have headings, tables, fields and notes; what is deleted or hidden is left out, and nothing else", async () => {
    const cell = [[0x2416, 1]] as const
    const runs = [
      { text: "Rules\r", style: 1 },
      { text: "Spaced out ", look: [[0x8840, 20, 0], [0x4a60, 1, 0]] },
      { text: "gone", look: [[0x0800, 0x81]] },
      { text: "hidden", look: [[0x083c, 1]] },
      { text: "\x13 XE index \x15", look: [[0x083c, 1]] },
      { text: "and op\x1ftional, see \x13 HYPERLINK x \x14the \x13 PAGE \x142\x15\x15 or \x13MACROBUTTON NoMacro [Title]\x15.\r" },
      { text: "a\rb\x07\x07c\x07", paragraph: cell },
      { text: "\x07", paragraph: [...cell, [0x2417, 1]] },
      { text: "\x02 A note\r" }
    ] as const
    const file = compound(wordStreams(runs, { 0x50: 9 }))
    const { remarks, shown } = await parsed("a.doc", file)
    expect(remarks).toEqual([{ kind: "cut", text: "hidden text of 6 characters, left out" }])
    expect(shown).toEqual([
      "heading 1: Rules",
      "paragraph: Spaced out and optional, see the 2 or [Title].",
      "table: a b |  | c",
      "paragraph: A note"
    ])
    const { WordDocument, "1Table": table } = wordStreams(runs, { 0x50: 9 })
    expect((await parsed("a.doc", compound({ worddocument: WordDocument!, "1TABLE": table! }))).shown).toEqual(shown)
  })

  it("have the labels of their lists, by their own properties and by those of styles", async () => {
    /** A level of a list: its number's format, its text in which \0 to \b stand for numbers, and what it starts at. */
    const level = (format: number, text: string, start = 1): Buffer => {
      const head = Buffer.alloc(30)
      head.writeInt32LE(start, 0)
      head[4] = format
      head.writeUInt16LE(text.length, 28)
      return Buffer.concat([head, Buffer.from(text, "utf16le")])
    }
    const list = (id: number, simple: boolean): Buffer => {
      const bytes = Buffer.alloc(28)
      bytes.writeInt32LE(id, 0)
      bytes[26] = simple ? 1 : 0
      return bytes
    }
    const override = (id: number, count = 0): Buffer => {
      const bytes = Buffer.alloc(16)
      bytes.writeInt32LE(id, 0)
      bytes[12] = count
      return bytes
    }
    const numbers = (...values: ReadonlyArray<number>): Buffer => Buffer.from(Int32Array.from(values).buffer)
    /** A paragraph style of no name and these changes, based on another. */
    const style = (base: number, ...changes: ReadonlyArray<number>): Buffer => {
      const body = Buffer.from([
        0,
        0,
        base << 4 & 0xff | 1,
        base >> 4,
        1,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        changes.length + 2,
        0,
        0,
        0,
        ...changes
      ])
      return Buffer.concat([Buffer.from([body.length, 0]), body])
    }
    const styles = [style(0xfff), style(0xfff, 0x0b, 0x46, 1, 0), style(1, 0x0a, 0x26, 1)]
    const tables = {
      0xa2: { bytes: Buffer.concat([Buffer.from([4, 0, styles.length, 0, 10, 0]), ...styles]) },
      0x2e2: {
        bytes: Buffer.concat([Buffer.from([3, 0]), list(70, false), list(71, true), list(72, true)]),
        behind: Buffer.concat([
          level(0, "\0."),
          level(2, "\0.\u0001)"),
          ...Array.from({ length: 7 }, () => level(0, "")),
          level(23, "\uf0b7"),
          level(3, "Annex \0")
        ])
      },
      0x2ea: {
        // The fourth begins the third again, at 4.
        bytes: Buffer.concat([
          numbers(4),
          override(70),
          override(71),
          override(72),
          override(72, 1),
          numbers(-1, -1, -1, -1, 4, 0x10)
        ])
      }
    }
    const item = (id: number, level = 0) => [[0x460b, id, 0], [0x260a, level]] as const
    const runs = [
      { text: "Scope\r", style: 1 },
      { text: "Terms\r", style: 1 },
      { text: "First\r", style: 2 },
      { text: "Second\r", paragraph: item(1, 1) },
      { text: "Not numbered\r", style: 1, paragraph: [[0x460b, 0, 0]] },
      { text: "Milk\r", paragraph: item(2) },
      { text: "Plans\r", paragraph: item(3) },
      { text: "Later plans\r", paragraph: item(4) },
      { text: "a\x07b\x07", paragraph: [[0x2416, 1], ...item(1)] },
      { text: "\x07", paragraph: [[0x2416, 1], [0x2417, 1]] }
    ] as const
    expect((await parsed("a.doc", compound(wordStreams(runs, {}, tables)))).shown).toEqual([
      "heading 1: 1. Scope",
      "heading 1: 2. Terms",
      "heading 2: 2.i) First",
      "list:   2.ii) Second",
      "heading 1: Not numbered",
      "list: - Milk\nAnnex A Plans\nAnnex D Later plans",
      "table: 3. a | 4. b"
    ])
    // Cut off, it has its text all the same.
    const cut = { ...tables, 0x2ea: { bytes: tables[0x2ea].bytes.subarray(0, 20) } }
    expect((await parsed("a.doc", compound(wordStreams(runs, {}, cut)))).text).toContain("- Milk\n- Plans\n- Later plans")
  })

  it("that are encrypted say so", async () => {
    expect(await refusal("a.doc", word95("x", 0x100))).toMatchObject({ problem: "encrypted" })
  })
})

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

const presentation = (object?: Uint8Array): Uint8Array => {
  const info = Buffer.alloc(16)
  info.writeUInt16LE(4, 10)
  const slide = record(1006, [
    record(1007, numbers(0, 0, 0, 0, 77)),
    record(61453, [record(3998, numbers(0))]),
    record(61453, text(4, "A text box\rin two lines\r*")),
    record(1017, info),
    record(5000, [record(
      5003,
      record(12000, [
        record(4026, Buffer.from("Ann", "utf16le"), 0),
        record(4026, Buffer.from("Say more", "utf16le"), 1)
      ])
    )])
  ])
  const notes = record(1008, [record(61453, text(2, "Say this slowly"))])
  const document = record(1000, [
    record(4080, [record(1011, numbers(2, 0, 0, 256, 0)), ...text(0, "Title of the talk"), ...text(1, "First point\rSecond point")], 0),
    record(4080, [record(1011, numbers(3, 0, 0, 77, 0))], 2),
    record(4080, [record(1011, numbers(4, 0, 0, 99, 0))], 1),
    record(4057, [record(4026, Buffer.from("Confidential", "utf16le"), 2)])
  ])
  const master = record(1016, [record(61453, text(0, "Click to edit")), record(61453, text(4, "Acme Ltd"))])
  const packed = object === undefined ? Buffer.alloc(0) : Buffer.concat([numbers(object.length), deflateSync(object)])
  const parts = [Buffer.alloc(8), document, slide, notes, master, record(4113, packed, 1)]
  const at = (i: number): number => parts.slice(0, i).reduce((sum, part) => sum + part.length, 0)
  const directory = record(
    6002,
    numbers(1 | ((object === undefined ? 4 : 5) << 20), ...[1, 2, 3, 4, 5].slice(0, object === undefined ? 4 : 5).map(at))
  )
  const edit = record(4085, numbers(256, 0, 0, at(6), 1, 4, 0))
  const stream = Buffer.concat([...parts, directory, edit, Buffer.alloc(4_096)])
  const user = record(4086, Buffer.concat([numbers(20, 0xe391c05f, at(6) + directory.length), Buffer.alloc(4_096)]))
  return compound({ "PowerPoint Document": stream, "Current User": user })
}

describe("presentations of PowerPoint 97", () => {
  it("are slides with title, texts, and notes; hidden ones are marked", async () => {
    const { pages, remarks, shown, title } = await parsed("a.ppt", presentation())
    expect(shown).toEqual([
      "heading 1: Title of the talk",
      "paragraph: A text box",
      "paragraph: in two lines",
      "paragraph: First point",
      "paragraph: Second point",
      "paragraph: Comment by Ann: Say more",
      "paragraph: Confidential",
      "paragraph: Acme Ltd",
      "paragraph: Say this slowly"
    ])
    expect({ pages, title, remarks }).toEqual({
      pages: 1,
      title: "Title of the talk",
      remarks: [{ kind: "hidden", text: "slide 1", pages: [1] }]
    })
  })
})

describe("objects inside binary formats", () => {
  it("are sections of their own in documents and presentations; those of other programs are named", async () => {
    const inner = wordStreams([{ text: "Inner text\r" }])
    const object = (at: string): Record<string, Uint8Array> =>
      Object.fromEntries(Object.entries(inner).map(([name, content]) => [`${at}/${name}`, content]))
    const document = compound({
      ...wordStreams([{ text: "Outer text\r" }]),
      ...object("ObjectPool/_1"),
      "ObjectPool/_2/Equation Native": Buffer.alloc(5_000, 1)
    })
    const { remarks, shown } = await parsed("a.doc", document)
    expect(shown).toEqual(["paragraph: Outer text", "heading 2: object", "paragraph: Inner text"])
    expect(remarks).toEqual([{ kind: "attachment", text: "object (an object of another program)" }])
    expect((await parsed("a.ppt", presentation(compound(inner)))).shown.slice(-2)).toEqual(["heading 2: object", "paragraph: Inner text"])
  })

  it("are sections in RTF, packaged files too; its pictures are counted", async () => {
    const object = (name: string, content: Uint8Array): string => {
      const counted = (bytes: Uint8Array): Buffer => Buffer.concat([numbers(bytes.length), bytes])
      const data = Buffer.concat([numbers(0x501, 2), counted(Buffer.from(`${name}\0`)), numbers(0, 0), counted(content)])
      return `{\\object{\\*\\objclass ${name}}{\\*\\objdata ${
        data.toString("hex").replace(/.{64}/g, "$&\n")
      }}{\\result{\\pict\\wmetafile8 00}}}`
    }
    const file = Buffer.concat([
      Buffer.from([2, 0]),
      Buffer.from("note.txt\0C:\\note.txt\0"),
      numbers(0x30000, 4),
      Buffer.from("tmp\0"),
      numbers(11),
      Buffer.from("Packed note")
    ])
    const picture = "89504e470d0a1a0a" + "00".repeat(20)
    const { remarks, shown } = await parsed(
      "a.rtf",
      `{\\rtf1 Body\\par ${object("Word.Document.8", compound(wordStreams([{ text: "Inner text\r" }])))}${
        object("Package", file)
      }{\\*\\shppict{\\pict\\pngblip ${picture}}}{\\nonshppict{\\pict\\pngblip ${picture}}}}`
    )
    expect(shown).toEqual([
      "paragraph: Body",
      "heading 2: Word.Document.8",
      "paragraph: Inner text",
      "heading 2: note.txt",
      "paragraph: Packed note"
    ])
    expect(remarks).toEqual([{ kind: "pictures", text: "a picture", count: 1 }])
  })
})

const messagesIn = (messages: CellMessages | undefined): ReadonlyArray<string> => {
  const shown: Array<string> = []
  messages?.writeTo({ add: (_, text) => void shown.push(text), item: () => {} })
  return shown
}

describe("sheets of binary workbooks", () => {
  it("have messages of cells in XLSB, each sheet its own, in the order of the workbook", async () => {
    const book = utils.book_new()
    utils.book_append_sheet(book, utils.aoa_to_sheet([["one"]]), "One")
    utils.book_append_sheet(book, utils.aoa_to_sheet([["two"]]), "Two")
    const written = openZip(write(book, { type: "buffer", bookType: "xlsb" }) as Buffer, defaultLimits) // asked for as a buffer
    const parts = Object.fromEntries(written.names().map((name) => [name, Buffer.from(written.read(name) ?? [])]))
    const text = (content: string | undefined): Buffer =>
      content === undefined ? numbers(0xffff_ffff) : Buffer.concat([numbers(content.length), Buffer.from(content, "utf16le")])
    const validation = Buffer.concat([
      numbers((1 << 18) + (1 << 19), 1, 1, 4, 2, 2),
      ...["No", "Only metres", undefined, "In metres"].map(text)
    ])
    const record = Buffer.concat([Buffer.from([64, validation.length]), validation])
    const later = Buffer.from([0x9d, 0x08, 0])
    const sheet = "xl/worksheets/sheet2.bin"
    const { remarks, shown } = await parsed("a.xlsb", zipOf({ ...parts, [sheet]: Buffer.concat([parts[sheet]!, record, later]) }))
    expect(shown.filter((line) => !line.startsWith("pageBreak"))).toEqual([
      "heading 1: One",
      "paragraph: one",
      "heading 1: Two",
      "paragraph: two",
      "paragraph: Input message on C2:C5: In metres",
      "paragraph: Error message on C2:C5: No: Only metres"
    ])
    expect(remarks).toEqual([{ kind: "cut", text: "messages of 1 validations on sheet 2, which refer to other sheets" }])
  })

  it("have text boxes, titles of charts, a header and a footer beside their cells", () => {
    const record = (type: number, content: Uint8Array): Buffer => {
      const head = Buffer.alloc(4)
      head.writeUInt16LE(type, 0)
      head.writeUInt16LE(content.length, 2)
      return Buffer.concat([head, content])
    }
    const short = (...values: ReadonlyArray<number>): Buffer =>
      Buffer.concat(values.map((value) => Buffer.from([value & 0xff, value >> 8])))
    const begin = record(0x809, Buffer.concat([short(0x600, 0x10), Buffer.alloc(12)]))
    const end = record(0x0a, Buffer.alloc(0))
    const margin = (type: number, text: string): Buffer =>
      record(type, Buffer.concat([short(text.length), Buffer.from([0]), Buffer.from(text)]))
    const box = (kind: number, ...parts: ReadonlyArray<string>): ReadonlyArray<Buffer> => [
      record(0x5d, short(0x15, 0x12, kind)),
      record(0x1b6, Buffer.concat([Buffer.alloc(10), short(parts.join("").length, 0), Buffer.alloc(4)])),
      ...parts.map((part, i) => record(0x3c, Buffer.concat([Buffer.from([i]), Buffer.from(part, i === 0 ? "latin1" : "utf16le")]))),
      record(0x3c, Buffer.alloc(16))
    ]
    const inputAndError = (1 << 18) + (1 << 19)
    const wide = (content: string): Buffer => Buffer.concat([short(content.length), Buffer.from([1]), Buffer.from(content, "utf16le")])
    const sheet = Buffer.concat([
      begin,
      record(
        0x1be,
        Buffer.concat([
          numbers(inputAndError),
          ...["Größe", "\0", "Only whole metres", "That is no metre"].map(wide),
          short(3, 0),
          Buffer.from([0x17, 1, 0]),
          short(0, 0),
          short(2, 1, 4, 2, 2, 6, 9, 1, 1)
        ])
      ),
      margin(0x14, "&L&\"Arial,Bold\"&12Report && more&P"),
      margin(0x15, "&CPage"),
      ...box(6, "A text ", "in two parts"),
      ...box(0x19, "a comment, read with its cell"),
      begin,
      record(0x100d, Buffer.concat([short(0), Buffer.from([5, 0]), Buffer.from("Sales")])),
      end,
      end
    ])
    const globals = (place: number): Buffer =>
      Buffer.concat([
        begin,
        record(0x85, Buffer.concat([numbers(place), Buffer.alloc(4)])),
        record(0xeb, Buffer.from("drawn")),
        record(0x3c, Buffer.from(" on")),
        end
      ])
    const { pictures, sheets } = drawingsOf(Buffer.concat([globals(globals(0).length), sheet]))
    expect(sheets).toMatchObject([{ texts: ["A text in two parts", "Sales"], header: "Report & more", footer: "Page" }])
    expect(messagesIn(sheets[0]?.messages)).toEqual([
      "Input message on C2:C5, B7:B10: Größe: Only whole metres",
      "Error message on C2:C5, B7:B10: That is no metre"
    ])
    expect(pictures.toString()).toBe("drawn on")
    expect(drawingsOf(Buffer.concat([begin, record(0x2f, Buffer.alloc(6)), globals(0)])).sheets).toEqual([])
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

describe("messages of Outlook in HTML", () => {
  it.each([[932, "938c8b9e", "東京"], [950, "bb4fa55f", "臺北"], [28592, "a3f364bc", "Łódź"], [1251, "cceef1eae2e0", "Москва"]])(
    "are read in their code page: %i",
    async (codePage, word, read) => {
      const properties = Buffer.alloc(48)
      properties.writeUInt32LE(0x3fde0003, 32)
      properties.writeUInt32LE(codePage, 40)
      const html = Buffer.concat([Buffer.from("<p>"), Buffer.from(word, "hex"), Buffer.from("</p>")])
      const file = compound({ "__properties_version1.0": properties, "__substg1.0_10130102": html })
      expect((await parsed("a.msg", file)).shown.at(-1)).toBe(`paragraph: ${read}`)
    }
  )
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
