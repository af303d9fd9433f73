/** Escapes Markdown characters in plain text. */
export const escapeText = (text: string): string =>
  text.replace(/([\\`*_[\]<>])/g, "\\$1").replace(
    /^(\s*)(#{1,6}\s|[-+=~]{1,}(?=\s|$)|\d+[.)](?=\s))/gm,
    (_, space: string, mark: string) => /^\d/.test(mark) ? `${space}${mark.slice(0, -1)}\\${mark.slice(-1)}` : `${space}\\${mark}`
  )

/** A heading of a body, placed below those of the issue. */
export const heading = (level: number, text: string): string =>
  `${"#".repeat(Math.min(6, Math.max(1, level) + 2))} ${text.replace(/\s+/g, " ").trim()}`

/** A code block with a fence longer than any inside it. */
export const codeBlock = (code: string, language = ""): string => {
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = "`".repeat(longest + 1)
  return `${fence}${language.replace(/[^\w+#.-]/g, "")}\n${code.replace(/^\n+|\s+$/g, "")}\n${fence}`
}

export const codeSpan = (code: string): string => {
  const text = code.replace(/\s+/g, " ")
  return text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``
}

export const link = (label: string, url: string): string => {
  const target = url.replace(/[()\s<>]/g, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`)
  return /^(?:https?:|mailto:|tel:|ftp:|\/|#)/i.test(target)
    ? label === "" || label === url ? `<${target}>` : `[${label}](${target})`
    : label === ""
    ? escapeText(url)
    : label
}

export const blockquote = (text: string): string => text.replace(/^/gm, "> ").replace(/^> $/gm, ">")

/** A list item whose continuation lines are aligned with its text. */
export const listItem = (mark: string, body: string): string =>
  `${mark} ${body.trim().replace(/\n(?=.)/g, `\n${" ".repeat(mark.length + 1)}`)}`

/** A table of rows of cells; the first row is the header. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const width = Math.max(0, ...rows.map((row) => row.length))
  const line = (cells: ReadonlyArray<string>): string =>
    `| ${
      Array.from({ length: width }, (_, index) => (cells[index] ?? "").replace(/\|/g, "\\|").replace(/\s*\n\s*/g, " ").trim()).join(" | ")
    } |`
  const [head = [], ...body] = rows
  return width === 0 ? "" : [line(head), `|${" --- |".repeat(width)}`, ...body.map(line)].join("\n")
}

/** Joins blocks with a blank line between them. */
export const blocks = (parts: ReadonlyArray<string>): string => parts.filter((part) => part.trim() !== "").join("\n\n")

export const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
