/** Exit code and output of a command. */
export interface Finished {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** The JSON lines a command printed. */
export const events = ({ stdout }: Finished): ReadonlyArray<Record<string, unknown>> =>
  stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
