import { Effect, Queue, type Redacted, Semaphore } from "effect"
import { asServiceError, type ServiceError } from "../domain/Errors.ts"
import type { HookSettings, HookStates } from "../domain/Hooks.ts"
import { printable } from "../domain/Text.ts"
import type { EmbeddedServerOptions } from "../compose/Server.ts"
import type { LoadedPipeline } from "../pipeline/definition/Load.ts"
import type { NoticedEvent } from "../pipeline/watch/Noticed.ts"
import { Secrets } from "../ports/Secrets.ts"
import { Output } from "./Output.ts"
import { fromHere } from "./Paths.ts"
import { plural, seconds } from "./render/Numbers.ts"
import { notToldNote } from "./render/Progress.ts"
import { batchLine } from "./render/Report.ts"
import { onEngine } from "./Session.ts"
import { UsageError } from "./UsageError.ts"

/** Milliseconds that a run waits for another sluice that writes to the same data directory; after that it is retried. */
const waitMs = 10 * 60_000

/** Most notices waiting to be recorded; each names sources, so one that finds no room adds nothing new. */
const mostWaiting = 1_000

type ServerHooks = NonNullable<EmbeddedServerOptions["hooks"]>

/** The secret version that a hook's notices are checked against. */
const secretOf = (settings: HookSettings) => {
  switch (settings._tag) {
    case "pubSub":
      return settings.token
    case "sns":
      return undefined
    default:
      return settings.secret
  }
}

/**
 * Opens the hooks of pipelines for a server, with their runs, which continue until interrupted. A missing secret fails at
 * once. All runs are sequential: they write to one data directory.
 */
export const openHooks = Effect.fnUntraced(function*(
  pipelines: ReadonlyArray<LoadedPipeline>,
  { dataDir, secretManager }: { readonly dataDir: string; readonly secretManager: boolean }
) {
  const output = yield* Output
  const [{ googleIdentity, hookCounter, snsTopics }, { hookedSources, runNoticed }, { secretsOf }] = yield* Effect.promise(() =>
    Promise.all([import("../compose/Hooks.ts"), import("../pipeline/watch/Noticed.ts"), import("../compose/Server.ts")])
  )
  const secrets = yield* Effect.provide(Secrets, yield* secretsOf({ dataDir, secretManager }))
  const turn = yield* Semaphore.make(1)
  const opened = yield* Effect.forEach(pipelines, (loaded) =>
    Effect.gen(function*() {
      const { pipeline } = loaded
      const file = fromHere(loaded.file)
      const entries = Object.entries(pipeline.hooks)
      if (entries.length === 0) {
        return yield* new UsageError({ message: `${file} has no hooks`, fix: "declare them under `hooks`: see docs/serve.md" })
      }
      const told = yield* Queue.sliding<ReadonlyArray<string>>(mostWaiting)
      const noted = yield* hookCounter(dataDir, pipeline.name)
      const hooks = yield* Effect.forEach(entries, ([name, settings]) =>
        Effect.gen(function*() {
          const version = secretOf(settings)
          if (version !== undefined) yield* secrets.resolve(version)
          const secret: Effect.Effect<Redacted.Redacted<string>, ServiceError> | undefined = version === undefined
            ? undefined
            : Effect.mapError(secrets.resolve(version), (error) => asServiceError(error).with({ code: "UNAVAILABLE" }))
          return {
            pipeline: pipeline.name,
            name,
            settings,
            secret,
            told: Queue.offer(told, settings.sources ?? hookedSources(pipeline)),
            noted: noted(name)
          }
        }))
      const say = (color: "yellow" | "green", line: string) => output.say(output.paintError(color, printable(`${pipeline.name}: ${line}`)))
      const tell = (event: NoticedEvent) =>
        event.type === "trouble"
          ? say("yellow", `${event.message}; trying again in ${seconds(event.retrySeconds)}`)
          : say(
            "green",
            `${event.sources.join(", ")}: ${batchLine(event.report) || "nothing changed"} (${seconds(event.report.seconds)})`
          )
      const runs = runNoticed(pipeline, told, ({ missesFor, observe, sources }) =>
        onEngine(
          loaded,
          { mode: "write", holder: `sluice serve --hooks ${file}`, waitMs },
          (definition) =>
            Effect.gen(function*() {
              const { runPipeline } = yield* Effect.promise(() => import("../pipeline/RunPipeline.ts"))
              return yield* runPipeline(definition, {
                sources,
                missesFor,
                observe: (event) =>
                  event.type === "notified" && event.error !== undefined
                    ? say("yellow", notToldNote(event.to, event.error))
                    : observe(event)
              })
            })
        ).pipe(turn.withPermits(1)), tell)
      return { hooks, runs }
    }))
  const hooks: ServerHooks = {
    hooks: opened.flatMap(({ hooks }) => hooks),
    identity: yield* googleIdentity(),
    topics: yield* snsTopics()
  }
  return { hooks, runs: Effect.all(opened.map(({ runs }) => runs), { concurrency: "unbounded", discard: true }) }
})

/** Lists the notices received, a line per hook of a pipeline, for people. */
export const hookLines = (names: ReadonlyArray<string>, states: HookStates): ReadonlyArray<string> =>
  names.map((name) => {
    const { ignored = 0, lastRefused, lastTaken, refused = 0, taken = 0 } = states[name] ?? {}
    const at = (time: number | undefined) => time === undefined ? "" : `, the last ${new Date(time).toISOString()}`
    return [
      `hook ${name}: ${taken === 0 ? "no notice yet" : `${plural(taken, "notice")}${at(lastTaken)}`}`,
      ...(refused === 0 ? [] : [`${plural(refused, "notice")} refused${at(lastRefused)}`]),
      ...(ignored === 0 ? [] : [`${plural(ignored, "notice")} with nothing to do`])
    ].join("; ")
  })
