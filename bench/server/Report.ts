import { aligned } from "../lib/Table.ts"
import type { Load, ServerLoad } from "./Load.ts"

export type Subject = "port" | "floor" | "server" | "client"

/** All subjects under one load. */
export interface Compared {
  readonly callers: number
  /** Activity beside the measurement, if any. */
  readonly meanwhile?: string
  readonly loads: Readonly<Record<Subject, Load>>
}

interface Figure {
  readonly name: string
  readonly of: (load: Load) => number | undefined
  readonly show: (value: number) => string
}

const milliseconds = (value: number): string => `${value.toFixed(2)} ms`
const ofServer = (figure: keyof ServerLoad) => ({ server }: Load): number | undefined => server?.[figure]

const figures: ReadonlyArray<Figure> = [
  { name: "requests/s", of: (load) => load.requestsPerSecond, show: (value) => Math.round(value).toLocaleString("en-US") },
  { name: "p50", of: (load) => load.p50, show: milliseconds },
  { name: "p99", of: (load) => load.p99, show: milliseconds },
  { name: "caller's CPU", of: (load) => load.cpu, show: milliseconds },
  { name: "server's CPU", of: ofServer("cpu"), show: milliseconds },
  { name: "of that its main thread", of: ofServer("main"), show: milliseconds },
  {
    name: "caller's share of CPU",
    of: ({ cpu, server }) => server === undefined ? undefined : cpu / (cpu + server.cpu),
    show: (value) => `${Math.round(value * 100)}%`
  },
  { name: "loop held, p99", of: ofServer("loopP99"), show: milliseconds },
  { name: "loop held, most", of: ofServer("loopMost"), show: milliseconds }
]

/** The report, with a row for each figure and load: the server compared to the port and the floor, and the client to the server. */
export const report = (compared: ReadonlyArray<Compared>): string => {
  const ratio = (value: number | undefined, base: number | undefined): string =>
    value === undefined || base === undefined ? "-" : `${(value / base).toFixed(2)} x`
  return aligned([
    ["at once", "", "port", "floor", "server", "server/port", "server/floor", "client", "client/server"],
    ...compared.flatMap(({ callers, loads: { client, floor, port, server }, meanwhile }) =>
      figures.map(({ name, of, show }) => {
        const shown = (load: Load): string => {
          const value = of(load)
          return value === undefined ? "-" : show(value)
        }
        return [
          meanwhile === undefined ? String(callers) : `${callers}, ${meanwhile}`,
          name,
          shown(port),
          shown(floor),
          shown(server),
          // The server's work is done in another process.
          name.startsWith("caller's") ? "-" : ratio(of(server), of(port)),
          ratio(of(server), of(floor)),
          shown(client),
          ratio(of(client), of(server))
        ]
      })
    )
  ])
}
