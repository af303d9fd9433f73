/** One figure of the bench. Budgets are those of the design, for the default size of the corpus. */
export interface Row {
  readonly figure: string
  readonly unit: Unit
  readonly sluice: number | undefined
  /** Not more than this. */
  readonly budget?: number
  /** The least it could take: the work that nobody can avoid. */
  readonly floor?: number
  /** In the order of the peers' names; a peer that does no such thing has none. */
  readonly peers?: ReadonlyArray<number | undefined>
  /** How it may grow with the corpus: not at all, or as the tenfold corpus to this power of ten (1: in proportion). Default: not judged. */
  readonly growth?: number
}

export type Unit = keyof typeof units

const units = {
  seconds: (value: number) => `${value.toFixed(2)} s`,
  milliseconds: (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`,
  megabytes: (value: number) => `${(value / 1e6).toFixed(0)} MB`,
  times: (value: number) => `${value.toFixed(2)} x`,
  count: (value: number) => Math.round(value).toLocaleString("en-US")
} satisfies Record<string, (value: number) => string>

/** The rows as a table of plain text; what was not measured is a dash. */
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

/** Columns as wide as their longest cells. */
export const aligned = (lines: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  return lines
    .map((line) =>
      line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join("  ").trimEnd()
    )
    .join("\n")
}

/** A figure at one size that grew more than it may since the smallest. */
export interface Cliff {
  readonly figure: string
  readonly scale: number
  readonly grew: number
  readonly expected: number
}

/** More than the expected growth by this factor is a cliff: machines are noisy. */
const tolerance = 1.5

/** Below this a figure is made of start-up and noise, and its growth says nothing. */
const least: Partial<Record<Unit, number>> = { seconds: 0.3, milliseconds: 0.3 }

/** The same figures at several sizes, each with its growth since the smallest, and those that grew too much. */
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
