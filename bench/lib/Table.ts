/** One figure of the bench. */
export interface Row {
  readonly figure: string
  readonly unit: Unit
  readonly sluice: number | undefined
  /** Most that the figure should be, by the design, for the default size of the corpus. */
  readonly budget?: number
  /** The least that it could take: the work that cannot be avoided. */
  readonly floor?: number
  /** The peers' figures, in the order of their names; undefined for peers without such a figure. */
  readonly peers?: ReadonlyArray<number | undefined>
  /** Exponent of the allowed growth with the size of the corpus: 0 for none, 1 for proportional. Default: growth is not judged. */
  readonly growth?: number
}

export type Unit = keyof typeof units

const units = {
  seconds: (value: number) => `${value.toFixed(2)} s`,
  milliseconds: (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`,
  megabytes: (value: number) => `${(value / 1e6).toFixed(0)} MB`,
  percent: (value: number) => `${(value * 100).toFixed(1)}%`,
  times: (value: number) => `${value.toFixed(2)} x`,
  count: (value: number) => Math.round(value).toLocaleString("en-US")
} satisfies Record<string, (value: number) => string>

/** The rows as a table of plain text. A dash stands for figures that were not measured. */
export const table = (rows: ReadonlyArray<Row>, peers: ReadonlyArray<string>): string => {
  const lines = [
    ["", "sluice", "budget", "", "floor", "sluice/floor", ...peers.flatMap((peer) => [peer, "/sluice"])],
    ...rows.map(({ budget, figure, floor, peers: theirs = [], sluice, unit }) => {
      const show = (value: number | undefined): string => (value === undefined ? "-" : units[unit](value))
      const ratio = (above: number | undefined, below: number | undefined): string =>
        above === undefined || below === undefined || below === 0 ? "-" : `${(above / below).toFixed(1)} x`
      const met = budget === undefined || sluice === undefined ? "" : sluice <= budget ? "met" : "OVER"
      return [
        figure,
        show(sluice),
        show(budget),
        met,
        show(floor),
        ratio(sluice, floor),
        ...peers.flatMap((_, at) => [show(theirs[at]), ratio(theirs[at], sluice)])
      ]
    })
  ]
  return aligned(lines)
}

/** Lines with columns as wide as their longest cells. */
export const aligned = (lines: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  return lines
    .map((line) =>
      line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join("  ").trimEnd()
    )
    .join("\n")
}

/** A figure at one size that grew more than allowed since the smallest size. */
export interface Cliff {
  readonly figure: string
  readonly scale: number
  readonly grew: number
  readonly expected: number
}

/** Factor by which growth may exceed the allowed growth before it is a cliff: machines are noisy. */
const tolerance = 1.5

/** Figures below this are mostly start-up and noise, so their growth is meaningless. */
const least: Partial<Record<Unit, number>> = { seconds: 0.3, milliseconds: 0.3 }

/** Figures at several sizes, each with its growth since the smallest size, and the cliffs among them. */
export const growth = (
  sizes: ReadonlyArray<{ readonly scale: number; readonly rows: ReadonlyArray<Row> }>
): { readonly text: string; readonly cliffs: ReadonlyArray<Cliff> } => {
  const [first, ...others] = sizes
  if (first === undefined) return { text: "", cliffs: [] }
  const cliffs: Array<Cliff> = []
  const lines = [["", ...sizes.flatMap(({ scale }, at) => at === 0 ? [`${scale} x`] : [`${scale} x`, "growth", "allowed"])]]
  for (const { figure, growth: power, sluice, unit } of first.rows) {
    const line = [figure, sluice === undefined ? "-" : units[unit](sluice)]
    for (const { rows, scale } of others) {
      const value = rows.find((row) => row.figure === figure)?.sluice
      const base = sluice === undefined ? undefined : Math.max(sluice, least[unit] ?? 0)
      const grew = value === undefined || base === undefined || base === 0 ? undefined : value / base
      const expected = power === undefined ? undefined : (scale / first.scale) ** power
      if (grew !== undefined && expected !== undefined && grew > expected * tolerance) cliffs.push({ figure, scale, grew, expected })
      line.push(
        value === undefined ? "-" : units[unit](value),
        grew === undefined ? "-" : `${grew.toFixed(1)} x`,
        expected === undefined ? "-" : `${(expected * tolerance).toFixed(1)} x`
      )
    }
    lines.push(line)
  }
  return { text: aligned(lines), cliffs }
}
