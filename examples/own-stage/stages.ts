// The module that pipeline.yaml names under `use`: a custom stage, whose settings are checked with line and column.
import { Effect, Schema } from "effect"
import { defineStage, type Retrieved } from "sluice"

export const perFile = defineStage({
  kind: "perFile",
  description: "Keeps the best contexts of each file.",
  takes: "retrieved",
  gives: "retrieved",
  fields: { keep: Schema.Int.annotate({ description: "Contexts of a file." }) },
  make: ({ keep }) => (input: Retrieved) => {
    const seen = new Map<string, number>()
    const within = (file: string): boolean => seen.set(file, (seen.get(file) ?? 0) + 1).get(file)! <= keep
    return Effect.succeed({ ...input, contexts: input.contexts.filter(({ file }) => within(file)) })
  }
})
