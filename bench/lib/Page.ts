import type { Random } from "./Random.ts"
import type { Vocabulary } from "./Vocabulary.ts"

/** Writes Markdown about a few topic words, which occur far more often than by chance, as on real pages. */
export class PageWriter {
  readonly #vocabulary: Vocabulary
  readonly #random: Random
  readonly #topic: ReadonlyArray<string>

  constructor(vocabulary: Vocabulary, random: Random, topic: ReadonlyArray<string>) {
    this.#vocabulary = vocabulary
    this.#random = random
    this.#topic = topic
  }

  /** A page of at least `bytes` bytes (ASCII), by less than one block longer. `shared` are paragraphs that several pages contain. */
  page(bytes: number, shared: ReadonlyArray<string>): string {
    const blocks = [`# ${this.#title()}`]
    let length = blocks[0]!.length
    while (length < bytes) {
      const block = this.#block(shared)
      blocks.push(block)
      length += block.length + 2
    }
    return `${blocks.join("\n\n")}\n`
  }

  paragraph(): string {
    return this.#repeat(this.#random.between(2, 5), () => this.#sentence()).join(" ")
  }

  #block(shared: ReadonlyArray<string>): string {
    const draw = this.#random.next()
    if (draw < 0.14) return `${"#".repeat(this.#random.between(2, 3))} ${this.#title()}`
    if (draw < 0.22) return this.#list()
    if (draw < 0.26) return this.#table()
    if (draw < 0.3) return this.#code()
    if (draw < 0.33) return this.#random.pick(shared)
    return this.paragraph()
  }

  #word(): string {
    return this.#random.chance(0.12) ? this.#random.pick(this.#topic) : this.#vocabulary.word(this.#random)
  }

  #title(): string {
    return capitalized([this.#random.pick(this.#topic), ...this.#repeat(this.#random.between(1, 4), () => this.#word())].join(" "))
  }

  #sentence(): string {
    const words = this.#repeat(this.#random.between(7, 22), () => this.#word())
    if (words.length > 12) words[6] += ","
    if (this.#random.chance(0.1)) words.push(`${this.#random.between(2, 900)}`)
    if (this.#random.chance(0.05)) words.push(`${this.#random.pick(["PX", "LK", "TR"])}-${this.#random.between(1000, 9999)}`)
    return `${capitalized(words.join(" "))}.`
  }

  #list(): string {
    return this.#repeat(this.#random.between(3, 7), () => `- ${this.#sentence()}`).join("\n")
  }

  #table(): string {
    const columns = this.#random.between(2, 4)
    const row = (cell: () => string): string => `| ${this.#repeat(columns, cell).join(" | ")} |`
    const rows = this.#repeat(
      this.#random.between(3, 8),
      () => row(() => (this.#random.chance(0.4) ? `${this.#random.between(1, 5000)}` : `${this.#word()} ${this.#word()}`))
    )
    return [row(() => capitalized(this.#word())), row(() => "---"), ...rows].join("\n")
  }

  #code(): string {
    const identifier = (): string => this.#word().replace(/\W/g, "_") + capitalized(this.#word()).replace(/\W/g, "_")
    const lines = this.#repeat(
      this.#random.between(3, 9),
      () => `const ${identifier()} = ${identifier()}(${identifier()}, ${this.#random.between(0, 99)})`
    )
    return ["```ts", ...lines, "```"].join("\n")
  }

  #repeat<A>(count: number, make: () => A): Array<A> {
    return Array.from({ length: count }, make)
  }
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
