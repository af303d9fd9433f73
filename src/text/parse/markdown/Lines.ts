import { normalLabel } from "./Inline.ts"

/** The first character that is not a blank; 0 where there is none. */
export const firstCode = (line: string): number => {
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at)
    if (code !== 0x20 && code !== 0x09) return code
  }
  return 0
}

/** Columns of leading white space; a tab goes to the next multiple of four. */
export const indentation = (line: string): number => {
  let column = 0
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at)
    if (code === 0x20) column++
    else if (code === 0x09) column += 4 - (column & 3)
    else break
  }
  return column
}

/** A line without that many columns of leading white space. */
export const dedent = (line: string, columns: number): string => {
  let column = 0
  let at = 0
  for (; at < line.length && column < columns; at++) {
    const code = line.charCodeAt(at)
    if (code === 0x20) column++
    else if (code === 0x09) column += 4 - (column & 3)
    else break
  }
  return line.slice(at)
}

/** Cells of a row; a pipe that is escaped is text. */
export const tableRow = (line: string): ReadonlyArray<string> =>
  line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "").split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"))

const definition = /^ {0,3}\[([^[\]^][^[\]]{0,998})\]:[ \t]*\S/

/** Whether a line defines a link's target: `[label]: target`. */
export const isDefinition = (line: string): boolean => definition.test(line)

/** The labels that a document defines. */
export const linkLabels = (lines: ReadonlyArray<string>): ReadonlySet<string> => {
  const labels = new Set<string>()
  for (const line of lines) {
    if (firstCode(line) !== 0x5b) continue
    const found = definition.exec(line)
    if (found !== null) labels.add(normalLabel(found[1]!))
  }
  return labels
}
