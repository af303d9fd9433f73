import { Clock, Effect } from "effect"
import type { SyncEvent } from "../../domain/Report.ts"
import { printable } from "../../domain/Text.ts"
import { joinsNote } from "../../pipeline/sync/Diff.ts"
import { foundNote, takesOverNote } from "../../pipeline/sync/Target.ts"
import { Output } from "../Output.ts"
import { count, plural, seconds } from "./Numbers.ts"
import { shorten } from "./Table.ts"

interface SourceProgress {
  listed: number
  work: number
  done: number
  failed: number
  /** Message of the last file that failed. */
  failure: string
  complete: boolean
  started: number
  /** Progress in percent, by operation, of imports by the engine. */
  readonly imports: Map<string, number>
}

export interface Quota {
  /** Embedding requests per minute that the pipeline allows, where embedding takes requests. */
  readonly embeddingsPerMinute?: number
}

const redraw = "100 millis"
const plainEvery = "5 seconds"

/** Estimates from less time than this, in milliseconds, are noise. */
const settling = 1_000

/**
 * Shows the progress of a run: on a terminal one live line per source, with rate and remaining time, which the report
 * then replaces; elsewhere a plain line every few seconds. Never a line per file.
 */
export const makeProgress = Effect.fnUntraced(function*(quota: Quota) {
  const output = yield* Output
  const { live } = output
  const sources = new Map<string, SourceProgress>()
  let embedded = 0
  let embeddingSince: number | undefined
  let drawn = 0
  let printed = ""

  const lines = (now: number) => [
    ...[...sources].map(([source, progress]) => line(source, progress, now)),
    ...(quota.embeddingsPerMinute === undefined || embeddingSince === undefined
      ? []
      : [quotaLine(embedded, now - embeddingSince, quota.embeddingsPerMinute)])
  ]

  /** Draws `text` over the last drawing. A line that has wrapped or scrolled away could not be overwritten. */
  const draw = ({ columns, rows }: { readonly columns: number; readonly rows: number }, text: ReadonlyArray<string>) => {
    const room = Math.max(1, rows - 2)
    const shown = text.length <= room ? text : [...text.slice(0, room - 1), `and ${text.length - room + 1} more`]
    const back = drawn > 0 ? `\r\u001b[${drawn}A\u001b[J` : ""
    if (back !== "" || shown.length > 0) {
      process.stderr.write(back + shown.map((line) => `${shorten(line, Math.max(10, columns - 1))}\n`).join(""))
    }
    drawn = shown.length
  }

  const render = Effect.gen(function*() {
    const text = lines(yield* Clock.currentTimeMillis)
    if (live !== undefined) return draw(live, text)
    const all = text.join("\n")
    if (all !== printed && all !== "") yield* output.say(all)
    printed = all
  })

  /** Prints a permanent line, above the live ones. */
  const say = (text: string) =>
    Effect.suspend(() => {
      if (live !== undefined) draw(live, [])
      return output.say(text)
    })

  // Added before the fiber that draws, so that it runs after that has ended.
  if (live !== undefined) yield* Effect.addFinalizer(() => Effect.sync(() => draw(live, [])))
  yield* render.pipe(Effect.delay(live === undefined ? plainEvery : redraw), Effect.forever, Effect.forkScoped)
  return (event: SyncEvent): Effect.Effect<void> =>
    Clock.currentTimeMillis.pipe(Effect.flatMap((now) => {
      const of = (source: string): SourceProgress => {
        let progress = sources.get(source)
        if (progress === undefined) {
          progress = { listed: 0, work: 0, done: 0, failed: 0, failure: "", complete: false, started: now, imports: new Map() }
          sources.set(source, progress)
        }
        return progress
      }
      switch (event.type) {
        case "listing":
          of(event.source).listed = event.listed
          break
        case "listed":
          Object.assign(of(event.source), { listed: event.listed, work: event.work, complete: true, started: now })
          break
        case "file": {
          const progress = of(event.source)
          // Before a listing ends, events are of items it settled, which are not work.
          if (progress.complete) progress.done += 1
          if (event.outcome === "failed") {
            progress.failed += 1
            progress.failure = event.message ?? event.reason ?? ""
          }
          if ((event.embedded ?? 0) > 0) {
            embeddingSince ??= now
            embedded += event.embedded ?? 0
          }
          break
        }
        case "importing":
          of(event.source).imports.set(event.operation, event.progress)
          break
        case "corpus":
          switch (event.action) {
            case "created":
              return say(`created corpus ${event.corpus}`)
            case "building":
              return say(`building corpus ${event.corpus}; the current one stays live until it is complete`)
            case "replaced":
              return say(`corpus ${event.corpus} is live now`)
            case "found":
              return Effect.void
          }
        case "joins":
          return say(printable(joinsNote(event.corpus, event.others)))
        case "foundInDatabase":
          return say(printable(foundNote(event.place, event.files)))
        case "takesOver":
          return say(printable(takesOverNote(event.pipeline, event.files)))
        case "stopped":
          return say(printable(`stopping: ${event.why}`))
        case "notified":
          return event.error === undefined ? Effect.void : say(printable(notToldNote(event.to, event.error)))
        case "deleted":
        case "held":
        case "report":
      }
      return Effect.void
    }))
})

/** Note for a recipient who could not be notified of a run. */
export const notToldNote = (to: string, why: string): string => `${to} was not notified of this run: ${why}`

const line = (source: string, p: SourceProgress, now: number): string => {
  const name = printable(source)
  const running = [...p.imports.values()].filter((progress) => progress < 100)
  if (running.length > 0) return `${name}  the service imports: ${running.map((progress) => `${progress}%`).join(", ")}`
  if (!p.complete) return `${name}  listing, ${plural(p.listed, "file")} so far`
  const failed = p.failed > 0 ? `, ${count(p.failed)} failed` : ""
  if (p.done >= p.work) return `${name}  ${plural(p.listed, "file")} listed, ${count(p.work)} looked at${failed}`
  const elapsed = now - p.started
  const rate = p.done / Math.max(0.001, elapsed / 1000)
  const left = elapsed > settling && rate > 0 ? `, ${perSecond(rate)}, ${seconds((p.work - p.done) / rate)} left` : ""
  const failure = p.failure === "" ? "" : `; the last failure: ${printable(p.failure)}`
  return `${name}  ${bar(p.done / p.work)} ${count(p.done)} of ${plural(p.work, "file")}${failed}${left}${failure}`
}

const perSecond = (rate: number): string => (rate < 10 ? `${rate.toFixed(1)}/s` : `${count(rate)}/s`)

const barWidth = 16

const bar = (part: number): string => {
  const full = Math.min(barWidth, Math.floor(part * barWidth))
  return `[${"#".repeat(full)}${".".repeat(barWidth - full)}]`
}

const quotaLine = (embedded: number, elapsed: number, quota: number): string => {
  const perMinute = elapsed < settling ? embedded : embedded * 60_000 / elapsed
  return `embedding  ${count(embedded)} chunks, ${count(perMinute)} a minute of ${count(quota)} allowed`
}
