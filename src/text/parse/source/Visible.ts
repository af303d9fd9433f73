import { partitionPoint } from "../../PartitionPoint.ts"

/** A stretch of visible text, and its place in the source. */
interface Run {
  /** Start in the visible text, in UTF-16 units. */
  readonly at: number
  /** Start in the source, in UTF-16 units. */
  readonly start: number
  /** End in the source, in UTF-16 units. */
  readonly end: number
  /** Whether each unit of it is a unit of the source, which is not so for an entity or an escape. */
  readonly verbatim: boolean
}

/** The text that a reader of a source sees, in order, with the place of every character. */
export class Visible {
  readonly #parts: Array<string> = []
  readonly #runs: Array<Run> = []
  #length = 0

  /** Adds a stretch of the source as it is; `offset` is where the given part starts in the whole source. */
  verbatim(source: string, start: number, end: number, offset = 0): void {
    if (end > start) this.#add(source.slice(start, end), start + offset, end + offset, true)
  }

  /** Adds a text that the source writes in another way. */
  decoded(text: string, start: number, end: number): void {
    if (text !== "") this.#add(text, start, end, false)
  }

  /** Separates two stretches, as the end of a line does. */
  gap(): void {
    this.#parts.push("\n")
    this.#length++
  }

  get text(): string {
    return this.#parts.join("")
  }

  /** The span of the source that the characters from `from` up to `to` come from; neither may be a gap. */
  span(from: number, to: number): { readonly start: number; readonly end: number } {
    const first = this.#runAt(from)
    const last = this.#runAt(to - 1)
    return {
      start: first.verbatim ? first.start + from - first.at : first.start,
      end: last.verbatim ? last.start + to - last.at : last.end
    }
  }

  #add(text: string, start: number, end: number, verbatim: boolean): void {
    this.#runs.push({ at: this.#length, start, end, verbatim })
    this.#parts.push(text)
    this.#length += text.length
  }

  /** The last run that starts at or before an offset. */
  #runAt(offset: number): Run {
    return this.#runs[partitionPoint(this.#runs.length, (at) => this.#runs[at]!.at <= offset) - 1]!
  }
}
