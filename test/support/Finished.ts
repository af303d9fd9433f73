/** How a run of the command line ended, and what it printed. */
export interface Finished {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** The JSON lines a command printed. */
export const events = ({ stdout }: Finished): ReadonlyArray<Record<string, unknown>> =>
  stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
