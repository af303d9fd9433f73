import { describe, expect, it } from "vitest"
import { growth, type Row } from "../../bench/lib/Table.ts"

const row = (figure: string, sluice: number, power?: number): Row => ({
  figure,
  unit: "milliseconds",
  sluice,
  ...(power === undefined ? {} : { growth: power })
})

describe("growth", () => {
  it("names what grew by more than it may, and nothing else", () => {
    const { cliffs, text } = growth([
      { scale: 1, rows: [row("flat", 2, 0), row("in proportion", 2, 1), row("cliff", 2, 0.4), row("told only", 2)] },
      { scale: 10, rows: [row("flat", 2.9, 0), row("in proportion", 29, 1), row("cliff", 1061, 0.4), row("told only", 900)] }
    ])
    expect(cliffs.map(({ figure, grew, scale }) => [figure, scale, grew])).toEqual([["cliff", 10, 530.5]])
    expect(text).toContain("530.5 x")
  })

  it("does not judge what is start-up and noise", () => {
    expect(growth([{ scale: 1, rows: [row("quick", 0.01, 0)] }, { scale: 10, rows: [row("quick", 0.4, 0)] }]).cliffs).toEqual([])
  })
})
