/** A generated document, and all of its words. */
export interface Synthetic {
  readonly name: string
  readonly bytes: Uint8Array
  readonly words: string
  readonly layout?: Layout
}

/** The known layout of a document. */
export interface Layout {
  /** Words that occur once, in the order in which a person reads them. */
  readonly order?: ReadonlyArray<string>
  readonly headings?: ReadonlyArray<{ readonly level: number; readonly text: string }>
  /** Cells of its only table by row, header first. */
  readonly cells?: ReadonlyArray<ReadonlyArray<string>>
}

interface Line {
  /** Position in points from the lower left corner. */
  readonly x: number
  readonly y: number
  readonly size: number
  readonly text: string
  /** The number of the page alone, which is none of the document's words. */
  readonly isPageNumber?: boolean
}

const vocabulary =
  "alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu"
    .split(" ")

/** A seeded source of random numbers, the same in every run. */
const makeRandom = (seed: number) => {
  let state = seed
  return (most: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state % most
  }
}

const random = makeRandom(12)
const words = (count: number): string => Array.from({ length: count }, () => vocabulary[random(vocabulary.length)]).join(" ")
const line = (x: number, y: number, text: string, size = 10): Line => ({ x, y, size, text })
const pageNumber = (x: number, y: number, text: string): Line => ({ ...line(x, y, text, 9), isPageNumber: true })
const lines = (count: number, x: number, top: number, step: number, text: (i: number) => string, size = 10): ReadonlyArray<Line> =>
  Array.from({ length: count }, (_, i) => line(x, top - i * step, text(i), size))
const pages = (count: number, page: (i: number) => ReadonlyArray<Line>): ReadonlyArray<ReadonlyArray<Line>> =>
  Array.from({ length: count }, (_, i) => page(i))

const shown = (text: string, apart: number): string =>
  apart === 0
    ? `${literal(text)} Tj`
    : `[${Array.from(text, (letter) => `${literal(letter)} ${letter === " " ? 0 : -apart}`).join(" ")}] TJ`
const literal = (text: string): string => `(${text.replace(/[()\\]/g, "\\$&")})`

/**
 * Writes a PDF in Helvetica. `turned` turns the text by 90°, `rotate` turns the page; `apart` spaces letters, in thousandths of
 * their size.
 */
const pdf = (content: ReadonlyArray<ReadonlyArray<Line>>, { apart = 0, rotate = 0, turned = false } = {}): Uint8Array => {
  const objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
  const kids = content.map((page) => {
    const stream = page.map(({ size, text, x, y }) =>
      `BT /F1 ${size} Tf ${turned ? `0 1 -1 0 ${y} ${x}` : `1 0 0 1 ${x} ${y}`} Tm ${shown(text, apart)} ET`
    ).join("\n")
    const body = objects.push(`<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`)
    return objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Rotate ${rotate} /Contents ${body} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`
    )
  })
  objects[1] = `<< /Type /Pages /Count ${kids.length} /Kids [${kids.map((kid) => `${kid} 0 R`).join(" ")}] >>`
  const parts = ["%PDF-1.4\n"]
  let length = parts[0]!.length
  const offsets = objects.map((body, i) => {
    const offset = length
    const part = `${i + 1} 0 obj\n${body}\nendobj\n`
    parts.push(part)
    length += part.length
    return offset
  })
  parts.push(
    `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`,
    ...offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`),
    `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF\n`
  )
  return Buffer.from(parts.join(""), "latin1")
}

const document = (
  name: string,
  content: ReadonlyArray<ReadonlyArray<Line>>,
  { layout, ...options }: Parameters<typeof pdf>[1] & { readonly layout?: Layout } = {}
): Synthetic => ({
  name,
  bytes: pdf(content, options),
  words: content.flat().flatMap(({ isPageNumber, text }) => isPageNumber === true ? [] : [text]).join("\n"),
  layout
})

/** Lines that each start with a unique word, numbered in reading order. */
const marked = (from: number, count: number, x: number, top: number, step: number, width: number): ReadonlyArray<Line> =>
  lines(count, x, top, step, (i) => `mark${from + i} ${words(width)}`)
const marks = (count: number): ReadonlyArray<string> => Array.from({ length: count }, (_, i) => `mark${i}`)

/** Chapters that are written as HTML, as Markdown, and as a PDF whose headings show by their size alone. */
const chapters = Array.from({ length: 6 }, (_, chapter) => ({
  title: `Chapter ${chapter + 1} on ${vocabulary[chapter]}`,
  sections: Array.from(
    { length: 3 },
    (_, section) => ({ title: `Section ${section + 1} about ${vocabulary[section + 8]} and ${vocabulary[chapter + 12]}`, text: words(60) })
  )
}))
const headings = chapters.flatMap((
  { sections, title }
) => [{ level: 1, text: title }, ...sections.map((section) => ({ level: 2, text: section.title }))])
const cells = [
  ["Item", "Place", "Weight", "Price"],
  ...Array.from({ length: 24 }, (_, i) => [`item${i}`, vocabulary[i % 26] ?? "", `${(i * 37) % 90 + 10} kg`, `${i * 13 + 5}.${10 + i}`])
]
const paged = (): ReadonlyArray<ReadonlyArray<Line>> =>
  chapters.map(({ sections, title }) => {
    let y = 790
    return [
      line(50, y, title, 20),
      ...sections.flatMap((section) => {
        const text = section.text.split(" ")
        const body = Array.from({ length: Math.ceil(text.length / 10) }, (_, i) => text.slice(i * 10, i * 10 + 10).join(" "))
        y -= 45
        const head = line(50, y, section.title, 14)
        return [head, ...body.map((one) => line(50, y -= 15, one))]
      })
    ]
  })
const texts = (name: string, source: string, layout: Layout): Synthetic => ({
  name,
  bytes: Buffer.from(source),
  words: source.replace(/<[^>]+>|[#|]|---/g, " "),
  layout
})

/** Documents with parts that layout parsers lose: numbers at the edges of pages, columns, turned text, pages after the thousandth. */
export const syntheticDocuments = (): ReadonlyArray<Synthetic> => [
  document(
    "statements.pdf",
    pages(40, (i) => [
      line(50, 800, "ACME Bank plc"),
      line(50, 785, `Statement number ${1_000 + i * 7}`),
      line(50, 770, `Date ${i + 1}/03/2025`),
      line(50, 740, "Dear customer,"),
      ...lines(30, 50, 710, 14, (row) => `${row + 1} ${words(5)} ${random(10_000)}.${random(90) + 10}`),
      pageNumber(50, 40, `Page ${i + 1} of 40`)
    ])
  ),
  document(
    "contract.pdf",
    pages(20, (i) => lines(46, 50, 800, 16, (row) => `Clause ${i * 46 + row + 1}. The supplier shall ${words(8)}.`))
  ),
  document(
    "chapters.pdf",
    pages(4, (i) => [
      line(50, 800, `Chapter ${i + 1}`, 18),
      line(50, 770, `${i + 1}.1 The party shall ${words(6)}`),
      ...lines(40, 50, 740, 14, () => words(10)),
      pageNumber(290, 30, String(i + 1))
    ])
  ),
  document(
    "minutes.pdf",
    pages(12, (i) => [
      line(50, 800, `Minutes of the meeting of ${i + 1} June 2024`, 12),
      line(50, 780, "Present: the chair, the secretary"),
      ...lines(20, 50, 750, 14, () => words(9)),
      line(50, 40, `Signed ${i + 1} June 2024`)
    ])
  ),
  document(
    "questions.pdf",
    pages(6, (i) => [
      ...lines(12, 50, 800, 60, (row) => `Question ${i * 12 + row + 1}: ${words(7)}?`),
      ...lines(12, 50, 780, 60, () => "Answer:")
    ])
  ),
  document(
    "log.pdf",
    pages(20, (i) => lines(62, 50, 810, 12, (row) => `2025-03-${i + 1} 10:${row}:00 INFO worker-${row % 3} ${words(4)}`, 8))
  ),
  document("columns.pdf", pages(3, (i) => [...marked(i * 100, 50, 50, 790, 14, 5), ...marked(i * 100 + 50, 50, 310, 790, 14, 5)]), {
    layout: { order: marks(300) }
  }),
  document(
    "newspaper.pdf",
    pages(2, (i) => [
      ...marked(i * 62, 2, 50, 800, 20, 9),
      ...[0, 1, 2].flatMap((column) => marked(i * 62 + 2 + column * 20, 20, 40 + column * 180, 740, 14, 3))
    ]),
    { layout: { order: marks(124) } }
  ),
  document("sections.pdf", paged(), { layout: { headings } }),
  document("table.pdf", [[
    line(50, 800, "Stock of the warehouse", 16),
    ...cells.flatMap((row, r) => row.map((cell, c) => line(60 + c * 125, 760 - r * 20, cell)))
  ]], { layout: { cells } }),
  texts(
    "sections.html",
    `<html><body>${
      chapters.map(({ sections, title }) =>
        `<h1>${title}</h1>${sections.map((section) => `<h2>${section.title}</h2><p>${section.text}</p>`).join("")}`
      ).join("")
    }</body></html>`,
    { headings }
  ),
  texts(
    "sections.md",
    chapters.map(({ sections, title }) =>
      `# ${title}\n\n${sections.map((section) => `## ${section.title}\n\n${section.text}`).join("\n\n")}`
    ).join("\n\n"),
    { headings }
  ),
  texts(
    "table.html",
    `<html><body><table>${cells.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("")}</table></body></html>`,
    { cells }
  ),
  document(
    "sideways.pdf",
    pages(
      3,
      (i) =>
        Array.from(
          { length: 40 },
          (_, cell) => line(100 + (cell % 4) * 120, 300 + Math.floor(cell / 4) * 20, `cell${i}r${Math.floor(cell / 4)}c${cell % 4}`)
        )
    ),
    {
      turned: true,
      layout: {
        order: Array.from({ length: 120 }, (_, cell) => `cell${Math.floor(cell / 40)}r${Math.floor(cell % 40 / 4)}c${cell % 4}`)
      }
    }
  ),
  ...[90, 180, 270].map((rotate) =>
    document(`turned-${rotate}.pdf`, pages(2, (i) => marked(i * 10, 10, 50, 700, 14, 7)), { rotate, layout: { order: marks(20) } })
  ),
  document("spaced.pdf", pages(2, () => lines(20, 50, 790, 18, () => `the ${words(6)}`)), { apart: 200 }),
  document(
    "footnotes.pdf",
    pages(6, (i) => [...lines(40, 50, 800, 14, () => words(9)), line(50, 100, `${i + 1} See the note ${words(5)}`, 7)])
  ),
  document("register.pdf", pages(1_200, (i) => [line(50, 800, `Record ${i + 1}`), line(50, 780, words(10))]))
]
