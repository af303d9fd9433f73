import { BlockBuffer, type BlockSink, oneLine, rowLine } from "../BlockSink.ts"

/** A run of paragraphs and tables: the body, a header, a note, a text box. */
export class RtfStory {
  readonly sink: BlockSink
  /** Notes and text boxes of the current paragraph; they follow it. */
  readonly after = new BlockBuffer()
  inTable = false
  heading: number | undefined
  listDepth = 0
  #text: Array<string> = []
  #label: string | undefined
  #cell: Array<string> = []
  #row: Array<string> = []
  #rows: Array<string> = []

  constructor(sink: BlockSink) {
    this.sink = sink
  }

  append(text: string): void {
    this.#text.push(text)
  }

  /** Sets the label of the current paragraph as an item of a list. */
  label(text: string): void {
    this.#label = text
  }

  endParagraph(): void {
    const text = this.#take()
    if (this.inTable) {
      this.#cell.push(text)
      return
    }
    this.#endTable()
    const label = this.#label
    this.#label = undefined
    if (text !== "") {
      const bullet = label === undefined || !/[\p{L}\p{N}]/u.test(label)
      if (this.heading !== undefined) {
        this.sink.add("heading", oneLine(bullet ? text : `${label} ${text}`), this.heading)
      } else if (label !== undefined) {
        this.sink.item(this.listDepth, bullet ? "-" : label, text)
      } else {
        this.sink.add("paragraph", text)
      }
    }
    this.after.moveTo(this.sink)
  }

  endCell(): void {
    this.#cell.push(this.#take())
    this.#row.push(oneLine(this.#cell.splice(0).join(" ")))
  }

  endRow(): void {
    const line = rowLine(this.#row.splice(0))
    if (line !== "") this.#rows.push(line)
  }

  /** Call it after the last paragraph. */
  end(): void {
    this.inTable = false
    if (this.#row.length > 0) this.endRow()
    this.append(this.#cell.splice(0).join(" "))
    this.endParagraph()
    this.#endTable()
    this.after.moveTo(this.sink)
  }

  #take(): string {
    const text = this.#text.join("").trim()
    this.#text = []
    if (this.inTable && this.#label !== undefined) {
      const label = this.#label
      this.#label = undefined
      return /[\p{L}\p{N}]/u.test(label) ? `${label} ${text}` : text
    }
    return text
  }

  #endTable(): void {
    if (this.#rows.length === 0) return
    this.sink.add("table", this.#rows.splice(0).join("\n"))
    this.after.moveTo(this.sink)
  }
}
