import { Option } from "effect"
import type { HelpDoc } from "effect/cli"
import type { Paint } from "../Output.ts"
import { widest, wrap } from "./Wrap.ts"

/** Renders a command's help: purpose, usage, examples, then every argument and flag; wrapped for people in a pipe too. */
export const renderHelp = (doc: HelpDoc.HelpDoc, room: number, paint: Paint): string => {
  const width = Math.min(room, widest)
  const section = (title: string, rows: ReadonlyArray<Row>) =>
    rows.length === 0 ? [] : ["", paint("bold", title), ...definitions(rows, width, paint)]
  const groups = doc.subcommands ?? []
  const examples = doc.examples ?? []
  return [
    wrap(doc.description, width),
    "",
    paint("bold", "Usage"),
    `  ${doc.usage}`,
    ...(examples.length === 0 ? [] : [
      "",
      paint("bold", "Examples"),
      ...examples.flatMap(({ command, description }) => [
        ...(description === undefined ? [] : [`  ${paint("dim", `# ${description}`)}`]),
        `  ${command}`
      ])
    ]),
    ...groups.flatMap(({ commands, group }) =>
      section(group ?? "Commands", commands.map((c) => ({ term: c.name, text: c.shortDescription ?? c.description })))
    ),
    ...section(
      "Arguments",
      (doc.args ?? []).map((arg) => ({
        term: `<${arg.name}>${arg.variadic ? "..." : ""}`,
        text: textOf(arg.description)
      }))
    ),
    ...section("Flags", doc.flags.map(flagRow)),
    ...section("Flags of every command", [...(doc.inheritedFlags ?? []), ...(doc.globalFlags ?? [])].map(flagRow)),
    ...(groups.length === 0 ? [] : ["", `More about one: ${doc.usage.split(" <")[0]} <command> --help`])
  ].join("\n")
}

interface Row {
  readonly term: string
  readonly text: string
}

const textOf = (description: Option.Option<string>): string => Option.getOrElse(description, () => "")

const flagRow = ({ aliases, description, name, required, type }: HelpDoc.FlagDoc): Row => ({
  term: [`--${name}`, ...aliases].join(", ") + (type === "boolean" ? "" : ` ${type}`),
  // Where the placeholder already lists the choices, they are not listed again.
  text: `${textOf(description).replace(type.startsWith("<") ? / \(choices: .*\)$/ : "", "")}${required ? " (required)" : ""}`
})

/** Terms longer than this get their own line. */
const termColumn = 24

const definitions = (rows: ReadonlyArray<Row>, width: number, paint: Paint): ReadonlyArray<string> => {
  const column = Math.min(termColumn, Math.max(...rows.map(({ term }) => term.length))) + 4
  const indent = " ".repeat(column)
  return rows.map(({ term, text }) => {
    const head = `  ${paint("cyan", term)}`
    const wrapped = wrap(text, width, indent)
    return term.length + 4 > column ? `${head}\n${indent}${wrapped}` : `${head}${" ".repeat(column - 2 - term.length)}${wrapped}`
  })
}
