import type { ChildProcess } from "node:child_process"
import { type Finished, start } from "./Sluice.ts"

export type WatchLine = Readonly<Record<string, unknown>>

/** A `sluice watch --json` in a process of its own, and what it has told. Tests wait for what it tells, never for time. */
export class Watching {
  readonly child: ChildProcess
  readonly finished: Promise<Finished>
  readonly lines: Array<WatchLine> = []
  #rest = ""
  #ended = false
  readonly #waiting = new Set<() => void>()

  constructor(cwd: string, args: ReadonlyArray<string> = []) {
    const { child, finished } = start(["watch", "pipeline.yaml", "--json", ...args], { cwd })
    this.child = child
    this.finished = finished
    child.stdout?.on("data", (text: string) => {
      const lines = (this.#rest + text).split("\n")
      this.#rest = lines.pop() ?? ""
      for (const line of lines) this.lines.push(JSON.parse(line))
      this.#tell()
    })
    void finished.then(() => {
      this.#ended = true
      this.#tell()
    })
  }

  /** The first line from `from` on that fits, and its place; waits for it. */
  async until(fits: (line: WatchLine) => boolean, from = 0): Promise<number> {
    for (let at = from;; at++) {
      while (at >= this.lines.length) {
        if (this.#ended) throw new Error(`the watch ended: ${JSON.stringify(await this.finished).slice(-2_000)}`)
        await new Promise<void>((resolve) => void this.#waiting.add(resolve))
      }
      const line = this.lines[at]
      if (line !== undefined && fits(line)) return at
    }
  }

  /** The next `quiet`, after the file named was taken. */
  async settledAfter(path: string, from = 0): Promise<void> {
    const taken = await this.until((line) => line["type"] === "file" && line["path"] === path && line["outcome"] !== "failed", from)
    await this.until((line) => line["type"] === "quiet", taken)
  }

  /** Signals the process and waits for its end. */
  end(signal: NodeJS.Signals): Promise<Finished> {
    this.child.kill(signal)
    return this.finished
  }

  #tell(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}
