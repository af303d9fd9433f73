import { Context, Effect, Layer } from "effect"
import { CliOutput, type HelpDoc } from "effect/cli"
import { printable } from "../domain/Text.ts"
import { suggest } from "../pipeline/file/Suggest.ts"
import { Output } from "./Output.ts"
import { renderHelp } from "./render/Help.ts"

type Mistake = CliOutput.Presenter.InvalidInvocation["errors"][number]

/** Help that was asked for is data, on stdout; what follows a mistake is for people, on stderr, the mistake last. */
export const presenterLayer: Layer.Layer<never, never, Output> = Layer.effectContext(Effect.gen(function*() {
  const { json, paint, paintError, print, say, wantsJson, width } = yield* Output
  return Context.make(CliOutput.Presenter, {
    present: (event) => {
      switch (event._tag) {
        case "Version":
          return print(`${event.name} ${event.version}`)
        case "Help":
          return print(renderHelp(event.helpDoc, width, paint))
        case "InvalidInvocation": {
          const messages = event.errors.map((error) => printable(explained(error, event.helpDoc)))
          return Effect.all([
            say(`${renderHelp(event.helpDoc, width, paintError)}\n`),
            ...messages.map((message) => say(`${paintError("red", "error:")} ${message}`)),
            ...(wantsJson
              ? [json({ version: 1, type: "error", error: "UsageError", message: messages.join("; "), fix: "see --help" })]
              : [])
          ], { discard: true })
        }
      }
    }
  })
}))

/** The mistake, with what was probably meant. */
const explained = (error: Mistake, doc: HelpDoc.HelpDoc): string => {
  switch (error._tag) {
    case "UnrecognizedOption": {
      const flags = [...doc.flags, ...(doc.inheritedFlags ?? []), ...(doc.globalFlags ?? [])].map(({ name }) => `--${name}`)
      return `${error.option} is not a flag of this command${didYouMean(error.suggestions[0] ?? suggest(error.option, flags))}`
    }
    case "UnknownSubcommand": {
      const commands = (doc.subcommands ?? []).flatMap((group) => group.commands.map(({ name }) => name))
      return `${error.subcommand} is not a command${didYouMean(error.suggestions[0] ?? suggest(error.subcommand, commands))}`
    }
    default:
      return error.message
  }
}

const didYouMean = (meant: string | undefined): string => (meant === undefined ? "" : `; did you mean ${meant}?`)
