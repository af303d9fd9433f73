import type { Load } from "./Load.ts"

export type Subject = "port" | "server" | "client"

/** All subjects under one load. */
export interface Compared {
  readonly callers: number
  /** Whether files were taken in meanwhile. */
  readonly ingesting?: boolean
  readonly loads: Readonly<Record<Subject, Load>>
}

const figures: ReadonlyArray<{ readonly name: string; readonly of: keyof Load; readonly show: (value: number) => string }> = [
  { name: "requests/s", of: "requestsPerSecond", show: (value) => Math.round(value).toLocaleString("en-US") },
  { name: "p50", of: "p50", show: (value) => `${value.toFixed(2)} ms` },
  { name: "p99", of: "p99", show: (value) => `${value.toFixed(2)} ms` },
  { name: "caller's CPU", of: "cpu", show: (value) => `${value.toFixed(2)} ms` }
]

/** A row for each figure under each load: the port, the server beside it, and the client beside the server. */
export const report = (compared: ReadonlyArray<Compared>): string => {
  const ratio = (value: number, base: number): string => `${(value / base).toFixed(2)} x`
  const lines = [
    ["at once", "", "port", "server", "server/port", "client", "client/server"],
    ...compared.flatMap(({ callers, ingesting, loads: { client, port, server } }) =>
      figures.map(({ name, of, show }) => [
        ingesting === true ? `${callers}, ingest` : String(callers),
        name,
        show(port[of]),
        show(server[of]),
        // The server's work is done by another process.
        of === "cpu" ? "-" : ratio(server[of], port[of]),
        show(client[of]),
        ratio(client[of], server[of])
      ])
    )
  ]
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  return lines
    .map((line) => line.map((cell, column) => (column === 1 ? cell.padEnd(widths[1]!) : cell.padStart(widths[column]!))).join("  "))
    .join("\n")
}
