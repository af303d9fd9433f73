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

/** Key of a pipeline in the ledger: the same pipeline has another key on another target. */
export const pipelineKeyOf = (engine: Pick<Engine["Service"], "target">, pipeline: string): string => `${engine.target}#${pipeline}`

/** The names under which a pipeline's runs are recorded. */
export const namesIn = ({ name, renamedFrom }: Pick<Definition, "name" | "renamedFrom">): Named => ({ pipeline: name, renamedFrom })

/** Which generation is read. Default: the live one. */
export const GenerationInUse = Context.Reference<"live" | "candidate">("sluice/pipeline/sync/GenerationInUse", {
  defaultValue: () => "live"
})

/** A pipeline's generations on one target. */
export interface Generations {
  /** Key of the pipeline in the ledger: that of its former name, until a run has taken that over. */
  readonly pipelineKey: string
  readonly live: Generation | undefined
  readonly candidate: Generation | undefined
  /** Generations kept to roll back to, newest first. */
  readonly kept: ReadonlyArray<Generation>
  /** Every generation, deleted ones included, newest first. */
  readonly all: ReadonlyArray<Generation>
}

const generationsUnder = (ledger: Ledger["Service"], pipelineKey: string): Effect.Effect<Generations, StateError> =>
  Effect.map(ledger.generations(pipelineKey), (all) => {
    const of = (role: Role) => all.filter((generation) => generation.role === role)
    return { pipelineKey, live: of("live")[0], candidate: of("candidate")[0], kept: of("kept"), all }
  })

/** Finds the generations of a pipeline on the engine's target. */
export const findGenerations = (named: Named) => Effect.flatMap(Engine, (engine) => generationsAt(engine, named))

/** Finds the generations of a pipeline on a target. */
export const generationsAt = (engine: Pick<Engine["Service"], "target">, { pipeline, renamedFrom }: Named) =>
  Effect.flatMap(Ledger, (ledger) => {
    const own = generationsUnder(ledger, pipelineKeyOf(engine, pipeline))
    return renamedFrom === undefined ? own : Effect.flatMap(own, (found) => ownOrOld(ledger, found, pipelineKeyOf(engine, renamedFrom)))
  })

/** The generations under the pipeline's former name, as long as no run has stored anything under its own. */
const ownOrOld = Effect.fnUntraced(function*(ledger: Ledger["Service"], own: Generations, before: string) {
  // A run that ended early leaves a generation without entries.
  for (const { scope } of own.all) if ((yield* ledger.sources(scope)).length > 0) return own
  const old = yield* generationsUnder(ledger, before)
  return old.all.length === 0 ? own : old
})

/** Finds the generation to read: {@link GenerationInUse}. Undefined before the first run. */
export const findGeneration = Effect.fnUntraced(function*(named: Named) {
  const found = yield* findGenerations(named)
  if ((yield* GenerationInUse) === "live") return { ...found, inUse: found.live, scope: found.live?.scope ?? found.pipelineKey }
  if (found.candidate === undefined) return yield* noCandidate(named)
  return { ...found, inUse: found.candidate, scope: found.candidate.scope }
})

/** Finds the ledger's key of the generation to read. */
export const findScope = (named: Named) => Effect.map(findGeneration(named), ({ scope }) => scope)

const noCandidate = ({ pipeline }: Named): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `${pipeline} has no candidate`,
    fix: "build one beside the live corpus: sluice run --candidate"
  })

/** The newest runs of the live corpus, those that built it as a candidate included; at most `limit`. */
export const liveRuns = ({ live, pipelineKey }: Pick<Generations, "live" | "pipelineKey">, limit: number) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger
    const runs = yield* Effect.forEach(new Set([pipelineKey, live?.scope ?? pipelineKey]), (scope) => ledger.runs(scope, limit))
    return runs.flat().toSorted((a, b) => b.started - a.started).slice(0, limit)
  })

/** Number and key of a pipeline's next generation. */
export const nextGeneration = ({ all, pipelineKey }: Pick<Generations, "all" | "pipelineKey">): Pick<Generation, "scope" | "number"> => {
  const number = (all[0]?.number ?? 0) + 1
  return { number, scope: number === 1 ? pipelineKey : `${pipelineKey}~${number}` }
}

const longestDisplayName = 128

/** Display name of a corpus in its target: the live one has the pipeline's, and the others state their role. */
export const displayNameOf = (
  { number, role }: Pick<Generation, "number" | "role">,
  { displayName }: Pick<CorpusSpec, "displayName">
): string => {
  if (role === "live") return displayName
  const suffix = role === "candidate" ? " (candidate)" : ` (generation ${number})`
  return Array.from(displayName).slice(0, longestDisplayName - suffix.length).join("") + suffix
}

/**
 * Brings the target in line with the roles in the ledger: renames corpora whose role has changed, and deletes retired
 * ones. Calls the target only where something has to be done. If killed midway, the next call continues.
 */
export const settleGenerations = Effect.fn("sync.settleGenerations")(function*(pipelineKey: string, spec: Pick<CorpusSpec, "displayName">) {
  const corpora = yield* Corpora
  const ledger = yield* Ledger
  const { all, candidate, kept, live } = yield* generationsUnder(ledger, pipelineKey)
  // The live generation comes first, so that at least one corpus has the name at any time.
  for (const generation of [live, candidate, ...kept]) {
    if (generation === undefined) continue
    const name = displayNameOf(generation, spec)
    // Names that Sluice set are recorded; a run decides about any other.
    if (generation.name === name || (generation.role === "live" && generation.name === undefined)) continue
    yield* corpora.update(generation.corpus, { displayName: name }).pipe(ignoreMissing)
    yield* ledger.noteGeneration(generation.scope, { name })
  }
  for (const { corpus, role, scope } of all) {
    if (role !== "retired") continue
    yield* corpora.delete(corpus, { force: true }).pipe(ignoreMissing)
    yield* ledger.retire(pipelineKey, scope)
  }
})

/** How many generations are kept to roll back to, where the pipeline does not say. */
const defaultKept = 1

/** The settings of a pipeline that govern how its generations change places. */
export interface Succession extends Named {
  readonly corpus: Pick<CorpusSpec, "displayName">
  /** How many generations are kept to roll back to. Default 1. */
  readonly keep?: number
}

/** Result of a promotion or a rollback. */
export interface Switched {
  readonly live: Generation
  /** The generation that was live before. */
  readonly before: Generation | undefined
  /** Generations that were deleted. */
  readonly deleted: ReadonlyArray<Generation>
}

/**
 * Makes the candidate live in one step of the ledger: readers see either the one or the other. The previous live
 * generation is kept to roll back to; those beyond `keep` are deleted. Fails where the candidate is not complete, and
 * with `Held` where it lacks files, by the guard of deletes.
 */
export const promote = Effect.fn("sync.promote")(function*(spec: Succession, rules: LossRules) {
  const found = yield* findGenerations(spec)
  const { candidate, kept, pipelineKey, live } = found
  if (candidate === undefined) return yield* noCandidate(spec)
  const corpora = yield* Corpora
  yield* corpora.get(candidate.corpus)
  if (candidate.whole === undefined) {
    return yield* new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `the candidate, generation ${candidate.number}, is not complete: no run of it has stored everything that the sources have`,
      fix: "run it to its end: sluice run --candidate"
    })
  }
  if (live !== undefined) yield* checkLosses(live.scope, candidate.scope, rules)
  const before = live === undefined ? kept : [live, ...kept]
  const keep = spec.keep ?? defaultKept
  return yield* change(
    spec,
    pipelineKey,
    {
      ...Object.fromEntries(before.map(({ scope }, at) => [scope, at < keep ? "kept" : "retired"] as const)),
      [candidate.scope]: "live"
    },
    candidate,
    live
  )
})

/**
 * Makes the previous live generation live again, in one step. The one that was live becomes the candidate, to be repaired
 * or promoted again; where there is a candidate already, that one stays, and the one that was live is deleted.
 */
export const rollback = Effect.fn("sync.rollback")(function*(spec: Succession) {
  const { candidate, kept: [newest], pipelineKey, live } = yield* findGenerations(spec)
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
    pipelineKey,
    {
      ...(live === undefined ? {} : { [live.scope]: candidate === undefined ? "candidate" : "retired" } as const),
      [newest.scope]: "live"
    },
    newest,
    live
  )
})

/** Deletes the candidate; the live generation stays. */
export const dropCandidate = Effect.fn("sync.dropCandidate")(function*(spec: Succession) {
  const { candidate, pipelineKey } = yield* findGenerations(spec)
  if (candidate === undefined) return yield* noCandidate(spec)
  yield* (yield* Ledger).assign(pipelineKey, { [candidate.scope]: "retired" })
  yield* settleGenerations(pipelineKey, spec.corpus)
  return candidate
})

const change = Effect.fnUntraced(function*(
  { corpus }: Succession,
  pipelineKey: string,
  roles: Readonly<Record<string, Role>>,
  live: Generation,
  before: Generation | undefined
) {
  const corpora = yield* Corpora
  const ledger = yield* Ledger
  const { displayName } = corpus
  // The corpus gets its name before it becomes live, so that a search for the name always finds one; recorded first, so
  // that it can be undone.
  yield* ledger.noteGeneration(live.scope, { name: displayName })
  yield* corpora.update(live.corpus, { displayName })
  const retired = (yield* ledger.generations(pipelineKey)).filter(({ scope }) => roles[scope] === "retired")
  yield* ledger.assign(pipelineKey, roles)
  yield* settleGenerations(pipelineKey, corpus)
  return { live: { ...live, role: "live" }, before, deleted: retired } satisfies Switched
})

/** Status of a generation, for people. */
export interface GenerationStatus {
  readonly number: number
  readonly role: Role
  readonly corpus: string
  /** When it was started, as in RFC 3339; absent where an older Sluice started it. */
  readonly made?: string
  /** Whether a run has stored everything that the sources had. */
  readonly whole: boolean
  /** Files stored in it, as of the last run. */
  readonly files: number
  /** Settings that differ from the live generation's. */
  readonly differs: ReadonlyArray<Difference>
}

const order: ReadonlyArray<Role> = ["live", "candidate", "kept", "retired"]

/** Lists the existing generations, the live one first, with how the others differ from it. */
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
 * The settings of the live generation, where the pipeline's file describes its candidate or one that is kept: the changes in
 * the file are then meant for that one. Undefined where the file describes the live generation, or something new.
 */
export const liveSettings = Effect.fn("sync.liveSettings")(function*(pipeline: Definition, target: string) {
  const { candidate, kept, live } = yield* generationsAt({ target }, namesIn(pipeline))
  const declared = decodeBuilt(builtBy(pipeline, ""))
  if (live?.built === undefined) return { live, built: undefined }
  const built = decodeBuilt(live.built)
  const others = candidate === undefined ? kept : [candidate, ...kept]
  const another = !describes(declared, built) &&
    others.some((other) => other.built !== undefined && describes(declared, decodeBuilt(other.built)))
  return { live, built: another ? built : undefined }
})
