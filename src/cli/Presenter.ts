import { Array as Arr, Context, Effect, Layer } from "effect"
import { CliOutput, type HelpDoc } from "effect/cli"
import { printable } from "../domain/Text.ts"
import { suggest } from "../pipeline/definition/Suggest.ts"
import { Output, showVersion } from "./Output.ts"
import { renderHelp } from "./render/Help.ts"

type Mistake = CliOutput.Presenter.InvalidInvocation["errors"][number]

/** Prints help to stdout, as requested data, and a usage error as one line on stderr, with a suggestion. */
export const presenterLayer: Layer.Layer<never, never, Output> = Layer.effectContext(Effect.gen(function*() {
  const output = yield* Output
  const { json, paint, paintError, print, say, wantsJson, width } = output
  return Context.make(CliOutput.Presenter, {
    present: (event) => {
      switch (event._tag) {
        case "Version":
          return showVersion(output, event.name, event.version)
        case "Help":
          return print(renderHelp(event.helpDoc, width, paint))
        case "InvalidInvocation": {
          const help = `${event.commandPath.join(" ")} --help`
          const mistakes = Arr.dedupeWith(event.errors.map((error) => explained(error, event.helpDoc)), (a, b) => a.what === b.what)
          const line = ({ meant, what }: Mistaken): string =>
            printable(`${what}; ${meant === undefined ? `see \`${help}\`` : `did you mean ${meant}?`}`)
          return Effect.all([
            ...mistakes.map((mistake) => say(`${paintError("red", "error:")} ${line(mistake)}`)),
            ...(wantsJson
              ? [json({ version: 1, type: "error", error: "UsageError", message: mistakes.map(line).join("\n"), fix: `see \`${help}\`` })]
              : [])
          ], { discard: true })
        }
      }
    }
  })
}))

interface Mistaken {
  readonly what: string
  /** The flag or command that was probably meant. */
  readonly meant?: string
}

const explained = (error: Mistake, doc: HelpDoc.HelpDoc): Mistaken => {
  switch (error._tag) {
    case "UnrecognizedOption": {
      const flags = [...doc.flags, ...(doc.inheritedFlags ?? []), ...(doc.globalFlags ?? [])].map(({ name }) => `--${name}`)
      // A single letter is too little to guess a word from.
      const meant = error.option.startsWith("--") ? error.suggestions[0] ?? suggest(error.option, flags) : undefined
      return { what: `unknown flag ${error.option}`, meant }
    }
    case "UnknownSubcommand": {
      const commands = (doc.subcommands ?? []).flatMap((group) => group.commands.map(({ name }) => name))
      return { what: `unknown command ${error.subcommand}`, meant: error.suggestions[0] ?? suggest(error.subcommand, commands) }
    }
    case "MissingArgument":
      return { what: `missing argument <${error.argument}>` }
    case "MissingOption":
      return { what: `missing flag --${error.option}` }
    case "InvalidValue": {
      const name = error.kind === "flag" ? `--${error.option}` : `<${error.option}>`
      const expected = error.expected.replace(/^Expected:? /, "").replace("a string representing ", "")
      if (error.value === "") return { what: `${name} needs a value: ${expected}` }
      // What Effect's flags of paths say is a sentence of its own.
      const problem = expected.startsWith("Path is not a directory")
        ? "is not a folder"
        : expected.startsWith("Failed to check path")
        ? "cannot be reached"
        : `expected ${expected}`
      return { what: `${name} ${JSON.stringify(error.value)}: ${problem}` }
    }
    default:
      return { what: error.message.replaceAll("\n", " ").replace(/^./, (first) => first.toLowerCase()) }
  }
}
