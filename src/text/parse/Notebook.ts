import { canonical, DocumentBuilder } from "./DocumentBuilder.ts"
import { decode } from "./Decode.ts"
import { htmlBlocks } from "./Html.ts"
import { markdownBlocks } from "./Markdown.ts"
import { ReadFailure } from "./ReadFailure.ts"
import type { Reader } from "./Reader.ts"

/** Most characters of a text output: more is a log or a dump of data. */
const maxOutputCharacters = 4_000
/**
 * Most characters of an HTML output. HTML has more markup than text; this leaves room for a table, but not for the scripts of a drawing.
 */
const maxHtmlCharacters = 65_536

/** Reads Jupyter notebooks, formats 3 and 4: Markdown cells, code cells, and their printed or displayed outputs as text, HTML or TeX. */
export const notebook: Reader = ({ bytes, format, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  let heading: string | undefined
  let cut = 0
  const root = asRecord(parsed(decode(bytes)))
  for (const cell of cellsOf(root)) {
    const source = joined(cell["source"] ?? cell["input"])
    if (cell["cell_type"] === "markdown") {
      const first = markdownBlocks(source, builder)
      heading ??= first
    } else if (cell["cell_type"] === "heading") builder.add("heading", source, Number(cell["level"] ?? 1))
    else if (cell["cell_type"] === "raw") builder.add("paragraph", source)
    else {
      builder.add("code", source)
      for (const output of asRecords(cell["outputs"])) if (!addOutput(output, builder)) cut++
    }
  }
  const title = asRecord(root["metadata"])["title"]
  const shown = typeof title === "string" && title !== "" ? title : heading
  const remarks = cut === 0
    ? undefined
    : [{
      kind: "cut" as const,
      text: `the first ${maxOutputCharacters} characters of ${cut === 1 ? "an output" : `each of ${cut} outputs`}`
    }]
  return builder.build({ format, title: shown, remarks })
}

type Json = Readonly<Record<string, unknown>>

const parsed = (source: string): unknown => {
  try {
    return JSON.parse(source)
  } catch {
    throw new ReadFailure("corrupt", "the notebook is not valid JSON")
  }
}

const isRecord = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const asRecord = (value: unknown): Json => isRecord(value) ? value : {}

const asRecords = (value: unknown): ReadonlyArray<Json> => Array.isArray(value) ? value.filter(isRecord) : []

const cellsOf = (root: Json): ReadonlyArray<Json> =>
  Array.isArray(root["cells"])
    ? asRecords(root["cells"])
    : asRecords(root["worksheets"]).flatMap((sheet) => asRecords(sheet["cells"]))

/** A text that is stored whole or as lines. */
const joined = (value: unknown): string => [value].flat().filter((line) => typeof line === "string").join("")

/** What Python prints for an object that can only be displayed: `<IPython.core.display.HTML object>`. */
const placeholder = /^<[\w.]+ object(?: at \w+)?>$|^<Figure size [^>]*>$/

/** Adds an output in the first of its forms that has text. Returns whether it is complete. */
const addOutput = (output: Json, builder: DocumentBuilder): boolean => {
  const kind = output["output_type"]
  if (kind === "error" || kind === "pyerr") {
    builder.add("code", `${joined(output["ename"])}: ${joined(output["evalue"])}`)
    return true
  }
  const data = asRecord(output["data"])
  // Format 3 has the forms in the output itself, by short names.
  const form = (name: string): string => joined(data[`text/${name}`]) || joined(output[name])
  const whole = joined(output["text"]) || form("markdown") || joined(data["text/plain"])
  const text = placeholder.test(whole.trim()) ? "" : whole
  const html = text === "" ? form("html") : ""
  if (html !== "") {
    const { length } = html
    htmlBlocks(html.slice(0, maxHtmlCharacters), builder)
    return length <= maxHtmlCharacters
  }
  const shown = canonical(text || form("latex") || whole)
  builder.add("code", shown.slice(0, maxOutputCharacters))
  return shown.length <= maxOutputCharacters
}
