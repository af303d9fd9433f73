import { describe, expect, it } from "vitest"
import { png } from "../../../src/text/parse/Png.ts"
import { withPlainPages } from "../../../src/text/parse/pdf/PlainPages.ts"
import { parsed, refusal } from "./support/Parsed.ts"
import { writePdf } from "./support/PdfWriter.ts"

/** A page of text as a picture of it. */
const pictureOf = (...lines: ReadonlyArray<string>): Promise<Uint8Array> =>
  withPlainPages(writePdf([lines]), async (pages) => {
    const drawn = await pages.draw(1)
    if (drawn === undefined) throw new Error("the page was not drawn")
    return png(drawn, "grey")
  })

describe("text in pictures", () => {
  it("waits for text recognition, and says so", async () => {
    expect(await refusal("a.png", await pictureOf("Anything"))).toMatchObject({ problem: "pictures" })
  })

  it("is recognised where that is on, with its confidence", async () => {
    const { remarks, text } = await parsed("a.png", await pictureOf("# The otter crossed the river", "# and nobody saw it go."), {
      recognise: ["eng"]
    })
    expect(text.replace(/\s+/g, " ")).toBe("The otter crossed the river and nobody saw it go.")
    expect(remarks).toMatchObject([{ kind: "recognisedPages" }])
    expect(remarks?.[0]?.confidence).toBeGreaterThan(0.8)
  })

  it("is recognised on pages of a PDF whose fonts give characters wrong numbers", async () => {
    const line = "THE OTTER CROSSED THE RIVER BEFORE DAWN"
    const garbled = writePdf([Array.from({ length: 3 }, () => line)], { alphabet: 0xc9d0 })
    const { remarks, text } = await parsed("a.pdf", garbled, { recognise: ["eng"] })
    expect(text.replace(/\s+/g, " ")).toBe(`${line} ${line} ${line}`)
    expect(remarks).toMatchObject([{ kind: "recognisedPages", pages: [1] }])
  })

  it("in a language whose data is not installed names the packages", async () => {
    await expect(parsed("a.png", await pictureOf("Anything"), { recognise: ["xyz"] })).rejects.toThrow(
      "npm i tesseract.js @tesseract.js-data/xyz"
    )
  })
})
