import type { Remark } from "../../domain/Document.ts"
import { BlockWriter, oneLine } from "./BlockSink.ts"
import { openCompound } from "./Compound.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { embeddedInSlides, withEmbedded } from "./Embedded.ts"
import { hiddenPage } from "./HiddenText.ts"
import { ReadFailure } from "./ReadFailure.ts"
import type { Reader } from "./Reader.ts"

/** Types of records (MS-PPT, 2.13.24). */
const types = {
  slide: 1006,
  slideAtom: 1007,
  notes: 1008,
  master: 1016,
  slidePersist: 1011,
  showInfo: 1017,
  outlineText: 3998,
  textHeader: 3999,
  textChars: 4000,
  textBytes: 4008,
  headersFooters: 4057,
  object: 4113,
  binaryTag: 5003,
  comment: 12000,
  string: 4026,
  slideList: 4080,
  userEdit: 4085,
  persistDirectory: 6002
} as const

/** Types of texts that are titles of slides, which are headings. */
const titleTypes = new Set([0, 6])

/** Lists of slides by the instance of their record. */
const lists = { slides: 0, masters: 1, notes: 2 } as const

const encryptedToken = 0xf3d1c4df

/** Depth to which nested records are read; real files have some ten levels. */
const maxDepth = 64

interface Text {
  readonly type: number
  readonly text: string
}

interface Listed {
  /** The persist id by which the slide itself is looked up. */
  readonly persist: number
  readonly id: number
  /** The texts of its placeholders, to which its shapes refer by number. */
  readonly texts: Array<Text>
}

/**
 * Reads presentations of PowerPoint 97 to 2003. A slide is a page, hidden ones too; its title is a heading; the texts of shapes, notes and
 * comments follow. Text that all slides share, footers and the master's own, appears once, on the first slide.
 */
export const ppt: Reader = ({ bytes, format, inner, limits }) => {
  const { edit, pictures, stream } = open(bytes)
  const offsets = persistOffsets(stream, edit)
  const document = recordAt(stream, offsets.get(edit.document))
  if (document === undefined) throw new ReadFailure("corrupt", "the presentation has no document")
  const slides = listed(stream, document, lists.slides)
  if (slides.length > limits.pages) throw new ReadFailure("limit", `${slides.length} slides, more than ${limits.pages}`)
  const notes = new Map(listed(stream, document, lists.notes).map((entry) => [entry.id, entry]))
  const builder = new DocumentBuilder(limits.characters)
  const writer = new BlockWriter(builder)
  const remarks: Array<Remark> = []
  let title: string | undefined
  const write = ({ text, type }: Text, mayHead: boolean): void => {
    if (mayHead && titleTypes.has(type)) {
      writer.add("heading", oneLine(text), 1)
      if (oneLine(text) !== "") title ??= oneLine(text)
      return
    }
    // An asterisk stands for the number of the slide, the date and the like.
    for (const paragraph of text.split("\n")) if (paragraph.trim() !== "*") writer.add("paragraph", paragraph)
  }
  const shared = new Set<string>()
  const once = (texts: ReadonlyArray<string>): void => {
    for (const text of texts) {
      if (!shared.has(text)) writer.add("paragraph", text)
      shared.add(text)
    }
  }
  slides.forEach((entry, i) => {
    writer.page(i + 1)
    const slide = recordAt(stream, offsets.get(entry.persist))
    const content = slide === undefined ? undefined : contentOf(stream, slide, entry.texts)
    if (content?.hidden === true) remarks.push(hiddenPage(`slide ${i + 1}`, i + 1))
    for (const text of content?.texts ?? entry.texts) write(text, true)
    for (const comment of content?.comments ?? []) writer.add("paragraph", comment)
    if (i === 0) {
      once(footersOf(stream, document))
      for (const { persist } of listed(stream, document, lists.masters)) {
        const master = recordAt(stream, offsets.get(persist))
        if (master !== undefined) once(contentOf(stream, master, []).texts.filter(isOwn).map(({ text }) => text))
      }
    }
    once(content?.footers ?? [])
    const note = content === undefined ? undefined : notes.get(content.notes)
    const page = note === undefined ? undefined : recordAt(stream, offsets.get(note.persist))
    if (note !== undefined && page !== undefined) { for (const text of contentOf(stream, page, note.texts).texts) write(text, false) }
  })
  writer.end()
  const objects = [...offsets.values()].flatMap((offset) => {
    const record = recordAt(stream, offset)
    return record?.type === types.object ? [{ packed: record.instance === 1, content: stream.subarray(record.start, record.end) }] : []
  })
  return withEmbedded(
    embeddedInSlides(objects, pictures, limits),
    { builder, inner, limits },
    () => builder.build({ format, pages: slides.length, title, remarks })
  )
}

/** Whether a text of a master is its own, not a prompt for the text of a slide ("Click to edit"). */
const isOwn = ({ text, type }: Text): boolean => type === otherText && text.trim() !== "" && text.trim() !== "*"

/** The type of text in shapes that are not placeholders (MS-PPT, 2.13.33). */
const otherText = 4

interface Edit {
  readonly offset: number
  /** The persist id of the document. */
  readonly document: number
}

const open = (bytes: Uint8Array): { readonly stream: Buffer; readonly edit: Edit; readonly pictures: Buffer | undefined } => {
  const root = openCompound(bytes)
  // A file saved for PowerPoint 95 and 97 alike contains the presentation twice.
  const { read } = root.storages.get("PP97_DUALSTORAGE") ?? root
  const stream = read("PowerPoint Document")
  const user = read("Current User")
  if (stream === undefined || root.streams.includes("Text_Content") && !root.storages.has("PP97_DUALSTORAGE")) {
    throw new ReadFailure("unsupported", "a presentation from before 1997")
  }
  if (user === undefined || user.length < 20) throw new ReadFailure("corrupt", "the presentation does not say where it begins")
  if (user.readUInt32LE(12) === encryptedToken) throw new ReadFailure("encrypted", "the presentation is protected by a password")
  const named = user.readUInt32LE(16)
  // Programs that append a save may fail to record it: then the last save counts.
  const offset = recordAt(stream, named)?.type === types.userEdit ? named : lastEdit(stream)
  const edit = recordAt(stream, offset)
  if (edit?.type !== types.userEdit || edit.end - edit.start < 20) throw new ReadFailure("corrupt", "the presentation is damaged")
  return { stream, pictures: read("Pictures"), edit: { offset, document: stream.readUInt32LE(edit.start + 16) } }
}

const lastEdit = (stream: Buffer): number => {
  const mark = Buffer.from([0, 0, types.userEdit & 0xff, types.userEdit >> 8])
  return Math.max(0, stream.lastIndexOf(mark))
}

interface Record {
  readonly type: number
  readonly instance: number
  readonly container: boolean
  /** Start of the record's content. */
  readonly start: number
  readonly end: number
}

const header = 8

const recordAt = (stream: Buffer, offset: number | undefined): Record | undefined => {
  if (offset === undefined || offset + header > stream.length) return undefined
  const version = stream.readUInt16LE(offset)
  const start = offset + header
  return {
    type: stream.readUInt16LE(offset + 2),
    instance: version >> 4,
    container: (version & 0xf) === 0xf,
    start,
    end: Math.min(stream.length, start + stream.readUInt32LE(offset + 4))
  }
}

function* children(stream: Buffer, { end, start }: Record): Generator<Record> {
  for (let at = start; at + header <= end;) {
    const child = recordAt(stream, at)
    if (child === undefined) return
    yield { ...child, end: Math.min(end, child.end) }
    at = child.end
  }
}

/** Offsets of the parts by persist id. Every save appended what it changed, so the last one wins. */
const persistOffsets = (stream: Buffer, { offset }: Edit): ReadonlyMap<number, number> => {
  const offsets = new Map<number, number>()
  const seen = new Set<number>()
  for (let at = offset; at > 0 && !seen.has(at);) {
    seen.add(at)
    const edit = recordAt(stream, at)
    if (edit?.type !== types.userEdit || edit.end - edit.start < 16) break
    const directory = recordAt(stream, stream.readUInt32LE(edit.start + 12))
    if (directory?.type === types.persistDirectory) {
      for (let place = directory.start; place + 4 <= directory.end;) {
        const entry = stream.readUInt32LE(place)
        place += 4
        for (let i = 0; i < entry >>> 20 && place + 4 <= directory.end; i++, place += 4) {
          const id = (entry & 0xfffff) + i
          if (!offsets.has(id)) offsets.set(id, stream.readUInt32LE(place))
        }
      }
    }
    at = stream.readUInt32LE(edit.start + 8)
  }
  return offsets
}

/** The slides or notes in their order, with the texts of their placeholders. */
const listed = (stream: Buffer, document: Record, instance: number): ReadonlyArray<Listed> => {
  const entries: Array<Listed> = []
  for (const list of children(stream, document)) {
    if (list.type !== types.slideList || list.instance !== instance) continue
    let type = -1
    for (const record of children(stream, list)) {
      if (record.type === types.slidePersist && record.end - record.start >= 16) {
        entries.push({ persist: stream.readUInt32LE(record.start), id: stream.readUInt32LE(record.start + 12), texts: [] })
      } else if (record.type === types.textHeader) {
        type = stream.readUInt32LE(record.start)
        entries.at(-1)?.texts.push({ type, text: "" })
      } else if (record.type === types.textChars || record.type === types.textBytes) {
        const texts = entries.at(-1)?.texts
        if (texts !== undefined) texts[Math.max(0, texts.length - 1)] = { type, text: textOf(stream, record) }
      }
    }
  }
  return entries
}

/** Header, footer and date of a slide or of the whole presentation. */
const footersOf = (stream: Buffer, container: Record): ReadonlyArray<string> =>
  [...children(stream, container)].filter(({ type }) => type === types.headersFooters).flatMap((record) =>
    [...children(stream, record)].filter(({ type }) => type === types.string)
      .map(({ end, start }) => oneLine(stream.toString("utf16le", start, end))).filter((text) => text !== "")
  )

interface Content {
  readonly texts: Array<Text>
  readonly comments: Array<string>
  footers: ReadonlyArray<string>
  notes: number
  hidden: boolean
}

const contentOf = (stream: Buffer, slide: Record, outline: ReadonlyArray<Text>): Content => {
  const content: Content = { texts: [], comments: [], footers: footersOf(stream, slide), notes: 0, hidden: false }
  const used = new Set<number>()
  let type = -1
  const visit = (record: Record, depth: number): void => {
    switch (record.type) {
      case types.slideAtom:
        if (record.end - record.start >= 20) content.notes = stream.readUInt32LE(record.start + 16)
        return
      case types.showInfo:
        if (record.end - record.start >= 12) content.hidden = (stream.readUInt16LE(record.start + 10) & 0x4) !== 0
        return
      case types.outlineText: {
        const number = stream.readUInt32LE(record.start)
        const text = outline[number]
        if (text !== undefined && !used.has(number)) content.texts.push(text)
        used.add(number)
        return
      }
      case types.textHeader:
        type = stream.readUInt32LE(record.start)
        return
      case types.textChars:
      case types.textBytes:
        content.texts.push({ type, text: textOf(stream, record) })
        type = -1
        return
      case types.comment: {
        const strings = [...children(stream, record)].filter((child) => child.type === types.string)
        const part = (instance: number): string => {
          const found = strings.find((child) => child.instance === instance)
          return found === undefined ? "" : oneLine(stream.toString("utf16le", found.start, found.end))
        }
        if (part(1) !== "") content.comments.push(`Comment${part(0) === "" ? "" : ` by ${part(0)}`}: ${part(1)}`)
        return
      }
    }
    // Later versions store what the first did not know, such as comments, in records of bytes.
    if ((record.container || record.type === types.binaryTag) && depth < maxDepth) {
      for (const child of children(stream, record)) visit(child, depth + 1)
    }
  }
  for (const child of children(stream, slide)) visit(child, 0)
  outline.forEach((text, number) => {
    if (!used.has(number)) content.texts.push(text)
  })
  return content
}

/** The text of a record. Paragraphs end with a carriage return, lines inside them with a vertical tab. */
const textOf = (stream: Buffer, { end, start, type }: Record): string =>
  stream.toString(type === types.textChars ? "utf16le" : "latin1", start, end)
    .replaceAll("\r", "\n").replaceAll("\v", " ").replace(/[\u0000-\u0008\u000e-\u001f]/g, " ")
