import { defined } from "../../domain/Defined.ts"
import { type Counts, type FileOutcome, noCounts, type ReasonCount, type Report, type SourceReport } from "../../domain/Report.ts"

/** Most notable outcomes of a kind that a report keeps; the event stream has all of them. */
const keptPerKind = 1_000

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

/** Most reasons counted; services have few errors, but their codes are not ours to bound. */
const mostReasons = 1_000

/** Kinds of notable facts about a file. */
const kindsOf = ({ outcome, remark, unfit }: FileOutcome): ReadonlyArray<ReasonCount["outcome"]> =>
  outcome === "failed" || outcome === "quarantined" || outcome === "skipped"
    ? [outcome]
    : [...(remark === undefined ? [] : ["partial" as const]), ...(unfit === undefined ? [] : ["unfit" as const])]

const typeOf = (path: string): string => /[^/\\](\.[A-Za-z0-9]{1,12})$/.exec(path)?.[1]?.toLowerCase() ?? ""

/** Counts the outcomes of a run as they happen. */
export class Tally {
  readonly #sources = new Map<
    string,
    {
      kind: string
      counts: Mutable<Counts>
      complete: boolean
      error?: string
      heldBecause?: string
      heldPaths?: ReadonlyArray<string>
      warning?: string
      note?: string
    }
  >()
  readonly #queued = new Map<string, number>()
  readonly #notable: Array<FileOutcome> = []
  readonly #kept: Record<string, number> = {}
  readonly #reasons = new Map<string, Mutable<ReasonCount> & { readonly source: string }>()
  #omitted = 0
  chunks = 0
  embedded = 0
  embeddedTokens = 0
  /** Whether files were written whose chunks and embeddings the engine does not report. */
  untold = false

  source(id: string, kind: string): void {
    this.#of(id).kind = kind
  }

  /** Undoes the counts of a listing that starts over. */
  restart(source: string): void {
    this.#of(source).counts = { ...noCounts }
    this.#queued.delete(source)
    const kept = this.#notable.splice(0)
    for (const outcome of kept) {
      if (outcome.source !== source) this.#notable.push(outcome)
      else this.#keep(outcome, -1)
    }
    for (const [key, reason] of this.#reasons) if (reason.source === source) this.#reasons.delete(key)
  }

  listed(source: string, items: number): void {
    this.#of(source).counts.listed += items
  }

  /** Adds listed items that need work; they are `pending` until {@link settled}. */
  queued(source: string, items: number): void {
    this.#queued.set(source, (this.#queued.get(source) ?? 0) + items)
  }

  /** @param embeddedTokens undefined where the engine does not report it */
  settled(outcome: FileOutcome, embeddedTokens: number | undefined): void {
    this.queued(outcome.source, -1)
    this.outcome(outcome, embeddedTokens)
    this.untold ||= embeddedTokens === undefined
  }

  /** Sets the engine's own counts of embeddings, which include files not finished yet. */
  embeddedInAll({ texts, tokens }: { readonly texts: number; readonly tokens: number }): void {
    this.embedded = texts
    this.embeddedTokens = tokens
  }

  outcome(outcome: FileOutcome, embeddedTokens = 0): void {
    this.#of(outcome.source).counts[outcome.outcome] += 1
    if (outcome.outcome === "added" || outcome.outcome === "changed") this.chunks += outcome.chunks ?? 0
    this.embedded += outcome.embedded ?? 0
    this.embeddedTokens += embeddedTokens
    const kinds = kindsOf(outcome)
    if (kinds.length === 0) return
    for (const kind of kinds) this.#reason(kind, outcome)
    if (kinds.every((kind) => (this.#kept[kind] ?? 0) >= keptPerKind)) this.#omitted += 1
    else this.#notable.push(defined(outcome))
    this.#keep(outcome, 1)
  }

  #keep(outcome: FileOutcome, count: number): void {
    for (const kind of kindsOf(outcome)) this.#kept[kind] = (this.#kept[kind] ?? 0) + count
  }

  #reason(kind: ReasonCount["outcome"], { message, path, reason = "unknown", remark, source, unfit }: FileOutcome): void {
    const taken = kind === "partial" || kind === "unfit"
    const group = { outcome: kind, reason: taken ? kind : reason, type: typeOf(path) }
    const key = [source, ...Object.values(group)].join("\0")
    const known = this.#reasons.get(key)
    if (known !== undefined) known.count += 1
    else if (this.#reasons.size < mostReasons) {
      const words = kind === "partial" ? remark : kind === "unfit" ? unfit : message
      this.#reasons.set(key, { source, ...group, count: 1, path, ...(words === undefined ? {} : { message: words }) })
    }
  }

  /** Reasons over all sources, most frequent first. */
  get reasons(): ReadonlyArray<ReasonCount> {
    const all = new Map<string, Mutable<ReasonCount>>()
    for (const { source: _, ...reason } of this.#reasons.values()) {
      const key = [reason.outcome, reason.reason, reason.type].join("\0")
      const known = all.get(key)
      if (known === undefined) all.set(key, { ...reason })
      else known.count += reason.count
    }
    return [...all.values()].sort((a, b) => b.count - a.count || (a.type < b.type ? -1 : 1))
  }

  /** Adds outcomes of which only the number matters. */
  add(source: string, kind: "unchanged" | "deleted" | "held", count: number): void {
    this.#of(source).counts[kind] += count
  }

  /** Adds the outcome of a file that no listing of ours named. */
  listedOutcome(outcome: FileOutcome): void {
    this.listed(outcome.source, 1)
    this.outcome(outcome)
  }

  /** Adds items that the service listed, of which only the number is known. */
  counted(source: string, counts: Partial<Counts>): void {
    const of = this.#of(source).counts
    for (const [key, count = 0] of Object.entries(counts)) {
      of[key as keyof Counts] += count // the keys are those of Counts
      of.listed += count
    }
  }

  /** Records the end of a source's listing; `error` says why it broke off. */
  ended(source: string, error?: string): void {
    const of = this.#of(source)
    of.complete = error === undefined
    of.error = error
  }

  isComplete(source: string): boolean {
    return this.#of(source).complete
  }

  /** @param paths the first paths of held deletes */
  held(source: string, count: number, why: string, paths: ReadonlyArray<string> = []): void {
    this.add(source, "held", count)
    const of = this.#of(source)
    of.heldBecause = of.heldBecause === undefined ? why : `${of.heldBecause}; ${why}`
    if (paths.length > 0) of.heldPaths = paths
  }

  warned(source: string, warning: string): void {
    this.#of(source).warning = warning
  }

  /** Adds a note on a source; several imports of a source have a note each. */
  noted(source: string, note: string): void {
    const of = this.#of(source)
    of.note = of.note === undefined ? note : `${of.note}; ${note}`
  }

  countsOf(source: string): Counts {
    return { ...this.#of(source).counts, pending: this.#queued.get(source) ?? 0 }
  }

  get totals(): Counts {
    const totals: Mutable<Counts> = { ...noCounts }
    for (const { counts } of this.sources) {
      for (const key of countKeys) totals[key] += counts[key]
    }
    return totals
  }

  get sources(): ReadonlyArray<SourceReport> {
    return [...this.#sources].map(([source, s]) => defined({ source, ...s, counts: this.countsOf(source) }))
  }

  report(run: Pick<Report, "pipeline" | "engine" | "corpus" | "started" | "seconds" | "ended" | "why">): Report {
    return defined({
      version: 1 as const,
      ...run,
      sources: this.sources,
      totals: this.totals,
      chunks: this.untold ? undefined : this.chunks,
      embedded: this.untold ? undefined : this.embedded,
      embeddedTokens: this.untold ? undefined : this.embeddedTokens,
      notable: this.#notable,
      omitted: this.#omitted,
      reasons: this.#reasons.size === 0 ? undefined : this.reasons
    })
  }

  #of(source: string) {
    let of = this.#sources.get(source)
    if (of === undefined) {
      of = { kind: "removed", counts: { ...noCounts }, complete: false }
      this.#sources.set(source, of)
    }
    return of
  }
}

const countKeys = Object.keys(noCounts) as ReadonlyArray<keyof Counts> // the literal's own keys, which TypeScript widens
