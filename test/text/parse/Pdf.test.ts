import { describe, expect, it } from "vitest"
import { parsed, refusal } from "./support/Parsed.ts"
import { writePdf } from "./support/PdfWriter.ts"

const body = (word: string): ReadonlyArray<string> => [
  `The ${word} crossed the river before dawn, and nobody saw it go.`,
  `In the morning the ${word} was on the other side, dry and content.`
]

describe("PDF", () => {
  it("gives its text by page, with headings, title and author", async () => {
    const file = writePdf([["# River crossings", ...body("otter")], body("heron")], { title: "Crossings \\(2\\)", author: "A. Lee" })
    const document = await parsed("a.pdf", file)
    expect(document).toMatchObject({ format: "pdf", pages: 2, title: "Crossings (2)", author: "A. Lee" })
    expect(document.shown[0]).toMatch(/^heading \d: River crossings$/)
    const pageOf = (word: string) => document.blocks.find((block) => document.text.slice(block.start, block.end).includes(word))?.page
    expect([pageOf("otter"), pageOf("heron")]).toEqual([1, 2])
    expect(document.blocks.filter((block) => block.kind === "pageBreak")).toHaveLength(1)
  })

  it("in a script from right to left is read in the order of its words", async () => {
    const words = ["שלום", "עולם", "גדול"]
    // A page holds such a line as it looks: the first letter on the right.
    const drawn = Array.from(
      words.join(" ").replace(/[\u05d0-\u05ea]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - 0x05d0 + 0x41))
    ).reverse().join("")
    const document = await parsed("a.pdf", writePdf([[drawn], ["A"]], { alphabet: 0x05d0, title: "T" }))
    expect(document).toMatchObject({ pages: 2, title: "T", shown: [`paragraph: ${words.join(" ")}`, "pageBreak: ", "paragraph: א"] })
    expect(document.blocks.map((block) => block.page)).toEqual([1, 2, 2])
  })

  it("is read behind junk, and under another name", async () => {
    const file = Buffer.concat([Buffer.from("\u0000\u0001junk\n"), writePdf([body("otter")])])
    expect((await parsed("a.bin", file)).text).toContain("crossed the river")
  })

  it("says why it cannot be read", async () => {
    expect(await refusal("a.pdf", writePdf([[]]))).toMatchObject({
      problem: "empty",
      message: expect.stringContaining("blank or drawings")
    })
    expect(await refusal("a.pdf", writePdf([body("otter")], { encrypted: true }))).toMatchObject({ problem: "encrypted" })
    expect(await refusal("a.pdf", Buffer.from("%PDF-1.7\nnothing of the kind"))).toMatchObject({ problem: "corrupt" })
    expect(await refusal("a.pdf", "No PDF at all")).toMatchObject({ problem: "corrupt" })
  })

  it("has no more pages than the limit", async () => {
    const file = writePdf([body("otter"), body("heron"), body("crane")])
    expect(await refusal("a.pdf", file, { pages: 2 })).toEqual({ problem: "limit", message: "3 pages, more than 2" })
    expect((await parsed("a.pdf", file, { pages: 3 })).pages).toBe(3)
  })

  it("of more than a thousand pages is read to its end", async () => {
    const document = await parsed("a.pdf", writePdf(Array.from({ length: 1_030 }, (_, i) => [`Record ${i + 1} of the register`])))
    expect(document.pages).toBe(1_030)
    expect(document.text.match(/Record \d+/g)).toHaveLength(1_030)
  })

  it("keeps every number at the edges of its pages, and says which recurring lines it left out", async () => {
    const pages = Array.from({ length: 6 }, (_, i) => [`^ Statement ${1000 + i}`, ...body(`animal${i}`), "_ Confidential"])
    const document = await parsed("a.pdf", writePdf(pages))
    expect(document.text.match(/Statement \d+/g)).toHaveLength(6)
    expect(document.text.match(/Confidential/g)).toHaveLength(1)
    expect(document.remarks).toEqual([{ kind: "runningLine", text: "Confidential", pages: [2, 3, 4, 5, 6] }])
  })

  it("names the pages without text", async () => {
    expect((await parsed("a.pdf", writePdf([body("otter"), [], body("heron"), []]))).remarks).toEqual([{
      kind: "blankPages",
      pages: [2, 4]
    }])
  })

  it("is read whole where its pages are turned", async () => {
    for (const rotate of [90, 180, 270]) {
      expect((await parsed("a.pdf", writePdf([body("otter")], { rotate }))).text.split(/\s+/).sort()).toEqual(
        body("otter").join(" ").split(" ").sort()
      )
    }
  })

  it("keeps characters beyond the basic plane", async () => {
    expect((await parsed("a.pdf", writePdf([["ABC"]], { alphabet: 0x1d434 }))).text).toBe("\u{1d434}\u{1d435}\u{1d436}")
  })

  it("keeps what annotations say", async () => {
    const annotations = ["<< /Type /Annot /Subtype /FreeText /Rect [100 100 300 150] /DA (/F1 12 Tf) /Contents (Approved by the bursar) >>"]
    expect((await parsed("a.pdf", writePdf([body("otter")], { annotations }))).text).toMatch(/Approved by the bursar$/)
  })

  it("tells compounds from words that a line end cuts", async () => {
    const lines = [
      "We train a dual-",
      "encoder and an informa-",
      "tion model. The information of",
      "a dual encoder is well-",
      "known; the well-known one",
      "is not retri-",
      "eved."
    ]
    const { text } = await parsed("a.pdf", writePdf([lines]))
    expect(text.replace(/\s+/g, " ")).toContain(
      "dual-encoder and an information model. The information of a dual encoder is well-known; the well-known one is not retrieved."
    )
  })
})
