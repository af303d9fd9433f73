import { assert, describe, it } from "@effect/vitest"
import type { Context } from "../../src/domain/Retrieval.ts"
import { RagFileName } from "../../src/domain/RagFile.ts"
import { examine } from "../../src/models/extractive/Examine.ts"
import { reading, select } from "../../src/models/extractive/Select.ts"

const context = (name: string, text: string): Context => ({
  chunkId: name,
  file: RagFileName.make(`corpora/c/ragFiles/${name}`),
  sourceUri: `file:///${name}`,
  sourceDisplayName: name,
  text,
  headings: [],
  score: 1
})

const contexts = [
  context(
    "harbour.md",
    "The harbour office sells mooring permits for boats. A mooring permit is bought at the desk with the papers of the boat.\n\nWho keeps a mooring permit for boats over the winter pays half of the price of the permit."
  ),
  context("market.md", "Stalls of the market need a permit too. Boats may sell fish from a mooring where they have a permit.")
]

const shownAt = (leastChance: number): ReadonlyArray<{ readonly from: number; readonly length: number }> => {
  const examined = examine({ question: "How do I get a mooring permit for boats?", contexts })
  return select(examined, 3, { ...reading, leastChance, loss: 100 })
    .map(({ passage: { end, start }, unit }) => ({ from: unit.stretch, length: end - start }))
}

describe("the passages that an answer shows", () => {
  it("are the best one alone where characters are dear, and more text the cheaper they are", () => {
    const [best, ...more] = shownAt(1)
    assert.deepStrictEqual(more, [])
    assert.isDefined(best)
    const cheap = shownAt(1e-12)
    assert.strictEqual(cheap[0]?.from, best?.from)
    const characters = (shown: ReturnType<typeof shownAt>): number => shown.reduce((sum, { length }) => sum + length, 0)
    assert.isAbove(characters(cheap), characters(shownAt(1)))
    for (const leastChance of [1e-2, 1e-4, 1e-6]) {
      const shown = characters(shownAt(leastChance))
      assert.isAtLeast(shown, characters(shownAt(1)))
      assert.isAtMost(shown, characters(cheap))
    }
  })
})
