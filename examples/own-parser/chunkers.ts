// The module that pipeline.yaml names under `use`: a custom chunker, which keeps the words of a speaker together.
import { Effect } from "effect"
import { defineChunker, type TextSpan } from "sluice"

export const turns = defineChunker({
  kind: "turns",
  description: "Whole turns, each with its heading, as many as fit a chunk.",
  version: 1,
  fields: {},
  make: () =>
    Effect.succeed(({ blocks, size, text, tokens }) => {
      const starts = blocks.filter(({ kind }) => kind === "heading").map(({ start }) => start)
      const spans: Array<TextSpan> = []
      let from = 0
      for (const [at, start] of starts.entries()) {
        const end = starts[at + 1] ?? text.length
        if (start > from && tokens(from, end) > size) {
          spans.push({ start: from, end: start })
          from = start
        }
      }
      return Effect.succeed([...spans, { start: from, end: text.length }])
    })
})
