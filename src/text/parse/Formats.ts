import type { Reader } from "./Reader.ts"

export interface Format {
  /** The name that people use for the format. */
  readonly name: string
  /** File extensions in lower case, without the dot. */
  readonly extensions: ReadonlyArray<string>
  /** The registered or customary media types, the best first. */
  readonly mimeTypes: ReadonlyArray<string>
  /** `binary` formats are recognised by their bytes alone. For `text` formats, the extension decides what the bytes leave open. */
  readonly kind: "binary" | "text"
  /** Imports the reader when a file first needs it, so that no reader is loaded in vain. */
  readonly load: () => Promise<Reader>
}

const words = (list: string): ReadonlyArray<string> => list.split(" ")

const docx = () => import("./Docx.ts").then((module) => module.docx)
const pptx = () => import("./Pptx.ts").then((module) => module.pptx)
const xlsx = () => import("./Xlsx.ts").then((module) => module.xlsx)
const openDocument = () => import("./OpenDocument.ts").then((module) => module.openDocument)
const delimited = () => import("./Delimited.ts").then((module) => module.delimited)

const office = "application/vnd.openxmlformats-officedocument"
const oasis = "application/vnd.oasis.opendocument"

/** Every format that can be read, by its key. */
export const formats = {
  pdf: {
    name: "PDF",
    kind: "binary",
    extensions: ["pdf"],
    mimeTypes: ["application/pdf"],
    load: () => import("./Pdf.ts").then((module) => module.pdf)
  },
  docx: {
    name: "Word document",
    kind: "binary",
    extensions: words("docx docm dotx dotm"),
    mimeTypes: [
      `${office}.wordprocessingml.document`,
      `${office}.wordprocessingml.template`,
      "application/vnd.ms-word.document.macroenabled.12",
      "application/vnd.ms-word.template.macroenabled.12"
    ],
    load: docx
  },
  pptx: {
    name: "PowerPoint presentation",
    kind: "binary",
    extensions: words("pptx pptm potx potm ppsx ppsm"),
    mimeTypes: [
      `${office}.presentationml.presentation`,
      `${office}.presentationml.template`,
      `${office}.presentationml.slideshow`,
      "application/vnd.ms-powerpoint.presentation.macroenabled.12"
    ],
    load: pptx
  },
  xlsx: {
    name: "Excel workbook",
    kind: "binary",
    extensions: words("xlsx xlsm xltx xltm"),
    mimeTypes: [
      `${office}.spreadsheetml.sheet`,
      `${office}.spreadsheetml.template`,
      "application/vnd.ms-excel.sheet.macroenabled.12",
      "application/vnd.ms-excel.template.macroenabled.12"
    ],
    load: xlsx
  },
  odt: {
    name: "OpenDocument text",
    kind: "binary",
    extensions: words("odt ott odm sxw fodt"),
    mimeTypes: [`${oasis}.text`, `${oasis}.text-template`, `${oasis}.text-master`, "application/vnd.sun.xml.writer"],
    load: openDocument
  },
  ods: {
    name: "OpenDocument spreadsheet",
    kind: "binary",
    extensions: words("ods ots sxc fods"),
    mimeTypes: [`${oasis}.spreadsheet`, `${oasis}.spreadsheet-template`, "application/vnd.sun.xml.calc"],
    load: openDocument
  },
  odp: {
    name: "OpenDocument presentation",
    kind: "binary",
    extensions: words("odp otp sxi fodp"),
    mimeTypes: [`${oasis}.presentation`, `${oasis}.presentation-template`, "application/vnd.sun.xml.impress"],
    load: openDocument
  },
  odg: {
    name: "OpenDocument drawing",
    kind: "binary",
    extensions: words("odg otg sxd fodg"),
    mimeTypes: [`${oasis}.graphics`, `${oasis}.graphics-template`, "application/vnd.sun.xml.draw"],
    load: openDocument
  },
  epub: {
    name: "EPUB book",
    kind: "binary",
    extensions: ["epub"],
    mimeTypes: ["application/epub+zip"],
    load: () => import("./Epub.ts").then((module) => module.epub)
  },
  rtf: {
    name: "RTF document",
    kind: "binary",
    extensions: ["rtf"],
    mimeTypes: ["application/rtf", "text/rtf"],
    load: () => import("./Rtf.ts").then((module) => module.rtf)
  },
  xls: {
    name: "binary Excel workbook",
    kind: "binary",
    extensions: words("xls xlsb xlt xla"),
    mimeTypes: [
      "application/vnd.ms-excel",
      "application/vnd.ms-excel.sheet.binary.macroenabled.12"
    ],
    load: () => import("./Xls.ts").then((module) => module.xls)
  },
  doc: {
    name: "Word 97 document",
    kind: "binary",
    extensions: words("doc dot"),
    mimeTypes: ["application/msword"],
    load: () => import("./Doc.ts").then((module) => module.doc)
  },
  ppt: {
    name: "PowerPoint 97 presentation",
    kind: "binary",
    extensions: words("ppt pps pot"),
    mimeTypes: ["application/vnd.ms-powerpoint"],
    load: () => import("./Ppt.ts").then((module) => module.ppt)
  },
  msg: {
    name: "Outlook message",
    kind: "binary",
    extensions: ["msg"],
    mimeTypes: ["application/vnd.ms-outlook"],
    load: () => import("./Msg.ts").then((module) => module.msg)
  },
  tnef: {
    name: "attachment of Outlook",
    kind: "binary",
    extensions: ["tnef"],
    mimeTypes: words("application/ms-tnef application/vnd.ms-tnef"),
    load: () => import("./Msg.ts").then((module) => module.tnef)
  },
  // Keynote's .key is left out: most files of that name are keys, and presentations are recognised by their bytes.
  iwork: {
    name: "document of Apple's iWork",
    kind: "binary",
    extensions: words("pages numbers"),
    mimeTypes: words("application/vnd.apple.pages application/vnd.apple.keynote application/vnd.apple.numbers"),
    load: () => import("./IWork.ts").then((module) => module.iWork)
  },
  gnumeric: {
    name: "Gnumeric workbook",
    kind: "binary",
    extensions: ["gnumeric"],
    mimeTypes: ["application/x-gnumeric"],
    load: () => import("./Gnumeric.ts").then((module) => module.gnumeric)
  },
  picture: {
    name: "picture",
    kind: "binary",
    extensions: words("png jpg jpeg bmp webp tif tiff"),
    mimeTypes: words("image/png image/jpeg image/bmp image/webp image/tiff"),
    load: () => import("./Picture.ts").then((module) => module.picture)
  },
  html: {
    name: "HTML",
    kind: "text",
    extensions: words("html htm xhtml xht"),
    mimeTypes: ["text/html", "application/xhtml+xml"],
    load: () => import("./Html.ts").then((module) => module.html)
  },
  markdown: {
    name: "Markdown",
    kind: "text",
    extensions: words("md markdown mdown mkd mkdn mdx qmd rmd"),
    mimeTypes: ["text/markdown", "text/x-markdown"],
    load: () => import("./Markdown.ts").then((module) => module.markdown)
  },
  text: {
    name: "plain text",
    kind: "text",
    extensions: words("txt text log asc nfo yaml yml toml ini cfg conf properties"),
    mimeTypes: words("text/plain text/yaml application/yaml application/toml"),
    load: () => import("./Text.ts").then((module) => module.text)
  },
  csv: {
    name: "CSV",
    kind: "text",
    extensions: ["csv"],
    mimeTypes: ["text/csv", "application/csv"],
    load: delimited
  },
  tsv: {
    name: "TSV",
    kind: "text",
    extensions: words("tsv tab"),
    mimeTypes: ["text/tab-separated-values"],
    load: delimited
  },
  json: {
    name: "JSON",
    kind: "text",
    extensions: words("json geojson jsonc json5 webmanifest"),
    mimeTypes: ["application/json", "application/ld+json", "application/geo+json"],
    load: () => import("./Json.ts").then((module) => module.json)
  },
  jsonl: {
    name: "JSON Lines",
    kind: "text",
    extensions: words("jsonl ndjson"),
    mimeTypes: ["application/jsonl", "application/x-ndjson", "application/x-jsonlines"],
    load: () => import("./Json.ts").then((module) => module.json)
  },
  xml: {
    name: "XML",
    kind: "text",
    extensions: words("xml rss atom xsd dita ditamap nxml docbook fb2"),
    mimeTypes: ["application/xml", "text/xml", "application/rss+xml", "application/atom+xml", "application/x-fictionbook+xml"],
    load: () => import("./XmlDocument.ts").then((module) => module.xmlDocument)
  },
  eml: {
    name: "mail message",
    kind: "text",
    extensions: ["eml"],
    mimeTypes: ["message/rfc822"],
    load: () => import("./Email.ts").then((module) => module.email)
  },
  mbox: {
    name: "mailbox",
    kind: "text",
    extensions: ["mbox"],
    mimeTypes: ["application/mbox"],
    load: () => import("./Email.ts").then((module) => module.mbox)
  },
  mhtml: {
    name: "web archive",
    kind: "text",
    extensions: words("mht mhtml"),
    mimeTypes: ["multipart/related", "application/x-mimearchive"],
    load: () => import("./Email.ts").then((module) => module.mhtml)
  },
  ics: {
    name: "calendar",
    kind: "text",
    extensions: ["ics"],
    mimeTypes: words("text/calendar application/ics"),
    load: () => import("./Calendar.ts").then((module) => module.calendar)
  },
  rst: {
    name: "reStructuredText",
    kind: "text",
    extensions: words("rst rest"),
    mimeTypes: ["text/x-rst"],
    load: () => import("./Rst.ts").then((module) => module.rst)
  },
  asciidoc: {
    name: "AsciiDoc",
    kind: "text",
    extensions: words("adoc asciidoc"),
    mimeTypes: ["text/asciidoc", "text/x-asciidoc"],
    load: () => import("./AsciiDoc.ts").then((module) => module.asciiDoc)
  },
  latex: {
    name: "LaTeX",
    kind: "text",
    extensions: words("tex latex ltx"),
    mimeTypes: ["application/x-tex", "application/x-latex", "text/x-tex"],
    load: () => import("./Latex.ts").then((module) => module.latex)
  },
  org: {
    name: "Org",
    kind: "text",
    extensions: ["org"],
    mimeTypes: ["text/org", "text/x-org"],
    load: () => import("./Org.ts").then((module) => module.org)
  },
  ipynb: {
    name: "Jupyter notebook",
    kind: "text",
    extensions: ["ipynb"],
    mimeTypes: ["application/x-ipynb+json"],
    load: () => import("./Notebook.ts").then((module) => module.notebook)
  },
  vtt: {
    name: "WebVTT subtitles",
    kind: "text",
    extensions: ["vtt"],
    mimeTypes: ["text/vtt"],
    load: () => import("./Subtitles.ts").then((module) => module.subtitles)
  },
  srt: {
    name: "SubRip subtitles",
    kind: "text",
    extensions: ["srt"],
    mimeTypes: ["application/x-subrip"],
    load: () => import("./Subtitles.ts").then((module) => module.subtitles)
  },
  code: {
    name: "source code",
    kind: "text",
    extensions: words(
      "js mjs cjs jsx ts mts cts tsx py pyi rb go rs java kt kts scala groovy gradle swift m mm c h cc cpp cxx hpp hh cs " +
        "fs fsx vb php pl pm lua r jl hs elm ml mli ex exs erl hrl clj cljs cljc lisp el scm rkt dart zig nim d pas sh " +
        "bash zsh fish ps1 psm1 bat cmd sql graphql gql proto thrift tf hcl nix vue svelte astro css scss sass less asm " +
        "s v vhd vhdl sol cmake mk dockerfile awk tcl f f90 f95 cob abap"
    ),
    mimeTypes: words(
      "text/javascript application/javascript text/x-python text/x-java-source text/x-c text/x-c++src text/x-go " +
        "text/x-rust text/x-ruby text/x-sh application/x-sh application/sql text/css application/typescript"
    ),
    load: () => import("./Code.ts").then((module) => module.code)
  }
} as const satisfies Record<string, Format>

export type FormatKey = keyof typeof formats

const index = (names: (format: Format) => ReadonlyArray<string>): ReadonlyMap<string, FormatKey> =>
  new Map(
    Object.entries(formats).flatMap(([key, format]) =>
      // The keys of `formats` are FormatKey by definition; Object.entries loses that.
      names(format).map((name) => [name, key as FormatKey] as const)
    )
  )

const extensions = index((format) => format.extensions)
const mimeTypes = index((format) => format.mimeTypes)

/** Names without an extension that are source code by convention. */
const codeNames = /^(makefile|dockerfile|containerfile|rakefile|gemfile|jenkinsfile|vagrantfile|brewfile|procfile)$/

/** The extension of a path in lower case, without the dot; "" where it has none. */
export const extensionOf = (path: string): string => /[^/\\]\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? ""

/** The format by a file's name alone; undefined where the name does not decide. */
export const formatOfName = (path: string): FormatKey | undefined =>
  extensions.get(extensionOf(path)) ??
    (codeNames.test((/[^/\\]*$/.exec(path)?.[0] ?? "").toLowerCase()) ? "code" : undefined)

/** Whether files of these names are read in the same way where their bytes are equal. */
export const readAlike = (a: string, b: string): boolean => extensionOf(a) === extensionOf(b) && formatOfName(a) === formatOfName(b)

/** The format by a media type alone, ignoring its parameters; undefined where it is unknown. */
export const formatOfMimeType = (mimeType: string): FormatKey | undefined =>
  mimeTypes.get((mimeType.split(";", 1)[0] ?? "").trim().toLowerCase())

/**
 * Of several names of a file the one that tells its format: one of the format of its media type, or else the first of any.
 * What an address has after its path tells nothing.
 */
export const tellingName = (names: ReadonlyArray<string>, mimeType: string | undefined): string | undefined => {
  const typed = mimeType === undefined ? undefined : formatOfMimeType(mimeType)
  const told = names.map((name) => name.includes("://") ? name.replace(/[?#].*$/s, "") : name)
    .flatMap((name) => {
      const format = formatOfName(name)
      return format === undefined ? [] : [{ name, format }]
    })
  return (told.find(({ format }) => format === typed) ?? told[0])?.name
}
