import { CFB } from "@e965/xlsx"

/** Streams as an OLE compound file, those of storages by their paths. */
export const compound = (streams: Readonly<Record<string, Uint8Array>>): Uint8Array => {
  const file = CFB.utils.cfb_new()
  for (const [name, content] of Object.entries(streams)) CFB.utils.cfb_add(file, `/${name}`, Buffer.from(content))
  // Asked for as a buffer.
  return CFB.write(file, { type: "buffer" }) as Buffer
}

/** A stretch of text with the changes of its look, as code and operand; `style` and `paragraph` count where it ends one. */
export interface WordRun {
  readonly text: string
  readonly look?: ReadonlyArray<readonly [code: number, ...operand: ReadonlyArray<number>]>
  readonly style?: number
  readonly paragraph?: WordRun["look"]
}

const changes = (list: WordRun["look"] = []): Buffer =>
  Buffer.concat(list.map(([code, ...operand]) => Buffer.from([code & 0xff, code >> 8, ...operand])))

const numbers = (values: ReadonlyArray<number>): Buffer => {
  const bytes = Buffer.alloc(values.length * 4)
  values.forEach((value, i) => bytes.writeUInt32LE(value, i * 4))
  return bytes
}

/** A page of looks: places, then of each where its look stands, and the looks from the end. */
const page = (places: ReadonlyArray<number>, looks: ReadonlyArray<Buffer>, width: number): Buffer => {
  const bytes = Buffer.alloc(512)
  numbers(places).copy(bytes)
  let end = 510
  looks.forEach((look, i) => {
    end = (end - look.length) & ~1
    look.copy(bytes, end)
    bytes[places.length * 4 + i * width] = end / 2
  })
  bytes[511] = looks.length
  return bytes
}

/** A table of the document, by its place in the head; `behind` follows it and is not counted in its length. */
export type WordTables = Readonly<Record<number, { readonly bytes: Uint8Array; readonly behind?: Uint8Array }>>

/** Streams of a document of Word 97 (MS-DOC): one piece of UTF-16, `lengths` the characters of its texts. */
export const wordStreams = (
  runs: ReadonlyArray<WordRun>,
  lengths: Readonly<Record<number, number>> = {},
  tables: WordTables = {}
): Record<string, Uint8Array> => {
  const start = 2048
  const text = runs.map((run) => run.text).join("")
  const places = runs.reduce<ReadonlyArray<number>>((all, run) => [...all, all.at(-1)! + run.text.length * 2], [start])
  const looks = runs.map(({ look }) => {
    const list = changes(look)
    return Buffer.from([list.length, ...list])
  })
  const paragraphs = runs.map(({ paragraph, style = 0 }) => {
    const list = Buffer.concat([Buffer.from([style, 0]), changes(paragraph)])
    return Buffer.from([0, Math.ceil(list.length / 2), ...list])
  })
  const pieces = Buffer.concat([
    Buffer.from([2]),
    numbers([16, 0, text.length]),
    Buffer.alloc(2),
    numbers([start]),
    Buffer.alloc(2)
  ])
  const characterPages = numbers([start, start + text.length * 2, 2])
  const paragraphPages = numbers([start, start + text.length * 2, 3])
  const parts: Array<Uint8Array> = [pieces, characterPages, paragraphPages]
  const head = Buffer.alloc(1024)
  head.writeUInt16LE(0xa5ec, 0)
  head.writeUInt16LE(193, 2)
  head.writeUInt16LE(0x200, 10)
  head.writeUInt32LE(text.length - Object.values(lengths).reduce((sum, length) => sum + length, 0), 0x4c)
  for (const [at, length] of Object.entries(lengths)) head.writeUInt32LE(length, Number(at))
  const put = (at: number, place: number, bytes: Buffer): void => {
    head.writeUInt32LE(place, at)
    head.writeUInt32LE(bytes.length, at + 4)
  }
  put(0x1a2, 0, pieces)
  put(0xfa, pieces.length, characterPages)
  put(0x102, pieces.length + characterPages.length, paragraphPages)
  for (const [at, { behind = Buffer.alloc(0), bytes }] of Object.entries(tables)) {
    put(Number(at), Buffer.concat(parts).length, Buffer.from(bytes))
    parts.push(bytes, behind)
  }
  return {
    WordDocument: Buffer.concat([
      head,
      page(places, looks, 1),
      page(places, paragraphs, 13),
      Buffer.from(text, "utf16le"),
      Buffer.alloc(4096)
    ]),
    "1Table": Buffer.concat([...parts, Buffer.alloc(4096)])
  }
}
