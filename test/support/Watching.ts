import type { ChildProcess } from "node:child_process"
import type { Finished } from "./Finished.ts"
import { start } from "./Sluice.ts"
import { WatchLog } from "./WatchLog.ts"

export type { WatchLine } from "./WatchLog.ts"

/** A `sluice watch --json` in a separate process, and its output. */
export class Watching extends WatchLog {
  readonly child: ChildProcess
  readonly finished: Promise<Finished>

  constructor(cwd: string, args: ReadonlyArray<string> = [], as: { readonly uid?: number } = {}) {
    super()
    const { child, finished } = start(["watch", "pipeline.yaml", "--json", ...args], { cwd, ...as })
    this.child = child
    this.finished = finished
    let rest = ""
    child.stdout?.on("data", (text: string) => {
      const lines = (rest + text).split("\n")
      rest = lines.pop() ?? ""
      this.add(...lines.map((line) => JSON.parse(line)))
    })
    void finished.then(() => this.end(async () => JSON.stringify(await finished).slice(-2_000)))
  }

  /** Signals the process and waits for its end. */
  kill(signal: NodeJS.Signals): Promise<Finished> {
    this.child.kill(signal)
    return this.finished
  }
}
