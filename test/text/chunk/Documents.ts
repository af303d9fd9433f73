import type { Block, BlockKind, ParsedDocument } from "../../../src/domain/Document.ts"
import { type Generator, generator } from "../Generator.ts"

export type Piece = Pick<Block, "kind" | "level" | "page"> & { readonly text: string }

/** Puts pieces together as parsers do: blank lines between blocks. */
export const documentOf = (pieces: ReadonlyArray<Piece>): ParsedDocument => {
  const blocks: Array<Block> = []
  let text = ""
  for (const { text: content, ...block } of pieces) {
    if (text !== "") text += "\n\n"
    blocks.push({ ...block, start: text.length, end: text.length + content.length })
    text += content
  }
  return { text, blocks, format: "test" }
}

const scripts: ReadonlyArray<ReadonlyArray<string>> = [
  "harbour crane lantern of the a quiet ledger measures copper valve between seven orchards notwithstanding".split(" "),
  "Überprüfung Straße größer über können Maßnahme Café naïve señor Œuvre".split(" "),
  "検索 文書 会社 規程 休暇 申請 東京".split(" "),
  "👍🏽 👩‍👩‍👧 e\u0301 🇩🇪 मानक नीति".split(" ")
]

export const sentence = ({ below, pick }: Generator, words: ReadonlyArray<string> = scripts[0]!): string => {
  const text = Array.from({ length: 4 + below(14) }, () => pick(words)).join(" ")
  return text.charAt(0).toUpperCase() + text.slice(1) + "."
}

export const paragraph = (random: Generator, words?: ReadonlyArray<string>): string =>
  Array.from({ length: 1 + random.below(6) }, () => sentence(random, words)).join(" ")

const makers: Record<Exclude<BlockKind, "pageBreak">, (random: Generator, words: ReadonlyArray<string>) => string> = {
  heading: (random, words) => sentence(random, words).slice(0, -1),
  paragraph,
  list: (random, words) =>
    Array.from({ length: 1 + random.below(12) }, (_, i) => `${i % 2 === 0 ? "-" : "  1."} ${sentence(random, words)}`).join("\n"),
  table: (random, words) =>
    Array.from({ length: 1 + random.below(30) }, () => `${random.pick(words)} | ${random.below(1e6)} | ${random.pick(words)}`).join("\n"),
  code: (random) =>
    Array.from({ length: 1 + random.below(20) }, (_, i) => `${" ".repeat(2 * random.below(3))}call_${i}(${random.below(99)})`).join(
      random.below(4) === 0 ? "\n\n" : "\n"
    )
}

/** A document of every kind of block, in several scripts or one, with pages in every other one. */
export const anyDocument = (seed: number, blocks: number, latin = false): ParsedDocument => {
  const random = generator(seed)
  const kinds = ["heading", "paragraph", "paragraph", "list", "table", "code"] as const
  let page = 1
  return documentOf(
    Array.from({ length: blocks }, () => {
      const kind = random.pick(kinds)
      if (random.below(10) === 0) page++
      return {
        kind,
        text: makers[kind](random, latin ? scripts[0]! : random.pick(scripts)),
        ...(kind === "heading" ? { level: 1 + random.below(4) } : {}),
        ...(seed % 2 === 0 ? { page } : {})
      }
    })
  )
}
