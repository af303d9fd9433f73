import { displayWidth } from "effect/cli/CliOutput"

/** Widest prose that is pleasant to read, however wide the terminal is. */
export const widest = 100

/**
 * Breaks text between words. `indent` is put before every line except the first, whose position the caller has set. In a
 * pipe, whose width is unbounded, each line stays whole: programs and `grep` read it.
 */
export const wrap = (text: string, width: number, indent = ""): string => {
  const room = width === Number.POSITIVE_INFINITY ? width : Math.max(20, Math.min(width, widest) - displayWidth(indent))
  return text.split("\n").map((paragraph) => wrapParagraph(paragraph, room).join(`\n${indent}`)).join(`\n${indent}`)
}

/** Wraps a streamed text. A word is held back until its length is known. */
export const wrapping = (width: number): { readonly push: (piece: string) => string; readonly rest: () => string } => {
  const room = Math.max(20, Math.min(width, widest))
  let taken = 0
  let space = ""
  let word = ""
  const place = (): string => {
    const breaks = taken > 0 && taken + space.length + displayWidth(word) > room
    const [first = "", ...more] = pieces(word, room)
    const placed = [`${breaks ? "\n" : space}${first}`, ...more].join("\n")
    taken = more.length > 0 ? displayWidth(more.at(-1) ?? "") : (breaks ? 0 : taken + space.length) + displayWidth(first)
    space = word = ""
    return placed
  }
  return {
    push: (piece) => {
      let out = ""
      for (const character of piece) {
        const wide = displayWidth(character) > 1
        const blank = character === " " || character === "\n"
        if ((wide || blank) && word !== "") out += place()
        if (!blank) word += character
        // Japanese and Chinese have no spaces, and can break anywhere.
        if (wide) out += place()
        if (character === " ") space += " "
        if (character === "\n") {
          out += "\n"
          space = ""
          taken = 0
        }
      }
      return out
    },
    rest: () => (word === "" ? "" : place())
  }
}

/** The first lines of a text, on one line where they fit, with an ellipsis where there is more. */
export const excerpt = (text: string, width: number, indent: string, lines: number): string => {
  const all = wrap(text.replace(/\s+/g, " ").trim(), Math.min(width, widest), indent).split("\n")
  return all.length <= lines ? all.join("\n") : `${all.slice(0, lines).join("\n")} …`
}

const wrapParagraph = (paragraph: string, room: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  let taken = 0
  for (const word of paragraph.split(" ")) {
    for (const piece of pieces(word, room)) {
      const width = displayWidth(piece)
      if (line !== "" && taken + 1 + width > room) {
        lines.push(line)
        line = piece
        taken = width
      } else {
        taken += (line === "" ? 0 : 1) + width
        line = line === "" ? piece : `${line} ${piece}`
      }
    }
  }
  return [...lines, line]
}

/** Cuts a word that is longer than a line: Japanese has no spaces to break at. */
const pieces = (word: string, room: number): ReadonlyArray<string> => {
  if (displayWidth(word) <= room) return [word]
  const out: Array<string> = []
  let piece = ""
  let taken = 0
  for (const character of word) {
    const width = displayWidth(character)
    if (taken + width > room) {
      out.push(piece)
      piece = ""
      taken = 0
    }
    piece += character
    taken += width
  }
  return [...out, piece]
}
