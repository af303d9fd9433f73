import { Context, Effect } from "effect"
import type { CorpusSpec } from "../../domain/Corpus.ts"
import { ServiceError, type StateError } from "../../domain/Errors.ts"
import { Corpora } from "../../ports/Corpora.ts"
import { Engine } from "../../ports/Engine.ts"
import { type Generation, Ledger, type Role } from "../../ports/Ledger.ts"
import type { Definition } from "../definition/Definition.ts"
import { builtBy, decodeBuilt, describes, type Difference, differences } from "./Built.ts"
import { checkLosses, type LossRules } from "./Deleting.ts"
import { ignoreMissing } from "./Failures.ts"
import type { Named } from "./Session.ts"

/** The ledger's key of a pipeline: the same one on another target is another. */
export const scopeOf = (engine: Pick<Engine["Service"], "target">, pipeline: string): string => `${engine.target}#${pipeline}`

/** The names that a pipeline's runs are accounted for by. */
export const namesIn = ({ name, renamedFrom }: Pick<Definition, "name" | "renamedFrom">): Named => ({ pipeline: name, renamedFrom })

/** Which generation is asked, and looked at. Default: the live one. */
export const GenerationInUse = Context.Reference<"live" | "candidate">("sluice/pipeline/sync/GenerationInUse", {
  defaultValue: () => "live"
})

/** A pipeline's generations on one target. */
export interface Generations {
  /** The ledger's key of the pipeline: that of the name it had, until a run has taken that over. */
  readonly key: string
  readonly live: Generation | undefined
  readonly candidate: Generation | undefined
  /** Those to go back to, the newest first. */
  readonly kept: ReadonlyArray<Generation>
  /** Every one, deleted ones too, the newest first. */
  readonly all: ReadonlyArray<Generation>
}

const generationsUnder = (ledger: Ledger["Service"], key: string): Effect.Effect<Generations, StateError> =>
  Effect.map(ledger.generations(key), (all) => {
    const of = (role: Role) => all.filter((generation) => generation.role === role)
    return { key, live: of("live")[0], candidate: of("candidate")[0], kept: of("kept"), all }
  })

/** The generations of a pipeline. */
export const findGenerations = (named: Named) => Effect.flatMap(Engine, (engine) => generationsAt(engine, named))

/** Those that it has on a target. */
export const generationsAt = (engine: Pick<Engine["Service"], "target">, { pipeline, renamedFrom }: Named) =>
  Effect.flatMap(Ledger, (ledger) => {
    const own = generationsUnder(ledger, scopeOf(engine, pipeline))
    return renamedFrom === undefined ? own : Effect.flatMap(own, (found) => ownOrOld(ledger, found, scopeOf(engine, renamedFrom)))
  })

/** Those under the name that a pipeline had, as long as no run has put anything under its own. */
const ownOrOld = Effect.fnUntraced(function*(ledger: Ledger["Service"], own: Generations, before: string) {
  // A run that ended early leaves a record with nothing in it.
  for (const { scope } of own.all) if ((yield* ledger.sources(scope)).length > 0) return own
  const old = yield* generationsUnder(ledger, before)
  return old.all.length === 0 ? own : old
})

/** The generation that is asked: {@link GenerationInUse}. Undefined before the first run. */
export const findGeneration = Effect.fnUntraced(function*(named: Named) {
  const found = yield* findGenerations(named)
  if ((yield* GenerationInUse) === "live") return { ...found, inUse: found.live, scope: found.live?.scope ?? found.key }
  if (found.candidate === undefined) return yield* noCandidate(named)
  return { ...found, inUse: found.candidate, scope: found.candidate.scope }
})

/** The key under which the ledger accounts for the generation that is asked. */
export const findScope = (named: Named) => Effect.map(findGeneration(named), ({ scope }) => scope)

const noCandidate = ({ pipeline }: Named): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `${pipeline} has no candidate`,
    fix: "build one beside the corpus that serves: sluice run --candidate"
  })

/** A generation that is not there yet, and is the next of its pipeline. */
export const nextGeneration = ({ all, key }: Pick<Generations, "all" | "key">): Pick<Generation, "scope" | "number"> => {
  const number = (all[0]?.number ?? 0) + 1
  return { number, scope: number === 1 ? key : `${key}~${number}` }
}

const longestDisplayName = 128

/** What a corpus is called in its target: the one that serves has the pipeline's name, and the others say what they are. */
export const displayNameOf = (
  { number, role }: Pick<Generation, "number" | "role">,
  { displayName }: Pick<CorpusSpec, "displayName">
): string => {
  if (role === "live") return displayName
  const suffix = role === "candidate" ? " (candidate)" : ` (generation ${number})`
  return Array.from(displayName).slice(0, longestDisplayName - suffix.length).join("") + suffix
}

/**
 * Brings the target in line with the roles that the ledger gives: renames corpora whose role has changed, and deletes
 * the retired ones. Asks the target nothing where nothing is to do. Killed on the way, the next one goes on.
 */
export const settleGenerations = Effect.fn("sync.settleGenerations")(function*(key: string, spec: Pick<CorpusSpec, "displayName">) {
  const corpora = yield* Corpora
  const ledger = yield* Ledger
  const { all, candidate, kept, live } = yield* generationsUnder(ledger, key)
  // The one that serves comes first: whoever looks for the name finds at least one.
  for (const generation of [live, candidate, ...kept]) {
    if (generation === undefined) continue
    const name = displayNameOf(generation, spec)
    // A name that we gave is recorded; of any other a run decides.
    if (generation.name === name || (generation.role === "live" && generation.name === undefined)) continue
    yield* corpora.update(generation.corpus, { displayName: name }).pipe(ignoreMissing)
    yield* ledger.noteGeneration(generation.scope, { name })
  }
  for (const { corpus, role, scope } of all) {
    if (role !== "retired") continue
    yield* corpora.delete(corpus, { force: true }).pipe(ignoreMissing)
    yield* ledger.retire(key, scope)
  }
})

/** Generations that are kept to go back to, where the pipeline does not say. */
export const defaultKept = 1

/** What of a pipeline decides how its generations change places. */
export interface Succession extends Named {
  readonly corpus: Pick<CorpusSpec, "displayName">
  /** Generations kept to go back to. Default {@link defaultKept}. */
  readonly keep?: number
}

/** How two generations have changed places. */
export interface Switched {
  readonly live: Generation
  /** The one that served before. */
  readonly before: Generation | undefined
  /** Those that were deleted. */
  readonly deleted: ReadonlyArray<Generation>
}

/**
 * The candidate takes the place of the one that serves, in one step of the ledger: readers find the one or the other.
 * The one that served is kept to go back to; those beyond `keep` are deleted. Fails where the candidate is not whole,
 * and with `Held` where it lacks files, by the rule that holds deletes.
 */
export const promote = Effect.fn("sync.promote")(function*(spec: Succession, rules: LossRules) {
  const found = yield* findGenerations(spec)
  const { candidate, kept, key, live } = found
  if (candidate === undefined) return yield* noCandidate(spec)
  const corpora = yield* Corpora
  yield* corpora.get(candidate.corpus)
  if (candidate.whole === undefined) {
    return yield* new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `the candidate, generation ${candidate.number}, is not whole: no run of it has stored all that the sources have`,
      fix: "run it to its end: sluice run --candidate"
    })
  }
  if (live !== undefined) yield* checkLosses(live.scope, candidate.scope, rules)
  const before = live === undefined ? kept : [live, ...kept]
  const keep = spec.keep ?? defaultKept
  return yield* change(
    spec,
    key,
    {
      ...Object.fromEntries(before.map(({ scope }, at) => [scope, at < keep ? "kept" : "retired"] as const)),
      [candidate.scope]: "live"
    },
    candidate,
    live
  )
})

/**
 * The generation that served last takes its place again, in one step. The one that served is the candidate then, to be
 * mended or promoted again; where there is a candidate already, that stays, and the one that served is deleted.
 */
export const rollback = Effect.fn("sync.rollback")(function*(spec: Succession) {
  const { candidate, kept: [newest], key, live } = yield* findGenerations(spec)
  if (newest === undefined) {
    return yield* new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `no earlier generation of ${spec.pipeline} is kept`,
      fix: "corpus.keepGenerations says how many a promotion keeps"
    })
  }
  yield* (yield* Corpora).get(newest.corpus)
  return yield* change(
    spec,
    key,
    {
      ...(live === undefined ? {} : { [live.scope]: candidate === undefined ? "candidate" : "retired" } as const),
      [newest.scope]: "live"
    },
    newest,
    live
  )
})

/** Gives the candidate up: it is deleted, and the one that serves stays. */
export const dropCandidate = Effect.fn("sync.dropCandidate")(function*(spec: Succession) {
  const { candidate, key } = yield* findGenerations(spec)
  if (candidate === undefined) return yield* noCandidate(spec)
  yield* (yield* Ledger).assign(key, { [candidate.scope]: "retired" })
  yield* settleGenerations(key, spec.corpus)
  return candidate
})

const change = Effect.fnUntraced(function*(
  { corpus }: Succession,
  key: string,
  roles: Readonly<Record<string, Role>>,
  live: Generation,
  before: Generation | undefined
) {
  const corpora = yield* Corpora
  const ledger = yield* Ledger
  const { displayName } = corpus
  // It has its name before it serves, so that nobody who looks for the name finds none; noted first, to be taken back.
  yield* ledger.noteGeneration(live.scope, { name: displayName })
  yield* corpora.update(live.corpus, { displayName })
  const retired = (yield* ledger.generations(key)).filter(({ scope }) => roles[scope] === "retired")
  yield* ledger.assign(key, roles)
  yield* settleGenerations(key, corpus)
  return { live: { ...live, role: "live" }, before, deleted: retired } satisfies Switched
})

/** A generation as people are told of it. */
export interface GenerationStatus {
  readonly number: number
  readonly role: Role
  readonly corpus: string
  /** RFC 3339; absent where an older Sluice made it. */
  readonly made?: string
  /** All that the sources had was stored in it. */
  readonly whole: boolean
  /** Files stored in it, as they were when a run last looked. */
  readonly files: number
  /** What of its settings is not as the live one's. */
  readonly differs: ReadonlyArray<Difference>
}

const order: ReadonlyArray<Role> = ["live", "candidate", "kept", "retired"]

/** The generations that are there, the one that serves first, with what tells the others from it. */
export const generationsStatus = Effect.fn("sync.generationsStatus")(function*(named: Named) {
  const ledger = yield* Ledger
  const { all, live } = yield* findGenerations(named)
  const there = order.flatMap((wanted) => all.filter(({ role }) => role === wanted))
  return yield* Effect.forEach(there, (generation) =>
    Effect.map(
      ledger.count(generation.scope),
      ({ done = 0 }): GenerationStatus => ({
        number: generation.number,
        role: generation.role,
        corpus: generation.corpus,
        made: generation.made === undefined ? undefined : new Date(generation.made).toISOString(),
        whole: generation.whole !== undefined,
        files: done,
        differs: generation.built === undefined || live?.built === undefined || generation.scope === live.scope
          ? []
          : differences(decodeBuilt(live.built), decodeBuilt(generation.built))
      })
    ))
})

/**
 * What the one that serves is built by, where the pipeline's file describes another generation than that: what changes
 * the file says are then for that one. Undefined where the file describes the live one, or something new.
 */
export const liveSettings = Effect.fn("sync.liveSettings")(function*(pipeline: Definition, target: string) {
  const { all, live } = yield* generationsAt({ target }, namesIn(pipeline))
  const declared = decodeBuilt(builtBy(pipeline, ""))
  if (live?.built === undefined) return { live, built: undefined }
  const built = decodeBuilt(live.built)
  const another = !describes(declared, built) &&
    all.some((other) => other.scope !== live.scope && other.built !== undefined && describes(declared, decodeBuilt(other.built)))
  return { live, built: another ? built : undefined }
})
