import { gzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import { parsed, refusal } from "./support/Parsed.ts"

const sheet = (name: string, cells: string, more = ""): string =>
  `<gnm:Sheet><gnm:Name>${name}</gnm:Name><gnm:Names><gnm:Name><gnm:name>Print_Area</gnm:name></gnm:Name></gnm:Names>${more}<gnm:Cells>${cells}</gnm:Cells></gnm:Sheet>`

const cell = (row: number, column: number, text: string, type?: number): string =>
  `<gnm:Cell Row="${row}" Col="${column}"${type === undefined ? "" : ` ValueType="${type}"`}>${text}</gnm:Cell>`

const workbook = (sheets: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<gnm:Workbook xmlns:gnm="http://www.gnumeric.org/v10.dtd"><gnm:Sheets>${sheets}</gnm:Sheets></gnm:Workbook>`

const prices = workbook(
  sheet(
    "Prices",
    cell(0, 0, "Item", 60) + cell(0, 1, "Since", 60) + cell(0, 2, "Share", 60) + cell(1, 0, "Käse", 60) + cell(1, 1, "45292", 40) +
      cell(1, 2, "0.25", 40) + cell(2, 0, "7.19999999999999999983", 40) + cell(2, 2, "=SUM(C2:C2)"),
    `<gnm:Styles><gnm:StyleRegion startCol="0" endCol="0" startRow="0" endRow="9"><gnm:Style Format="General"/></gnm:StyleRegion>` +
      `<gnm:StyleRegion startCol="1" endCol="1" startRow="0" endRow="9"><gnm:Style Format="yyyy-mm-dd"><gnm:Validation Style="GNM_VALIDATION_STYLE_STOP" Title="No day" Message="Days only"/><gnm:InputMessage Title="" Message="Since when"/></gnm:Style></gnm:StyleRegion>` +
      `<gnm:StyleRegion startCol="2" endCol="2" startRow="0" endRow="9"><gnm:Style Format="0%"><gnm:Validation Style="0" Title="" Message="never shown"/></gnm:Style></gnm:StyleRegion></gnm:Styles>` +
      `<gnm:Objects><gnm:CellComment ObjectBound="A1" Author="Kim" Text="Check this"/><gnm:SheetObjectText Text="A box"/></gnm:Objects>`
  ) + sheet("Empty", "") + sheet("More", cell(3, 3, "alone", 60))
)

describe("workbooks of Gnumeric", () => {
  it.each([["in gzip", gzipSync(prices)], ["in plain XML", Buffer.from(prices)]])("%s are sheets under their names", async (_, file) => {
    const { pages, remarks, shown } = await parsed("a.gnumeric", file)
    expect(shown.filter((line) => !line.startsWith("pageBreak"))).toEqual([
      "heading 1: Prices",
      "table: Item | Since | Share\nKäse | 2024-01-01 | 25%\n7.2 |  | =SUM(C2:C2)",
      "paragraph: Error message on B1:B10: No day: Days only",
      "paragraph: Input message on B1:B10: Since when",
      "paragraph: Comment by Kim: Check this",
      "paragraph: A box",
      "heading 1: More",
      "paragraph: alone"
    ])
    expect([pages, remarks?.[0]?.text]).toEqual([3, "results of a formula, which the file does not keep: the formulas are shown"])
  })

  it("may be of an old version, and tell hidden sheets", async () => {
    const old =
      `<?xml version="1.0"?><gmr:Workbook xmlns:gmr="http://www.gnome.org/gnumeric/v2"><gmr:Sheets><gmr:Sheet Visibility="GNM_SHEET_VISIBILITY_HIDDEN">` +
      `<gmr:Name>Bill</gmr:Name><gmr:Cells><gmr:Cell Row="0" Col="0" ValueType="60">Due</gmr:Cell></gmr:Cells></gmr:Sheet></gmr:Sheets></gmr:Workbook>`
    const { remarks, shown } = await parsed("a.gnumeric", old)
    expect(shown).toEqual(["heading 1: Bill (hidden)", "paragraph: Due"])
    expect(remarks).toEqual([{ kind: "hidden", text: "sheet Bill", pages: [1] }])
  })

  it("that are damaged, or unpack without end, say so", async () => {
    const packed = gzipSync(prices)
    expect(await refusal("a.gnumeric", packed.subarray(0, packed.length - 20))).toMatchObject({ problem: "corrupt" })
    expect(await refusal("a.gnumeric", gzipSync(Buffer.alloc(40_000_000, 0x20)))).toMatchObject({ problem: "limit" })
  })
})
