import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Clock, Effect, Schema } from "effect"
import { type HookState, HookStates } from "../domain/Hooks.ts"
import type { NoticeOutcome } from "../server/Hooks.ts"

export { googleIdentity } from "../net/GoogleIdentity.ts"
export { snsTopics } from "../net/SnsTopics.ts"

const fileOf = (dataDir: string, pipeline: string): string => join(dataDir, "server", "hooks", `${pipeline}.json`)

/** What the server of a data directory has recorded of the notices of a pipeline's hooks; empty where none came yet. */
export const readHookStates = (dataDir: string, pipeline: string): Effect.Effect<HookStates> =>
  Effect.try(() => readFileSync(fileOf(dataDir, pipeline), "utf8")).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(HookStates))),
    Effect.orElseSucceed(() => ({}))
  )

const none: HookState = { taken: 0, refused: 0, ignored: 0 }

/** How often counts are written at most, so that a sender of nonsense cannot keep the disk busy. */
const writeEvery = "1 second"

/** Counts notices of a pipeline's hooks for {@link readHookStates}, starting from the counts of an earlier server. */
export const hookCounter = Effect.fnUntraced(function*(dataDir: string, pipeline: string) {
  const states: Record<string, HookState> = { ...yield* readHookStates(dataDir, pipeline) }
  let changed = false
  const file = fileOf(dataDir, pipeline)
  // The counts are only for people: a full disk is no reason to refuse notices.
  const write = Effect.ignore(Effect.try(() => {
    if (!changed) return
    changed = false
    mkdirSync(join(dataDir, "server", "hooks"), { recursive: true, mode: 0o700 })
    writeFileSync(`${file}.new`, JSON.stringify(states), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }))
  yield* Effect.addFinalizer(() => write)
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(writeEvery), write)))
  return (hook: string) => (outcome: NoticeOutcome): Effect.Effect<void> =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const before = states[hook] ?? none
      states[hook] = {
        ...before,
        [outcome]: before[outcome] + 1,
        ...(outcome === "taken" ? { lastTaken: now } : outcome === "refused" ? { lastRefused: now } : {})
      }
      changed = true
    })
})
