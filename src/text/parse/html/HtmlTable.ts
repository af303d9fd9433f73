import { oneLine, rowLine } from "../BlockSink.ts"

/** The open table: cells are collected until it ends, or proves to be there for layout only. */
export class HtmlTable {
  readonly #rows: Array<ReadonlyArray<string>> = []
  #row: Array<string> = []
  #cell: Array<string> | undefined = undefined
  /** Whether a header cell was seen, which proves a data table. */
  header = false

  get inCell(): boolean {
    return this.#cell !== undefined
  }

  /** Whether nothing but the first cells of the table has been seen yet. */
  get young(): boolean {
    return this.#rows.length === 0
  }

  openCell(header: boolean): void {
    this.closeCell()
    this.#cell = []
    if (header) this.header = true
  }

  closeCell(): void {
    if (this.#cell === undefined) return
    this.#row.push(oneLine(this.#cell.join(" ")))
    this.#cell = undefined
  }

  closeRow(): void {
    this.closeCell()
    if (this.#row.some((cell) => cell !== "")) this.#rows.push(this.#row)
    this.#row = []
  }

  text(text: string): void {
    this.#cell?.push(text)
  }

  /** The rows so far as one table, or, where no row has two cells with text, each as a paragraph. */
  finish(): { readonly kind: "table" | "paragraph"; readonly texts: ReadonlyArray<string> } {
    this.closeRow()
    if (this.#rows.some((row) => row.filter((cell) => cell !== "").length > 1)) {
      return { kind: "table", texts: [this.#rows.map(rowLine).join("\n")] }
    }
    return { kind: "paragraph", texts: this.#rows.map((row) => row.find((cell) => cell !== "") ?? "") }
  }
}
