/** Writes `docs/pipeline.md` for `npm run schema`: every key of a pipeline file, from the schema that checks it. */
import { writeFileSync } from "node:fs"
import { pipelineJsonSchema } from "../src/pipeline/definition/JsonSchema.ts"

interface Field {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly anyOf?: ReadonlyArray<Field>
  readonly properties?: Readonly<Record<string, Field>>
  readonly patternProperties?: Readonly<Record<string, Field>>
  readonly items?: Field
  readonly required?: ReadonlyArray<string>
  readonly enum?: ReadonlyArray<unknown>
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
  readonly description?: string
}

const code = (text: unknown): string => `\`${String(text)}\``

/** Types of a field, without the environment variable that may stand for a number: the page's introduction explains that once. */
const typesOf = ({ type }: Field): ReadonlyArray<string> => {
  const types = [type ?? []].flat()
  return types.length > 1 ? types.filter((type) => type !== "string") : types
}

/** Upper bound of numbers without a specific bound. */
const largest = 2 ** 31 - 1

const rangeOf = ({ maximum = largest, minimum }: Field): string =>
  minimum === undefined ? "" : maximum < largest ? `, ${minimum} to ${maximum}` : `, ${minimum} or more`

/** The key in a pipeline file for a reference such as `#/properties/stages/items/properties/rank`. */
const keyOf = (ref: string): string =>
  ref.split("/").slice(1).filter((part) => !["properties", "anyOf"].includes(part) && !/^\d+$/.test(part)).map(decodeURIComponent)
    .map((part) => part === "items" ? "[]" : part === "patternProperties" ? "" : part.startsWith("^") ? "NAME" : part)
    .filter((part) => part !== "").join(".").replaceAll(".[]", "[]")

const isVariable = ({ enum: values, pattern, type }: Field & { readonly pattern?: string }): boolean =>
  type === "string" && values === undefined && pattern === "\\$\\{"

const valueOf = (field: Field): string => {
  if (field.$ref !== undefined) return `as ${code(keyOf(field.$ref))}`
  if (field.enum !== undefined) return field.enum.map(code).join(", ")
  if (field.anyOf !== undefined) {
    return [...new Set(field.anyOf.filter((one) => !isVariable(one)).map(valueOf))].join(" or ")
  }
  if (field.items !== undefined) return `list of ${valueOf(field.items)}`
  return `${typesOf(field).join(" or ")}${rangeOf(field)}`
}

type Row = readonly [key: string, value: string, required: boolean, meaning: string]

const meaningOf = ({ default: initial, description = "" }: Field): string =>
  [description, initial === undefined ? "" : `Default ${code(JSON.stringify(initial))}.`].filter((text) => text !== "").join(" ")

/** The row of a field, and the rows of its nested fields, with keys relative to the section. */
const rowsOf = (key: string, field: Field, required: boolean): ReadonlyArray<Row> => [
  [key, valueOf(field), required, meaningOf(field)],
  ...rowsWithin(key, field)
]

const rowsWithin = (key: string, field: Field): ReadonlyArray<Row> => [
  ...Object.entries(field.properties ?? {}).flatMap(([name, inner]) =>
    rowsOf(key === "" ? name : `${key}.${name}`, inner, field.required?.includes(name) ?? false)
  ),
  ...Object.values(field.patternProperties ?? {}).flatMap((inner) => rowsOf(`${key}.NAME`, inner, false)),
  ...(field.items === undefined ? [] : rowsWithin(`${key}[]`, field.items)),
  ...(field.anyOf ?? []).flatMap((one) => rowsWithin(key, one))
]

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ")

const table = (rows: ReadonlyArray<Row>): string =>
  [
    "| key | value | |",
    "|---|---|---|",
    ...rows.map(([key, value, required, meaning]) => `| ${code(key)}${required ? " *" : ""} | ${cell(value)} | ${cell(meaning)} |`)
  ].join("\n")

/** A section with the rows of its fields, whose keys omit the key of the section. */
const section = (title: string, field: Field): string => {
  const rows = rowsWithin("", field).map(([key, ...row]): Row => [key.replace(/^\./, ""), ...row])
  return [title, meaningOf(field), ...(rows.length === 0 ? [`Value: ${valueOf(field)}.`] : [table(rows)])]
    .filter((text) => text !== "").join("\n\n")
}

/** A section with a subsection for each kind, of sources or of stages. */
const byKind = (title: string, field: Field): string => {
  const kinds = Object.values(field.patternProperties ?? {})[0] ?? field.items ?? {}
  return [
    title,
    ...[field.description ?? ""].filter((text) => text !== ""),
    ...Object.entries(kinds.properties ?? {}).map(([kind, inner]) => section(`### ${kind}`, inner))
  ].join("\n\n")
}

const introduction = `# The pipeline file

Every key that a pipeline file may have, written by \`npm run schema\` from the schema that checks it. A file is YAML or JSON. \`sluice init\` writes a small one, \`sluice validate\` names every mistake with its line and column, and \`sluice schema > pipeline.schema.json\` gives an editor all of this.

\`*\` marks what must be there. Wherever a value is plain text, a number, a choice or a yes or no, \`\${NAME}\` takes it from the environment. Secrets are named by their version, never written. Paths are relative to the folder of the file.`

export const pipelinePage = (): string => {
  const { properties = {}, required = [] } = pipelineJsonSchema() as Field
  const fields = Object.entries(properties).filter(([name]) => name !== "$schema")
  const isPlain = (field: Field): boolean => rowsWithin("", field).length === 0
  return [
    introduction,
    table(fields.flatMap(([name, field]) => isPlain(field) ? rowsOf(name, field, required.includes(name)) : [])),
    ...fields.flatMap(([name, field]) =>
      isPlain(field) ? [] : [(["sources", "stages"].includes(name) ? byKind : section)(`## ${name}`, field)]
    )
  ].join("\n\n") + "\n"
}

if (import.meta.main) writeFileSync("docs/pipeline.md", pipelinePage())
