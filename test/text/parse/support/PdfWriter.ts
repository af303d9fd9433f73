interface PdfOptions {
  readonly title?: string
  readonly author?: string
  /** What `A` stands for, `B` for the next and so on, as a font of another script maps its codes. */
  readonly alphabet?: number
  /** UTF-16 in hexadecimal by the character that stands for it, as a font's map has it. */
  readonly map?: Readonly<Record<string, string>>
  /** Gives every page a font `F2` of glyphs by their numbers, two bytes each, which does not say what they are. */
  readonly glyphs?: boolean
  /** Layers by their names, `OC0` and so on in the content of pages, and whether they are shown. */
  readonly layers?: Readonly<Record<string, boolean>>
  /** What stands in the stream of a page in place of its content, by the page's number from 0: bytes in Latin-1. */
  readonly damaged?: Readonly<Record<number, string>>
  /** The object that `X0` names on every page. */
  readonly xObject?: string
  /** Degrees by which every page is turned. */
  readonly rotate?: number
  /** Further objects of the first page's `Annots`. */
  readonly annotations?: ReadonlyArray<string>
  /** Files that the document holds, by their names; a name without content is one of a file that is missing. */
  readonly files?: Readonly<Record<string, string | undefined>>
  /** A file pinned to the first page. */
  readonly pinned?: readonly [name: string, content: string]
  /** Packets of a form that has no pages of its own, by their names. */
  readonly xfa?: Readonly<Record<string, string>>
  /** What the last of two entries of an outline holds besides its title: `$` is the number of the first, `@` its own. */
  readonly outline?: string
  /** Makes the file say that it is encrypted, with a key that no empty password opens. */
  readonly encrypted?: boolean
}

/** Writes a small PDF, a page for each list of lines. A line that begins with `# ` is set large,
 * one with `^ ` stands at the very top, one with `_ ` at the very bottom; one with `% ` is content itself. */
export const writePdf = (pages: ReadonlyArray<ReadonlyArray<string>>, options: PdfOptions = {}): Uint8Array => {
  const objects: Array<string> = []
  const add = (body: string): number => objects.push(body)
  add("")
  add("")
  const { alphabet } = options
  const codes = options.map ?? (alphabet === undefined ? undefined : Object.fromEntries(
    Array.from({ length: 26 }, (_, i) => [String.fromCharCode(0x41 + i), utf16(alphabet + i)])
  ))
  const map = codes === undefined ? undefined : toUnicode(codes)
  const mapping = map === undefined ? "" : `/ToUnicode ${add(`<< /Length ${map.length} >>\nstream\n${map}\nendstream`)} 0 R `
  const font = add(`<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica ${mapping}>>`)
  const xObject = options.xObject === undefined ? undefined : add(options.xObject)
  const numbered = options.glyphs !== true ? "" : `/F2 ${
    add(
      "<< /Type /Font /Subtype /Type0 /BaseFont /Unknown /Encoding /Identity-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 " +
        "/BaseFont /Unknown /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor << /Type /FontDescriptor " +
        "/FontName /Unknown /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >> >>] >>"
    )
  } 0 R `
  const stream = (content: string): number => add(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`)
  const fileOf = (name: string, content: string | undefined): string =>
    `<< /Type /Filespec /F (${name}) /UF (${name}) ${content === undefined ? "" : `/EF << /F ${stream(content)} 0 R >> `}>>`
  const files = Object.entries(options.files ?? {}).map(([name, content]) => `(${name}) ${add(fileOf(name, content))} 0 R`)
  const packets = Object.entries(options.xfa ?? {}).map(([name, content]) => `(${name}) ${stream(content)} 0 R`)
  const outline = options.outline === undefined ? "" : `/Outlines ${outlineOf(options.outline, objects)} 0 R `
  const layers = Object.entries(options.layers ?? {}).map(([name, on]) => ({
    on,
    reference: `${add(`<< /Type /OCG /Name (${name}) >>`)} 0 R`
  }))
  const listed = (of: typeof layers): string => of.map(({ reference }) => reference).join(" ")
  const optional = layers.length === 0
    ? ""
    : `/OCProperties << /OCGs [${listed(layers)}] /D << /Order [${listed(layers)}] /OFF [${listed(layers.filter(({ on }) => !on))}] >> >> `
  const layered = layers.length === 0 ? "" : `/Properties << ${layers.map(({ reference }, i) => `/OC${i} ${reference}`).join(" ")} >> `
  objects[0] = `<< /Type /Catalog /Pages 2 0 R ${optional}${outline}/Names << /EmbeddedFiles << /Names [${files.join(" ")}] >> >> ${
    packets.length === 0 ? "" : `/NeedsRendering true /AcroForm << /Fields [] /XFA [${packets.join(" ")}] >> `
  }>>`
  const pins = options.pinned === undefined ? [] : [
    `<< /Type /Annot /Subtype /FileAttachment /Rect [10 10 30 30] /FS ${add(fileOf(...options.pinned))} 0 R >>`
  ]
  const annotations = [...options.annotations ?? [], ...pins].map((body) => `${add(body)} 0 R`).join(" ")
  const kids = pages.map((lines, number) => {
    const content = lines.map((line, i) => {
      if (line.startsWith("% ")) return line.slice(2)
      const large = line.startsWith("# ")
      const place = large ? undefined : { "^ ": 770, "_ ": 25 }[line.slice(0, 2)]
      const text = (large || place !== undefined ? line.slice(2) : line).replace(/[()\\]/g, "\\$&")
      return `BT /F1 ${large ? 24 : 11} Tf 72 ${place ?? 740 - i * 30} Td (${text}) Tj ET`
    }).join("\n")
    return add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Rotate ${options.rotate ?? 0} ${
        number === 0 ? `/Annots [${annotations}]` : ""
      } /Contents ${
        options.damaged?.[number] === undefined
          ? stream(content)
          : add(`<< /Filter /FlateDecode /Length ${options.damaged[number].length} >>\nstream\n${options.damaged[number]}\nendstream`)
      } 0 R /Resources << ${layered}/Font << /F1 ${font} 0 R ${numbered}>> ${
        xObject === undefined ? "" : `/XObject << /X0 ${xObject} 0 R >> `
      }>> >>`
    )
  })
  objects[1] = `<< /Type /Pages /Count ${kids.length} /Kids [${kids.map((kid) => `${kid} 0 R`).join(" ")}] >>`
  const info = add(`<< /Title (${options.title ?? ""}) /Author (${options.author ?? ""}) >>`)
  const key = "0".repeat(64)
  const encrypt = options.encrypted === true
    ? add(`<< /Filter /Standard /V 1 /R 2 /Length 40 /P -44 /O <${key}> /U <${key}> >>`)
    : undefined
  let file = "%PDF-1.4\n"
  const offsets = objects.map((body, i) => {
    const offset = file.length
    file += `${i + 1} 0 obj\n${body}\nendobj\n`
    return offset
  })
  const xref = file.length
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`
  file += offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("")
  const id = "<00112233445566778899aabbccddeeff>"
  const security = encrypt === undefined ? "" : `/Encrypt ${encrypt} 0 R /ID [${id}${id}] `
  file += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info ${info} 0 R ${security}>>\nstartxref\n${xref}\n%%EOF\n`
  return Buffer.from(file, "latin1")
}

/** Adds an outline of two entries; answers its number. */
const outlineOf = (last: string, objects: Array<string>): number => {
  const first = objects.length + 1
  const rest = last.replaceAll("$", String(first)).replaceAll("@", String(first + 1))
  return objects.push(
    `<< /Title (One) /Parent ${first + 2} 0 R /Next ${first + 1} 0 R >>`,
    `<< /Title (Two) /Parent ${first + 2} 0 R ${rest} >>`,
    `<< /Type /Outlines /First ${first} 0 R /Last ${first + 1} 0 R /Count 2 >>`
  )
}

const utf16 = (codePoint: number): string => Buffer.from(String.fromCodePoint(codePoint), "utf16le").swap16().toString("hex")

const toUnicode = (codes: Readonly<Record<string, string>>): string =>
  "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /A def /CMapType 2 def\n" +
  "1 begincodespacerange <00> <ff> endcodespacerange\n" +
  `${Object.keys(codes).length + 1} beginbfchar <20> <0020> ${
    Object.entries(codes).map(([character, hex]) => `<${character.charCodeAt(0).toString(16)}> <${hex}>`).join(" ")
  }\n` +
  "endbfchar endcmap CMapName currentdict /CMap defineresource pop end end"
