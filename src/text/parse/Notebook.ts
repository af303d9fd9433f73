import { canonical, DocumentBuilder } from "./DocumentBuilder.ts"
import { decode } from "./Decode.ts"
import { markdownBlocks } from "./Markdown.ts"
import { ReadFailure } from "./ReadFailure.ts"
import type { Reader } from "./Reader.ts"

/** Text outputs are kept up to this length: beyond are logs and dumps of data. */
const maxOutputCharacters = 4_000

/** Jupyter notebooks, formats 3 and 4: Markdown cells, code cells, and the text that they printed. */
export const notebook: Reader = ({ bytes, format, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  let heading: string | undefined
  const root = asRecord(parsed(decode(bytes)))
  for (const cell of cellsOf(root)) {
    const source = joined(cell["source"] ?? cell["input"])
    if (cell["cell_type"] === "markdown") heading ??= markdownBlocks(source, builder)
    else if (cell["cell_type"] === "heading") builder.add("heading", source, Number(cell["level"] ?? 1))
    else if (cell["cell_type"] === "raw") builder.add("paragraph", source)
    else {
      builder.add("code", source)
      for (const output of asRecords(cell["outputs"])) builder.add("code", outputText(output))
    }
  }
  const title = asRecord(root["metadata"])["title"]
  const shown = typeof title === "string" && title !== "" ? title : heading
  return builder.build({ format, title: shown })
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

/** Texts are stored whole or as lines. */
const joined = (value: unknown): string => [value].flat().filter((line) => typeof line === "string").join("")

const outputText = (output: Json): string => {
  const kind = output["output_type"]
  if (kind === "error" || kind === "pyerr") return `${joined(output["ename"])}: ${joined(output["evalue"])}`
  const data = asRecord(output["data"])
  const text = joined(output["text"]) || joined(data["text/markdown"]) || joined(data["text/plain"])
  return canonical(text).slice(0, maxOutputCharacters)
}
