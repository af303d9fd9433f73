import { decodeHTML } from "entities"
import { oneLine } from "./BlockSink.ts"
import { decodeLines } from "./Decode.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import type { Reader } from "./Reader.ts"

interface Cue {
  /** Start of the cue, in seconds. */
  readonly start: number
  readonly end: number
  readonly speaker: string | undefined
  readonly text: string
}

/** A silence of this many seconds ends a paragraph. */
const silence = 4
/** A sentence that ends past this many characters ends its paragraph. */
const paragraphCharacters = 500

/** Reads WebVTT and SubRip: the spoken text, in paragraphs; a speaker is named where one starts. */
export const subtitles: Reader = ({ bytes, format, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  let paragraph: Array<string> = []
  let length = 0
  let last: Cue | undefined
  const flush = (): void => {
    builder.add("paragraph", paragraph.join(" "))
    paragraph = []
    length = 0
  }
  for (const cue of cues(decodeLines(bytes))) {
    const turn = cue.speaker !== undefined && cue.speaker !== last?.speaker
    if (turn || (last !== undefined && cue.start - last.end > silence)) flush()
    // Scrolling captions repeat the line that scrolls.
    if (cue.text !== last?.text || turn) paragraph.push(turn ? `${cue.speaker}: ${cue.text}` : cue.text)
    length += cue.text.length
    if (length > paragraphCharacters && /[.!?。！？]["')\]]?$/.test(cue.text)) flush()
    last = cue
  }
  flush()
  return builder.build({ format })
}

const timing = /^(?:(\d{1,4}):)?(\d\d):(\d\d)[.,](\d{1,3})[ \t]+-->[ \t]+(?:(\d{1,4}):)?(\d\d):(\d\d)[.,](\d{1,3})(?:[ \t].*)?$/

/** The cues of a file. Blocks with a timing line are cues; notes, styles and regions have none. */
function* cues(source: string): Generator<Cue> {
  for (const block of source.split(/\n[ \t]*\n+/)) {
    const lines = block.split("\n")
    const at = lines.findIndex((line) => timing.test(line))
    const time = at < 0 ? null : timing.exec(lines[at]!)
    if (time === null) continue
    const marked = lines.slice(at + 1).join("\n")
    const speaker = /^\s*<v(?:\.[^\s>]*)?\s+([^>]+)>/.exec(marked)?.[1]
    const text = oneLine(decodeHTML(marked.replace(/<[^<>]*>|\{\\[^{}]*\}/g, "")))
    if (text === "") continue
    yield { start: seconds(time, 1), end: seconds(time, 5), speaker: speaker && oneLine(decodeHTML(speaker)), text }
  }
}

const seconds = (time: RegExpExecArray, first: number): number =>
  Number(time[first] ?? 0) * 3600 + Number(time[first + 1]) * 60 + Number(`${time[first + 2]}.${time[first + 3]}`)
