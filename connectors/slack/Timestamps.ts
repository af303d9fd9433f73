/** Slack's `ts` ("1512085950.000216") as microseconds since 1970. */
export const microsOf = (ts: string): number => {
  const [seconds = "", fraction = ""] = ts.split(".")
  return Number(seconds) * 1_000_000 + Number(fraction.padEnd(6, "0").slice(0, 6))
}

export const tsOf = (micros: number): string =>
  `${Math.floor(micros / 1_000_000)}.${String(micros % 1_000_000).padStart(6, "0")}`

/** An RFC 3339 time, what is finer than microseconds cut off. */
export const microsOfTime = (time: string): number => {
  const fraction = /\.(\d+)/.exec(time)?.[1] ?? ""
  return Date.parse(time.replace(/\.\d+/, "")) * 1000 + Number(fraction.padEnd(6, "0").slice(0, 6))
}

export const timeOf = (micros: number): string => new Date(Math.floor(micros / 1000)).toISOString()

/** The UTC day: `2026-10-12`. */
export const dayOf = (micros: number): string => timeOf(micros).slice(0, 10)

export const startOfDay = (day: string): number => Date.parse(`${day}T00:00:00Z`) * 1000

export const dayMicros = 86_400_000_000

/** Moments from `from` on and before `until`, in microseconds. */
export interface Range {
  readonly from: number
  readonly until: number
}

export const intersect = (a: Range, b: Range): Range => ({
  from: Math.max(a.from, b.from),
  until: Math.min(a.until, b.until)
})
