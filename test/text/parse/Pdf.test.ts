import { deflateSync } from "node:zlib"
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

  it("leaves out numbers of pages, and titles at their edges after the first time, which head nothing", async () => {
    const otters = "Chapter 1: Otters and the rivers that they cross early in the spring"
    const herons = "Chapter 2: Herons and the lakes that they visit late in the autumn"
    const pages = Array.from({ length: 11 }, (_, i) => [
      i < 3 ? "^ Contents" : i % 2 === 0 ? `^ ${i - 2} ${i < 7 ? otters : herons}` : `^ ${i < 7 ? otters : herons} ${i - 2}`,
      ...body(`animal${i}`),
      i < 3 ? `_ ${"i".repeat(i + 1)}` : `_ Page ${i - 2} of 8`
    ])
    const document = await parsed("a.pdf", writePdf(pages))
    expect(document.blocks.filter(({ kind }) => kind === "heading")).toEqual([])
    expect(document.text.match(/Contents|Chapter \d|^i+$|Page \d.*/gm)).toEqual(["Contents", "Chapter 1", "Chapter 2"])
    expect(document.text.match(/animal\d/g)).toEqual(pages.flatMap((_, i) => body("").map(() => `animal${String(i)[0]}`)))
    expect(document.remarks).toEqual([
      { kind: "runningLine", text: "page numbers", pages: pages.map((_, i) => i + 1) },
      { kind: "runningLine", text: "Contents", pages: [2, 3] },
      { kind: "runningLine", text: otters, pages: [5, 6, 7] },
      { kind: "runningLine", text: herons, pages: [9, 10, 11] }
    ])
  })

  it("keeps what is counted at the edges of pages but is no number of theirs", async () => {
    const pages = Array.from({ length: 6 }, (_, i) => [`^ Question ${i + 1}`, ...body(`animal${i}`), `_ ${(i * i * 7) % 5} points`])
    const document = await parsed("a.pdf", writePdf(pages))
    expect(document.text.match(/Question \d/g)).toEqual(pages.map((_, i) => `Question ${i + 1}`))
    expect(document.text.match(/\d points/g)).toHaveLength(6)
    expect((await parsed("a.pdf", writePdf(pages.map((_, i) => [`_ ${i + 1}`])))).text.match(/\d/g)).toHaveLength(6)
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

  it.each([
    ["to its right side", (line: number) => `0 -1 1 0 ${500 - line * 16} 700`],
    ["on its head", (line: number) => `-1 0 0 -1 560 ${100 + line * 16}`],
    ["to its left side", (line: number) => `0 1 -1 0 ${100 + line * 16} 60`]
  ])("is read from its first line on where its text stands turned %s, in whatever order that is written", async (_, place) => {
    const lines = [...body("otter"), ...body("heron"), ...body("crane")]
    const drawn = lines.map((line, at) => `% BT /F1 10 Tf ${place(at)} Tm (${line}) Tj ET`)
    for (const page of [drawn, drawn.toReversed()]) {
      expect((await parsed("a.pdf", writePdf([page]))).text.split("\n")).toEqual(lines)
    }
  })

  it("reads columns on their side one after the other", async () => {
    const columns = [body("otter"), body("heron")].map((lines) => lines.flatMap((line) => [line.slice(0, 30), line.slice(30, 60).trim()]))
    const drawn = columns.flatMap((lines, column) =>
      lines.map((line, at) => `% BT /F1 10 Tf 0 1 -1 0 ${100 + at * 14} ${60 + column * 300} Tm (${line}) Tj ET`)
    )
    expect((await parsed("a.pdf", writePdf([drawn]))).text.split("\n")).toEqual(columns.flat())
  })

  /** A line whose letters stand apart: by so many thousandths of their size after each, or after those that `where` names. */
  const apart = (line: string, at: number, by: number, where: (place: number) => boolean = () => true): string =>
    `% BT /F1 11 Tf 40 ${700 - at * 20} Td [${
      Array.from(line, (letter, place) => `(${letter})${where(place) && letter !== " " ? -by : 0}`).join(" ")
    }] TJ ET`

  it.each([
    ["evenly", 150, () => true],
    ["widely", 300, () => true],
    ["here and there", 200, (place: number) => place * 7 % 5 < 2]
  ])("puts words together whose letters stand apart %s", async (_, by, where) => {
    const lines = [...body("otter"), ...body("heron")]
    const { text } = await parsed("a.pdf", writePdf([lines.map((line, at) => apart(line, at, by, where))]))
    expect(text.replace(/\s+/g, " ")).toBe(lines.join(" "))
  })

  it("tells letters that stand apart from words by the gaps where no blanks are written", async () => {
    const lines = body("otter")
    const drawn = lines.map((line, at) =>
      `% BT /F1 11 Tf 40 ${700 - at * 20} Td [${
        line.split(" ").map((word) => Array.from(word, (letter) => `(${letter})`).join("-200")).join("-700")
      }] TJ ET`
    )
    expect((await parsed("a.pdf", writePdf([drawn]))).text.replace(/\s+/g, " ")).toBe(lines.join(" "))
  })

  it("puts a title together that is set apart above text that is not, and leaves single letters and short words alone", async () => {
    const title = "% BT /F1 18 Tf 6 Tc 40 760 Td (ANNUAL REPORT) Tj ET 0 Tc"
    const short = "% BT /F1 11 Tf 40 600 Td [(if)-300(a)-300(is)-300(b)-300(or)-300(it)-300(is)-300(c)] TJ ET"
    const { text } = await parsed("a.pdf", writePdf([[title, ...body("otter"), short]]))
    expect(text).toContain("ANNUAL REPORT")
    expect(text.replace(/\s+/g, " ")).toContain("if a is b or it is c")
  })

  it("leaves out pages whose characters make no language, and says so", async () => {
    const garbled = writePdf([Array.from({ length: 4 }, () => "THE OTTER CROSSED THE RIVER BEFORE DAWN")], { alphabet: 0xc9d0 })
    expect(await refusal("a.pdf", garbled)).toMatchObject({ problem: "charset", message: expect.stringContaining("text recognition") })
    // Glyphs counted from the blank on, as fonts without a map have them.
    const counted = (line: string) =>
      Array.from(line.replaceAll(" ", "="), (letter) => String.fromCharCode(letter.charCodeAt(0) - 29)).join("")
    const both = await parsed("a.pdf", writePdf([body("otter"), [...body("heron"), ...body("crane")].map(counted)]))
    expect(both.text).toContain("otter")
    expect(both.remarks).toEqual([{ kind: "garbledPages", pages: [2] }])
  })

  it("leaves out glyphs of which no font says what they are, and says so; pages of such alone are named", async () => {
    const line = (text: string, at: number) =>
      `% BT /F2 11 Tf 72 ${300 - at * 20} Td <${
        Array.from(text, (letter) => (letter.charCodeAt(0) - 29).toString(16).padStart(4, "0")).join("")
      }> Tj ET`
    const glyphs = [...body("heron"), ...body("crane")].map(line)
    const { remarks, text } = await parsed("a.pdf", writePdf([[...body("otter"), ...glyphs], body("tern"), glyphs], { glyphs: true }))
    expect(text.replace(/\s+/g, " ").trim()).toBe([...body("otter"), ...body("tern")].join(" "))
    const count = [...body("heron"), ...body("crane")].join("").length
    expect(remarks).toEqual([
      { kind: "garbledPages", pages: [3] },
      { kind: "cut", text: `${count} characters left out on page 1: their fonts do not say which they are` }
    ])
  })

  it("takes no index of codes for such a page, whose words the pages before it have", async () => {
    const codes = Array.from({ length: 60 }, (_, i) => `CYRQX${String.fromCharCode(65 + i % 26)}${"ZVXKQ"[i % 5]}${"JWYKZ"[i % 4]}`)
    const pages = [0, 20, 40].map((at) => [...body("otter"), ...codes.slice(at, at + 20).map((code) => `the code ${code} is here`)])
    const alone = await parsed("a.pdf", writePdf([body("otter"), codes]))
    expect(alone.remarks).toEqual([{ kind: "garbledPages", pages: [2] }])
    const { remarks, text } = await parsed("a.pdf", writePdf([...pages, codes]))
    expect(remarks ?? []).toEqual([])
    expect(text.split(codes[7]!)).toHaveLength(3)
  })

  it("takes no page of figures and names for one whose characters make no language", async () => {
    const rows = Array.from({ length: 40 }, (_, row) => Array.from({ length: 10 }, (_, column) => 100 + row * 10 + column).join(" "))
    for (const name of ["mark", "MARK"]) {
      const { remarks, text } = await parsed("a.pdf", writePdf([rows.slice(0, 20).map((row) => `${name} ${row}`), rows.slice(20)]))
      expect(remarks).toBe(undefined)
      expect(text.match(/\d{3}/g)).toHaveLength(400)
    }
  })

  it("takes no form or sample whose few words stand there many times for one either", async () => {
    const { remarks, text } = await parsed(
      "a.pdf",
      writePdf([Array.from({ length: 24 }, () => "xxx line xxx zzz line xxx line xxx qqq line")])
    )
    expect(remarks).toBe(undefined)
    expect(text.match(/line/g)).toHaveLength(96)
  })

  it("is read with its headings where its outline leads back to itself, anywhere in it", async () => {
    const page = ["# River crossings", ...body("otter")]
    for (const outline of ["/Next $ 0 R", "/First $ 0 R /Last $ 0 R /Count 1", "/Next @ 0 R"]) {
      const { remarks, shown } = await parsed("a.pdf", writePdf([page], { outline }))
      expect(shown[0]).toMatch(/^heading \d: River crossings$/)
      expect(remarks).toBe(undefined)
    }
  })

  it("reads characters that a font's map gives in UTF-8", async () => {
    const text = "Все люди рождаются свободными и равными в своем достоинстве и правах"
    const letters = [...new Set(text.replaceAll(" ", ""))]
    const map = Object.fromEntries(letters.map((letter, at) => [String.fromCharCode(0x41 + at), Buffer.from(letter).toString("hex")]))
    const drawn = Array.from(text, (letter) => letter === " " ? " " : String.fromCharCode(0x41 + letters.indexOf(letter))).join("")
    expect((await parsed("a.pdf", writePdf([[drawn]], { map }))).text).toBe(text)
  })

  it("tells pictures from drawings and from blank pages", async () => {
    const form = (content: string) =>
      `<< /Type /XObject /Subtype /Form /BBox [0 0 612 792] /Length ${content.length} >>\nstream\n${content}\nendstream`
    const picture =
      "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>\nstream\nA\nendstream"
    const lines = "0 0 m 300 300 l S"
    const remarks = async (pages: ReadonlyArray<ReadonlyArray<string>>, xObject: string) =>
      (await parsed("a.pdf", writePdf([body("otter"), ...pages], { xObject }))).remarks
    expect(await remarks([["% /X0 Do"], [`% ${lines}`], []], form(lines))).toEqual([
      { kind: "drawingPages", pages: [2, 3] },
      { kind: "blankPages", pages: [4] }
    ])
    // A dot is no picture that could say something.
    expect(await remarks([["% q 600 0 0 700 0 0 cm /X0 Do Q"], ["% q 2 0 0 2 0 0 cm /X0 Do Q"]], picture)).toEqual([
      { kind: "picturePages", pages: [2] },
      { kind: "blankPages", pages: [3] }
    ])
  })

  it("reads text in layers that are off, and says so", async () => {
    const layer = (name: string, line: string, at: number) => `% /OC /${name} BDC BT /F1 11 Tf 72 ${400 - at * 30} Td (${line}) Tj ET EMC`
    const drawn = [...body("otter"), layer("OC0", "Only for the printer", 0), layer("OC1", "Shown to all", 1)]
    const pages = [drawn, body("heron"), drawn]
    const { remarks, text } = await parsed("a.pdf", writePdf(pages, { layers: { "Notes \\(old\\)": false, Map: true, Unused: false } }))
    expect(text).toContain("Only for the printer")
    expect(remarks).toEqual([{ kind: "hidden", text: "layer Notes (old) on pages 1, 3", pages: [1, 3] }])
    const whole = await parsed(
      "a.pdf",
      writePdf([[...body("otter"), "% /X0 Do"]], {
        layers: { Draft: false },
        // The first layer is the first object after the font's and this one.
        xObject: "<< /Type /XObject /Subtype /Form /OC 5 0 R /BBox [0 0 612 792] /Length 9 >>\nstream\n0 0 m f Q\nendstream"
      })
    )
    expect(whole.remarks).toEqual([{ kind: "hidden", text: "layer Draft" }])
    expect((await parsed("a.pdf", writePdf(pages, { layers: { One: true, Two: true } }))).remarks).toBe(undefined)
  })

  it("tells pages whose content cannot be read from blank ones", async () => {
    const pages = [body("otter"), body("heron"), [], ["% q Q"], body("crane")]
    const packed = (content: string) => deflateSync(content).toString("latin1")
    const read = async (damaged: Readonly<Record<number, string>>) => (await parsed("a.pdf", writePdf(pages, { damaged }))).remarks
    expect(await read({ 1: "no deflated content at all" })).toEqual([
      { kind: "failedPages", pages: [2] },
      { kind: "blankPages", pages: [3, 4] }
    ])
    expect(await read({ 1: packed("q Q"), 3: packed("") })).toEqual([{ kind: "blankPages", pages: [2, 3, 4] }])
    const alone = writePdf([body("otter")], { damaged: { 0: "no deflated content at all" } })
    expect(await refusal("a.pdf", alone)).toEqual({ problem: "corrupt", message: "only 0 of 1 pages can be read" })
  })

  it("puts accents on the letters that they are drawn above, and leaves those beside letters alone", async () => {
    // The accent, then its letter below, as TeX has them; the letter, then its accent; an accent in place of an apostrophe.
    const drawn = [
      "(caf\\302)333(e and Gr\\310)333(u\\373e)",
      "(cafe)440(\\302)110( and Gru)440(\\310)110(\\373e)",
      "(l\\302homme)"
    ].map((text, at) => `% BT /F1 11 Tf 72 ${500 - at * 40} Td [${text}] TJ ET`)
    const { text } = await parsed("a.pdf", writePdf([[...body("otter"), ...drawn]]))
    expect(text.match(/café and Grüße/g)).toHaveLength(2)
    expect(text).toContain("l´homme")
  })

  it("has letters once that are drawn twice to look bold, and double letters twice", async () => {
    const widths: Readonly<Record<string, number>> = { C: 722, m: 833, i: 222, t: 278, s: 500 }
    const twice = Array.from("Committees", (letter) => `(${letter})${(widths[letter] ?? 556) - 70}(${letter})70`).join(" ")
    const { text } = await parsed("a.pdf", writePdf([[...body("otter"), `% BT /F1 11 Tf 72 500 Td [${twice}] TJ ET`, "The bookkeeper"]]))
    expect(text).toMatch(/\bCommittees\b/)
    expect(text).toContain("bookkeeper")
  })

  it("keeps characters beyond the basic plane", async () => {
    expect((await parsed("a.pdf", writePdf([["ABC"]], { alphabet: 0x1d434 }))).text).toBe("\u{1d434}\u{1d435}\u{1d436}")
  })

  it("keeps what annotations say", async () => {
    const annotations = ["<< /Type /Annot /Subtype /FreeText /Rect [100 100 300 150] /DA (/F1 12 Tf) /Contents (Approved by the bursar) >>"]
    expect((await parsed("a.pdf", writePdf([body("otter")], { annotations }))).text).toMatch(/Approved by the bursar$/)
  })

  it("holds files, of the document and pinned to a page: sections under their names", async () => {
    const files = {
      "terms.txt": "Payable within a fortnight",
      "gone.txt": undefined,
      "Press.joboptions": "<< /Settings (of a program) >>"
    }
    const { remarks, text } = await parsed("a.pdf", writePdf([body("otter")], { files, pinned: ["map.csv", "ford,depth\nupper,40\n"] }))
    expect(text).toMatch(/terms\.txt\s+Payable within a fortnight\s+map\.csv\s+ford \| depth\nupper \| 40$/)
    expect(remarks).toEqual([{ kind: "attachment", text: "gone.txt (its content is missing or damaged)" }])
  })

  it("of a form that its program alone draws is read from the form", async () => {
    const xfa = {
      template: "<template><subform><draw><value><text>Name of the ferry</text></value></draw>" +
        "<field><caption><value><text>Owner</text></value></caption><event><script>run()</script></event><items><text>Never chosen</text></items></field></subform></template>",
      datasets: "<xfa:datasets xmlns:xfa=\"urn:xfa\"><xfa:data><form><owner>Marta Reyes</owner></form></xfa:data></xfa:datasets>"
    }
    const { shown } = await parsed("a.pdf", writePdf([["Please wait for the form to appear."]], { xfa }))
    expect(shown.slice(1)).toEqual(["Name of the ferry", "Owner", "Marta Reyes"].map((text) => `paragraph: ${text}`))
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
