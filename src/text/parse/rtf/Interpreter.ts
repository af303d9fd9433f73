import { BlockBuffer, type BlockSink, oneLine, withPrefix } from "../BlockSink.ts"
import { HiddenText } from "../HiddenText.ts"
import { ReadFailure } from "../ReadFailure.ts"
import { onlyOnce } from "../RunningText.ts"
import { symbolCharacter } from "../SymbolFonts.ts"
import { codePageOfCharset, decodeCodePage } from "../CodePages.ts"
import { RtfData } from "./Data.ts"
import { RtfStory } from "./Story.ts"
import { headingOfStyle, type RtfStyle } from "./Styles.ts"
import type { RtfHandler } from "./Tokens.ts"
import { characters, silent, styling, wanted } from "./Words.ts"

/** The state of a group; a group inside starts with a copy. */
interface Group {
  /** Where text goes; `undefined` where it is dropped. */
  target: { append: (text: string) => void } | undefined
  story: RtfStory
  table: "fonts" | "styles" | undefined
  font: number | undefined
  /** Bytes that stand in for a `\u` character in old readers. */
  fallbackBytes: number
  hidden: boolean
  deleted: boolean
  /** Whether it is inside a group that this reader does not know, whose notes are read all the same. */
  unknown: boolean
  /** Where the digits of a picture or an object go, instead of text. */
  data: RtfData | undefined
  /** Called when the group ends. */
  onClose: (() => void) | undefined
}

interface Font {
  charset: number
  codePage: number | undefined
  name: string
}

const maxDepth = 10_000
const noFont = -1

/** Follows the control words of an RTF file and writes its text as blocks. */
export class RtfInterpreter implements RtfHandler {
  title = ""
  author = ""
  readonly hidden = new HiddenText()
  /** The contents of `\\objdata` groups, in their order. */
  readonly objects: Array<Buffer> = []
  /** The contents of `\\pict` groups, in their order. */
  readonly pictures: Array<Buffer> = []
  readonly #footers = new BlockBuffer()
  readonly #running: { readonly header: BlockSink; readonly footer: BlockSink }
  readonly #fonts = new Map<number, Font>()
  readonly #styles = new Map<number, RtfStyle>()
  readonly #outer: Array<Group> = []
  readonly #main: RtfStory
  readonly #sink: BlockSink
  #group: Group
  #codePage = 1252
  #defaultFont: number | undefined
  #style: RtfStyle | undefined
  #starred = false
  #bytes: Array<number> = []
  #skip = 0
  #notes = 0
  #commentAuthor = ""

  constructor(sink: BlockSink) {
    this.#sink = sink
    this.#running = { header: onlyOnce(sink), footer: onlyOnce(this.#footers) }
    this.#main = new RtfStory(sink)
    this.#group = {
      target: this.#main,
      story: this.#main,
      table: undefined,
      font: undefined,
      fallbackBytes: 1,
      hidden: false,
      deleted: false,
      unknown: false,
      data: undefined,
      onClose: undefined
    }
  }

  open(): void {
    this.#flush()
    this.#skip = 0
    this.#starred = false
    if (this.#outer.length >= maxDepth) throw new ReadFailure("limit", `groups nested deeper than ${maxDepth}`)
    this.#outer.push(this.#group)
    this.#group = { ...this.#group, onClose: undefined }
  }

  close(): void {
    this.#flush()
    this.#skip = 0
    this.#group.onClose?.()
    this.#group = this.#outer.pop() ?? this.#group
  }

  byte(value: number): void {
    if (this.#group.data !== undefined) this.#group.data.digit(value)
    else if (this.#skip > 0) this.#skip--
    else if (this.#group.target !== undefined) this.#bytes.push(value)
  }

  raw(bytes: Buffer): void {
    this.#group.data?.raw(bytes)
  }

  word(name: string, parameter: number | undefined): void {
    if (name === "u") return this.#unicode(parameter ?? 0)
    this.#flush()
    this.#skip = 0
    if (name === "*") {
      this.#starred = true
      return
    }
    const starred = this.#starred
    this.#starred = false
    // A character style opens no destination, whatever precedes it.
    if (starred && !wanted.has(name) && !styling.has(name)) {
      this.#group.unknown ||= this.#group.target !== undefined
      this.#group.target = undefined
      this.#group.table = undefined
      return
    }
    if (this.#group.table !== undefined && this.#inTable(name, parameter)) return
    if (this.#destination(name)) return
    const character = characters[name]
    if (character !== undefined) this.#emit(character)
    else this.#property(name, parameter)
  }

  /** Whether groups are open, which at the end of a file means that it is cut off. */
  get isOpen(): boolean {
    return this.#outer.length > 0
  }

  /** Call it after the last token. */
  end(): void {
    this.#flush()
    while (this.#outer.length > 0) this.close()
    this.#main.end()
    this.#footers.moveTo(this.#sink)
  }

  #unicode(code: number): void {
    this.#flush()
    // Signed 16 bit; symbol fonts are in the private area.
    const unit = code & 0xffff
    const font = this.#font()
    if (unit >= 0xf000 && unit <= 0xf0ff) this.#emit(symbolCharacter(font?.name ?? "", unit))
    else this.#emit(String.fromCharCode(unit))
    this.#skip = this.#group.fallbackBytes
  }

  #font(): Font | undefined {
    return this.#fonts.get(this.#group.font ?? this.#defaultFont ?? noFont)
  }

  #flush(): void {
    if (this.#bytes.length === 0) return
    const bytes = this.#bytes
    this.#bytes = []
    const font = this.#font()
    this.#emit(
      font?.charset === 2
        ? bytes.map((byte) => symbolCharacter(font.name, byte)).join("")
        : decodeCodePage(font?.codePage ?? this.#codePage, bytes)
    )
  }

  #emit(text: string): void {
    const { deleted, hidden, target } = this.#group
    if (!deleted && !hidden) target?.append(text)
    else if (!deleted && target instanceof RtfStory) this.hidden.add(text)
  }

  /** Collects the text of the current group, and passes it to `use` at the end of the group. */
  #capture(use: (text: string) => void): void {
    const parts: Array<string> = []
    this.#group.target = { append: (text) => void parts.push(text) }
    this.#group.table = undefined
    // Facts about the document are in its own code page, whatever the current font is.
    this.#group.font = noFont
    this.#group.onClose = () => use(oneLine(parts.join("")))
  }

  #inner(sink: BlockSink): void {
    const story = new RtfStory(sink)
    this.#group.story = story
    this.#group.target = story
    this.#group.hidden = false
    this.#group.deleted = false
    this.#group.onClose = () => story.end()
  }

  /** Handles control words that define a group's kind. Returns whether this is one. */
  #destination(name: string): boolean {
    const { story } = this.#group
    switch (name) {
      case "objdata":
      case "pict": {
        // A duplicate for readers that do not know its other form.
        if (this.#group.target === undefined) return true
        const data = new RtfData()
        this.#group.target = undefined
        this.#group.data = data
        this.#group.onClose = () => {
          if (data.length > 0) (name === "pict" ? this.pictures : this.objects).push(data.bytes)
        }
        return true
      }
      case "fonttbl":
      case "stylesheet":
        this.#group.target = undefined
        this.#group.table = name === "fonttbl" ? "fonts" : "styles"
        return true
      case "title":
        this.#capture((text) => (this.title ||= text))
        return true
      case "author":
        this.#capture((text) => (this.author ||= text))
        return true
      case "atnauthor":
        this.#capture((text) => (this.#commentAuthor = text))
        return true
      case "listtext":
      case "pntext":
        if (this.#group.target !== undefined) this.#capture((text) => story.label(text))
        return true
      case "ud":
        this.#group.target = story
        return true
      case "footnote": {
        if (this.#group.target === undefined && !this.#group.unknown) return true
        const mark = `[${++this.#notes}]`
        if (this.#group.target === undefined) story.append(mark)
        else this.#emit(mark)
        this.#inner(withPrefix(`${mark} `, story.after))
        return true
      }
      case "annotation": {
        const by = this.#commentAuthor === "" ? "Comment: " : `Comment by ${this.#commentAuthor}: `
        if (this.#group.target !== undefined) this.#inner(withPrefix(by, story.after))
        return true
      }
      case "shptxt":
      case "dptxbxtext":
        if (this.#group.target !== undefined) this.#inner(story.after)
        return true
      default:
        break
    }
    const running = /^(header|footer)[lrf]?$/.exec(name)?.[1]
    if (running === "header" || running === "footer") {
      this.#inner(this.#running[running])
      return true
    }
    if (!silent.has(name) && !/^m[a-z]+Pr$/.test(name)) return false
    this.#group.target = undefined
    this.#group.unknown = false
    return true
  }

  /** Handles control words inside the font table and the style sheet. */
  #inTable(name: string, parameter: number | undefined): boolean {
    if (this.#group.table === "fonts") {
      if (name === "f" && parameter !== undefined) this.#beginFont(parameter)
      const font = this.#fonts.get(this.#group.font ?? noFont)
      if (font !== undefined && name === "fcharset") {
        font.charset = parameter ?? 0
        font.codePage = codePageOfCharset(font.charset)
      }
      return true
    }
    if (name === "s" && parameter !== undefined) this.#beginStyle(parameter)
    else if (this.#style !== undefined && name === "outlinelevel") this.#style.outline = parameter
    else if (this.#style !== undefined && name === "sbasedon") this.#style.basedOn = parameter
    return true
  }

  #beginFont(number: number): void {
    const font: Font = { charset: 1, codePage: undefined, name: "" }
    this.#fonts.set(number, font)
    this.#group.font = number
    this.#group.target = { append: (text) => void (font.name += text) }
  }

  #beginStyle(number: number): void {
    const style: RtfStyle = { name: "", outline: undefined, basedOn: undefined }
    this.#styles.set(number, style)
    this.#style = style
    this.#group.target = { append: (text) => void (style.name += text) }
    this.#group.onClose = () => {
      style.name = style.name.replace(/;.*$/s, "").trim()
      this.#style = undefined
    }
  }

  /** Handles control words that end a stretch of text. Returns whether this is one. */
  #structure(name: string, story: RtfStory): boolean {
    if (name === "par" || name === "sect" || name === "page") story.endParagraph()
    else if (name === "cell") story.endCell()
    else if (name === "row") story.endRow()
    else if (name === "nestcell") story.append(" ")
    else return false
    return true
  }

  #property(name: string, parameter: number | undefined): void {
    const group = this.#group
    const story = group.story
    if (group.target === story && this.#structure(name, story)) return
    switch (name) {
      case "pard":
        story.inTable = false
        story.heading = undefined
        story.listDepth = 0
        return
      case "intbl":
      case "trowd":
        story.inTable = true
        return
      case "s":
        story.heading = headingOfStyle(this.#styles, parameter ?? 0)
        return
      case "outlinelevel":
        if (parameter !== undefined) story.heading = parameter < 9 ? parameter + 1 : undefined
        return
      case "ilvl":
        story.listDepth = parameter ?? 0
        return
      case "f":
        group.font = parameter
        return
      case "plain":
        group.font = undefined
        group.hidden = false
        group.deleted = false
        return
      case "deleted":
        group.deleted = parameter !== 0
        return
      case "v":
        group.hidden = parameter !== 0
        return
      case "uc":
        group.fallbackBytes = Math.max(0, parameter ?? 1)
        return
      case "deff":
        this.#defaultFont = parameter
        return
      case "ansicpg":
        this.#codePage = parameter || 1252
        return
      case "mac":
        this.#codePage = 10000
        return
      case "pc":
        this.#codePage = 437
        return
      case "pca":
        this.#codePage = 850
    }
  }
}
