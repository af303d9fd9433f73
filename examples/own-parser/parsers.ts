// The module that pipeline.yaml names under `use`: a custom parser, for transcripts of calls with one turn per line.
import { Effect, Schema } from "effect"
import { defineParser, DocumentError } from "sluice"

const Head = Schema.Struct({ title: Schema.String, date: Schema.String })
const Turn = Schema.Struct({ at: Schema.Number, who: Schema.String, text: Schema.String })

const linesOf = (content: Uint8Array): Effect.Effect<ReadonlyArray<unknown>, DocumentError> =>
  Effect.try({
    try: () => new TextDecoder().decode(content).split("\n").filter((line) => line !== "").map((line): unknown => JSON.parse(line)),
    catch: () => new DocumentError({ problem: "corrupt", message: "a line is no JSON" })
  })

export const calls = defineParser({
  kind: "calls",
  description: "Transcripts of calls: a line of JSON about the call, and one for each turn.",
  version: 1,
  extensions: ["call.jsonl"],
  fields: {
    leaveOut: Schema.optionalKey(Schema.Array(Schema.String).annotate({ description: "Speakers whose turns are left out." }))
  },
  make: ({ leaveOut = [] }) =>
    Effect.succeed(({ content }) =>
      Effect.gen(function*() {
        const [first, ...rest] = yield* linesOf(content)
        const { date, title } = yield* Schema.decodeUnknownEffect(Head)(first)
        const turns = yield* Schema.decodeUnknownEffect(Schema.Array(Turn))(rest)
        const kept = turns.filter(({ who }) => !leaveOut.includes(who))
        return [
          // Front matter describes the document; the pipeline's rules for metadata may use it.
          `---\ntitle: ${JSON.stringify(title)}\ndate: ${JSON.stringify(date)}\n---`,
          ...kept.map(({ at, text, who }) => `## ${who}, after ${at} seconds\n\n${text}`)
        ].join("\n\n")
      }).pipe(
        Effect.mapError((error) =>
          error instanceof DocumentError ? error : new DocumentError({ problem: "corrupt", message: "it is no transcript of a call" })
        )
      )
    )
})
