export type WatchLine = Readonly<Record<string, unknown>>

/** What a watch has told. Tests wait for what it tells, never for time. */
export class WatchLog {
  readonly lines: Array<WatchLine> = []
  #ended: (() => Promise<string>) | undefined
  readonly #waiting = new Set<() => void>()

  add(...lines: ReadonlyArray<WatchLine>): void {
    this.lines.push(...lines)
    this.#tell()
  }

  /** Nothing more comes. */
  end(why: () => Promise<string>): void {
    this.#ended = why
    this.#tell()
  }

  /** The first line from `from` on that fits, and its place; waits for it. */
  async until(fits: (line: WatchLine) => boolean, from = 0): Promise<number> {
    for (let at = from;; at++) {
      while (at >= this.lines.length) {
        if (this.#ended !== undefined) throw new Error(`the watch ended: ${await this.#ended()}`)
        await new Promise<void>((resolve) => void this.#waiting.add(resolve))
      }
      const line = this.lines[at]
      if (line !== undefined && fits(line)) return at
    }
  }

  /**
   * The next `quiet`, after the file named was looked at. That may have failed: a watch is not quiet before it has tried
   * again, and what was stored though its confirmation was lost is then found unchanged, which is told of no file.
   */
  async settledAfter(path: string, from = 0): Promise<void> {
    const seen = await this.until((line) => line["type"] === "file" && line["path"] === path, from)
    await this.until((line) => line["type"] === "quiet", seen)
  }

  #tell(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}
