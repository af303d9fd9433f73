/** One figure of the bench. Budgets are those of the design, for the default size of the corpus. */
export interface Row {
  readonly figure: string
  readonly unit: Unit
  readonly sluice: number | undefined
  /** Not more than this. */
  readonly budget?: number
  /** The least it could take: the work that nobody can avoid. */
  readonly floor?: number | undefined
  readonly peer?: number | undefined
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
export const table = (rows: ReadonlyArray<Row>, peer: string): string => {
  const lines = [
    ["", "sluice", "budget", "", "floor", "sluice/floor", peer, "peer/sluice"],
    ...rows.map(({ budget, figure, floor, peer, sluice, unit }) => {
      const show = (value: number | undefined): string => (value === undefined ? "-" : units[unit](value))
      const ratio = (above: number | undefined, below: number | undefined): string =>
        above === undefined || below === undefined || below === 0 ? "-" : `${(above / below).toFixed(1)} x`
      const met = budget === undefined || sluice === undefined ? "" : sluice <= budget ? "met" : "OVER"
      return [figure, show(sluice), show(budget), met, show(floor), ratio(sluice, floor), show(peer), ratio(peer, sluice)]
    })
  ]
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  return lines
    .map((line) => line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join("  ").trimEnd())
    .join("\n")
}
