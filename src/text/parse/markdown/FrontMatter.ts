import { languageCode } from "../LanguageCode.ts"

/** A front matter as it is written, between its rules. */
export interface FrontMatterBlock {
  readonly kind: "yaml" | "toml"
  readonly text: string
}

/** What a YAML or TOML front matter states about a document, and where the text after it starts. */
export interface FrontMatter {
  readonly title?: string
  readonly author?: string
  readonly language?: string
  readonly description?: string
  /** The whole front matter; absent where the document has none. */
  readonly block?: FrontMatterBlock
  readonly end: number
}

/** Most UTF-16 units of a front matter; a longer block between rules is text. */
const maxLength = 64 * 1024

/** Reads the few top-level scalars that every caller needs; the rest is for the site that builds the page. */
export const frontMatter = (source: string): FrontMatter => {
  const rule = /^(---|\+\+\+)[ \t]*\n/.exec(source)
  if (rule === null) return { end: 0 }
  const from = rule[0].length
  const close = new RegExp(`^${rule[1] === "---" ? "(?:---|\\.\\.\\." : "(?:\\+\\+\\+"})[ \\t]*$`, "m")
    .exec(source.slice(from, from + maxLength))
  if (close === null) return { end: 0 }
  const fields = new Map<string, string>()
  for (const line of source.slice(from, from + close.index).split("\n")) {
    const field = /^([a-z_]+)[ \t]*[:=][ \t]*(\S.*)$/i.exec(line)
    if (field !== null) fields.set(field[1]!.toLowerCase(), scalar(field[2]!))
  }
  if (fields.size === 0) return { end: 0 }
  const title = fields.get("title")
  const author = fields.get("author")
  const description = fields.get("description") ?? fields.get("summary")
  const language = languageCode(fields.get("lang") ?? fields.get("language"))
  return {
    end: from + close.index + close[0].length,
    block: { kind: rule[1] === "---" ? "yaml" : "toml", text: source.slice(from, from + close.index) },
    title: title || undefined,
    author: author || undefined,
    language: language || undefined,
    description: description || undefined
  }
}

/** A plain or quoted scalar; block and flow values are not read. */
const scalar = (value: string): string => {
  const quoted = /^"((?:[^"\\]|\\.)*)"|^'((?:[^']|'')*)'/.exec(value)
  if (quoted !== null) return (quoted[1]?.replace(/\\(.)/g, "$1") ?? quoted[2]?.replaceAll("''", "'") ?? "").trim()
  return /^[[{|>&*!]/.test(value) ? "" : value.replace(/\s+#.*$/, "").trim()
}
