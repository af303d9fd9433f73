import { isDeepStrictEqual } from "node:util"
import { Effect, FileSystem, Option, Stream } from "effect"
import { Command } from "effect/cli"
import { CorpusName } from "../../domain/Corpus.ts"
import { ExitCode } from "../../domain/Errors.ts"
import { localModelName } from "../../domain/LocalModel.ts"
import { RagFileName } from "../../domain/RagFile.ts"
import type { Context, Ranking } from "../../domain/Retrieval.ts"
import { printable } from "../../domain/Text.ts"
import type { Definition } from "../../pipeline/definition/Definition.ts"
import type { GeneratorSettings } from "../../pipeline/definition/StageSettings.ts"
import { Host } from "../../pipeline/Host.ts"
import { Connectors, Models } from "../../pipeline/Services.ts"
import { Corpora } from "../../ports/Corpora.ts"
import { Engine } from "../../ports/Engine.ts"
import { exitWith } from "../Exit.ts"
import { describeServer } from "../ModelServers.ts"
import { Output } from "../Output.ts"
import { fromHere } from "../Paths.ts"
import { plural } from "../render/Numbers.ts"
import { wrap } from "../render/Wrap.ts"
import { root } from "../Root.ts"
import { UsageError } from "../UsageError.ts"
import { atItsPlace, onEngine, openPipeline, pipelineArgument, reading } from "../Session.ts"

/** A check, and what to do when it fails. */
interface Check {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
  readonly fix?: string
}

/** Bytes for which a data directory should have space: a small run needs them. */
const spaceNeeded = 1_000_000

/** `sluice doctor`: checks one thing after another and says how to fix each failure. */
export const doctor = Command.make(
  "doctor",
  { pipeline: pipelineArgument },
  Effect.fn(function*(args) {
    const { dataDir, json } = yield* root
    const output = yield* Output
    const fs = yield* FileSystem.FileSystem
    const host = yield* Host
    const checks: Array<Check> = []
    /** Runs a check; an error becomes its finding. */
    const check = <A, E extends { readonly message: string }, R>(
      name: string,
      effect: Effect.Effect<A, E, R>,
      detail: (value: A) => string
    ) =>
      Effect.result(effect).pipe(Effect.map((result) => {
        if (result._tag === "Success") {
          checks.push({ check: name, ok: true, detail: detail(result.success) })
          return Option.some(result.success)
        }
        const { failure } = result
        const fix = "fix" in failure && typeof failure.fix === "string" ? failure.fix : undefined
        checks.push({ check: name, ok: false, detail: failure.message, fix })
        return Option.none<A>()
      }))

    checks.push({ check: "node", ok: true, detail: `${process.versions.node}, with SQLite ${process.versions["sqlite"] ?? "of its own"}` })
    const missing = yield* Effect.promise(async () => (await import("../../text/parse/pdf/Packages.ts")).missingReaders())
    checks.push(...missing.map(({ consequence, name }): Check => ({
      check: "parsers",
      ok: false,
      detail: `${name} is not installed or does not load: ${consequence}`,
      fix: "install sluice again on this platform, with optional dependencies (npm install --include=optional)"
    })))
    if (missing.length === 0) checks.push({ check: "parsers", ok: true, detail: "every parser is installed for this platform" })
    const { findModelServers } = yield* Effect.promise(() => import("../../models/ModelServers.ts"))
    const servers = yield* findModelServers(process.env)
    // A failing server is a fault only if the pipeline uses it, which is checked below.
    checks.push(...servers.map((server): Check => ({ check: "model server", ok: true, detail: describeServer(server) })))
    if (servers.length === 0) {
      checks.push({
        check: "model server",
        ok: true,
        detail: "none in OPENAI_BASE_URL or at the usual ports of this machine; none is needed"
      })
    }
    const writable = Effect.gen(function*() {
      const there = yield* fs.exists(dataDir)
      if (there) {
        yield* fs.access(dataDir, { writable: true }).pipe(
          Effect.mapError(() =>
            new UsageError({ message: `${dataDir} cannot be written`, fix: "make it writable, or use another --data-dir" })
          )
        )
        yield* fs.makeTempFileScoped({ directory: dataDir, prefix: "doctor-" }).pipe(
          Effect.flatMap((file) => fs.writeFile(file, new Uint8Array(spaceNeeded))),
          Effect.scoped,
          Effect.mapError(() =>
            new UsageError({
              message: `${dataDir} has no space for a file of ${spaceNeeded / 1e6} MB`,
              fix: "free some space, or check the quota and the limit of a file's size (ulimit -f)"
            })
          )
        )
      }
      return there
    })
    yield* check("data directory", writable, (there) => there ? `${dataDir} can be written` : `${dataDir} will be made by the first run`)
    const state = yield* check("database", host.inspect, (found) => found ?? "none yet; the first run makes it")
    const loaded = yield* check(
      "pipeline",
      openPipeline(args.pipeline),
      ({ file, pipeline }) => `${fromHere(file)} is valid for the ${pipeline.engine._tag} engine`
    )
    if (Option.isSome(loaded) && Option.isSome(state)) {
      const { pipeline } = loaded.value
      const onTheWay = pipeline.engine._tag === "vertex"
        ? yield* Effect.flatMap(
          Effect.promise(() => import("../../compose/Vertex.ts")),
          ({ vertexChecks }) => vertexChecks(pipeline, { dataDir })
        )
        : []
      checks.push(...onTheWay)
      // The checks above have reported what opening the engine would.
      if (onTheWay.every(({ ok }) => ok)) {
        yield* check(
          "engine",
          onEngine(
            loaded.value,
            reading,
            Effect.gen(function*() {
              const corpora = yield* Corpora
              const { checkEmbedder, checkVectors, imports } = yield* Engine
              const [{ importSource }, { canBeLeft, leftOnPurpose, whyLeft }] = yield* Effect.promise(() =>
                Promise.all([import("../../domain/sources/ImportSource.ts"), import("../../pipeline/sync/Sources.ts")])
              )
              const { commonSettings } = yield* Effect.promise(() => import("../../pipeline/definition/SourceSettings.ts"))
              const { items, nextToken } = yield* corpora.list({ size: 100 })
              const [{ generationsOf }, { generationLines }] = yield* Effect.promise(() =>
                Promise.all([import("../../pipeline/RunPipeline.ts"), import("../render/Generations.ts")])
              )
              const generations = yield* generationsOf(pipeline)
              if (generations.length > 0) {
                yield* check("generations", Effect.succeed(generationLines(generations).join(". ")), (found) => found)
              }
              const { displayName, vectorDb } = pipeline.corpus
              const corpusOf = (role: "live" | "candidate") =>
                generations.filter((each) => each.role === role).map(({ corpus }) => CorpusName.make(corpus))[0]
              if (checkVectors !== undefined && vectorDb._tag !== "managed") {
                const serving = corpusOf("live") ?? items.find((corpus) => corpus.displayName === displayName)?.name
                // The live corpus is checked with the settings it was built with, even if the file describes a candidate.
                const live = yield* check(
                  "vectors",
                  onEngine(loaded.value, { mode: "read", of: "live" }, ({ corpus }) =>
                    Effect.gen(function*() {
                      const { checkVectors } = yield* Engine
                      if (checkVectors === undefined || corpus.vectorDb._tag === "managed") return { corpus, found: "the engine's own" }
                      return { corpus, found: yield* checkVectors(corpus.vectorDb, serving) }
                    })),
                  ({ found }) => found
                )
                const candidate = corpusOf("candidate")
                if (candidate !== undefined && Option.isSome(live) && !isDeepStrictEqual(live.value.corpus, pipeline.corpus)) {
                  yield* check("candidate", atItsPlace(loaded.value, checkVectors(vectorDb, candidate)), (found) => found)
                }
              }
              if (checkEmbedder !== undefined) yield* check("embedding", checkEmbedder, (found) => found)
              for (const ranking of rankings(pipeline)) {
                yield* check(`rank ${ranking._tag}`, rankOnce(ranking), () => `${localModelName(ranking)} opens, and orders two texts`)
              }
              const standIns = items.filter(({ errorStatus, state }) => state === "ACTIVE" && errorStatus !== undefined)
              yield* Effect.forEach(
                standIns,
                ({ displayName, errorStatus = "" }) =>
                  check("stand-in", Effect.succeed(`corpus ${displayName}: ${errorStatus}`), (found) => found),
                { discard: true }
              )
              const writer = pipeline.stages.flatMap((stage) => "model" in stage && stage.model._tag === "openai" ? [stage.model] : [])[0]
              if (writer !== undefined) yield* check("model", callOnce(writer), () => `${writer.model} at ${writer.url} answers`)
              const judge = pipeline.judge?.model
              if (judge?._tag === "openai") yield* check("judge", callOnce(judge), () => `${judge.model} at ${judge.url} answers`)
              const connectors = yield* Connectors
              yield* Effect.forEach(Object.entries(pipeline.sources), ([id, source]) => {
                const imported = importSource(source)
                const fetched = imported !== undefined && imports?.sources.has(imported._tag) === true ? imported : undefined
                const { listing } = commonSettings(source)
                const importOnly = (why: string) => Effect.succeed(`import-only: ${pipeline.engine._tag} lists it by itself; ${why}`)
                return check(
                  `source ${id}`,
                  fetched !== undefined && listing === "service"
                    ? importOnly(leftOnPurpose)
                    : Effect.flatMap(connectors.make(source), (connector) => Effect.as(connector.check, `${connector.kind} can be listed`))
                      .pipe(
                        Effect.catchIf(
                          (error) => fetched !== undefined && canBeLeft(fetched, listing, error),
                          (error) => importOnly(whyLeft(error))
                        )
                      ),
                  (detail) => detail
                )
              }, { discard: true })
              return nextToken === undefined ? plural(items.length, "corpus", "corpora") : `${items.length} corpora and more`
            })
          ),
          (corpora) => `${pipeline.engine._tag} answers, and has ${corpora}`
        )
      }
    }
    const ok = checks.every((finding) => finding.ok)
    if (json) yield* output.json({ version: 1, type: "doctor", ok, checks })
    else for (const finding of checks) yield* output.print(render(finding, output))
    return yield* exitWith(ok ? ExitCode.done : ExitCode.error)
  })
).pipe(
  Command.withShortDescription("Check everything, and say how to fix problems."),
  Command.withDescription(
    "Check the installation, the state database (every page and checksum of it), the pipeline, the engine and every source, and say how to fix problems. Exits 1 when there are any."
  ),
  Command.withExamples([
    { command: "sluice doctor", description: "before the first run, or when something fails" },
    { command: "sluice doctor pipeline.yaml --json", description: "for a health check" }
  ])
)

/** Calls the model of a pipeline for one token. */
const callOnce = Effect.fnUntraced(function*(settings: GeneratorSettings) {
  const { chat } = yield* Models
  const model = yield* chat(settings)
  yield* Stream.runDrain(model.stream({ turns: [{ role: "user", parts: [{ type: "text", text: "Say yes." }] }], maxTokens: 1 }))
}, Effect.scoped)

/** Cross encoders that a pipeline names. */
const rankings = ({ stages }: Definition) =>
  stages.flatMap((stage) => "rank" in stage && stage.rank?._tag === "crossEncoder" ? [stage.rank] : [])

const rankOnce = Effect.fnUntraced(function*(ranking: Ranking) {
  const { ranker } = yield* Models
  const text = (text: string): Context => ({
    chunkId: text,
    file: RagFileName.make(text),
    sourceUri: text,
    sourceDisplayName: text,
    text,
    headings: [],
    score: 0
  })
  yield* (yield* ranker(ranking)).rank("yes", [text("yes"), text("no")])
}, Effect.scoped)

const render = ({ check, detail, fix, ok }: Check, { paint, width }: Output["Service"]): string => {
  const mark = ok ? paint("green", "ok    ") : paint("red", "FAILED")
  const head = `${mark}  ${check.padEnd(14)}  `
  const indent = " ".repeat(24)
  return `${head}${wrap(printable(detail), width, indent)}${
    fix === undefined ? "" : `\n${indent}${wrap(printable(`fix: ${fix}`), width, indent)}`
  }`
}
