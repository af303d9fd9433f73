export type WatchLine = Readonly<Record<string, unknown>>

/** Milliseconds without a line after which a watch counts as silent: waiting or failing batches are reported well before. */
const silence = 180_000

/** Last lines shown in the error of a silent watch. */
const shown = 12

/** The output of a watch. Tests wait for its lines, never for a time. */
export class WatchLog {
  readonly lines: Array<WatchLine> = []
  #ended: (() => Promise<string>) | undefined
  readonly #waiting = new Set<() => void>()

  add(...lines: ReadonlyArray<WatchLine>): void {
    this.lines.push(...lines)
    this.#tell()
  }

  /** Reports that no further line will come. */
  end(why: () => Promise<string>): void {
    this.#ended = why
    this.#tell()
  }

  /** Waits for the first line from `from` on that fits, and returns its index. Rejects with the last lines where none comes. */
  async until(fits: (line: WatchLine) => boolean, from = 0): Promise<number> {
    for (let at = from;; at++) {
      while (at >= this.lines.length) {
        if (this.#ended !== undefined) throw new Error(`the watch ended: ${await this.#ended()}`)
        await this.#another()
      }
      const line = this.lines[at]
      if (line !== undefined && fits(line)) return at
    }
  }

  /**
   * Waits for the next `quiet` after a file was reported. Its sync may have failed: a watch is not quiet before it has retried, and
   * a file that was stored although its confirmation was lost is then found unchanged, which is not reported.
   */
  async settledAfter(path: string, from = 0): Promise<void> {
    const seen = await this.until((line) => line["type"] === "file" && line["path"] === path, from)
    await this.until((line) => line["type"] === "quiet", seen)
  }

  /** Waits for another line, or the end. */
  async #another(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const silent = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const last = this.lines.slice(-shown).map((line) => JSON.stringify(line).slice(0, 500))
        reject(new Error(`the watch told nothing for ${silence / 1_000} s, after ${this.lines.length} lines:\n${last.join("\n")}`))
      }, silence)
    })
    const told = new Promise<void>((resolve) => void this.#waiting.add(resolve))
    await Promise.race([told, silent]).finally(() => clearTimeout(timer))
  }

  #tell(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}
