import { Effect, Layer } from "effect"
import { CliConfig, Command, GlobalFlag } from "effect/cli"
import { ExitCode } from "../domain/Errors.ts"
import { ask } from "./commands/ask.ts"
import { batch } from "./commands/batch.ts"
import { chat } from "./commands/chat.ts"
import { corpora } from "./commands/corpora.ts"
import { diff } from "./commands/diff.ts"
import { doctor } from "./commands/doctor.ts"
import { endpoints } from "./commands/endpoints.ts"
import { explain } from "./commands/explain.ts"
import { files } from "./commands/files.ts"
import { init } from "./commands/init.ts"
import { models } from "./commands/models.ts"
import { operations } from "./commands/operations.ts"
import { plan } from "./commands/plan.ts"
import { retrieve } from "./commands/retrieve.ts"
import { retry } from "./commands/retry.ts"
import { run } from "./commands/run.ts"
import { schema } from "./commands/schema.ts"
import { serve } from "./commands/serve.ts"
import { status } from "./commands/status.ts"
import { validate } from "./commands/validate.ts"
import { watch } from "./commands/watch.ts"
import { Exited } from "./exit.ts"
import { Launcher } from "./Launcher.ts"
import { Output } from "./Output.ts"
import { presenterLayer } from "./Presenter.ts"
import { renderCause } from "./render/Error.ts"
import { root } from "./Root.ts"

const command = root.pipe(Command.withSubcommands([
  { group: "Start", commands: [init, validate, schema, doctor] },
  { group: "Keep a corpus in sync", commands: [plan, run, watch, status, diff, retry] },
  { group: "Use it", commands: [ask, chat, batch, retrieve, explain, serve] },
  { group: "Look inside", commands: [corpora, files, models, endpoints, operations] }
]))

const builtIns = [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions]

/** The command line: parses, runs, renders what went wrong. Fails with an error that carries the exit code. */
export const cli = Effect.gen(function*() {
  const { version } = yield* Launcher
  yield* Command.run(command, { version }).pipe(
    Effect.catchTag("ShowHelp", (help) => help.errors.length === 0 ? Effect.void : Effect.fail(new Exited({ code: ExitCode.invalid }))),
    // As a finalizer, so that an interrupt does not cut its own message short.
    Effect.onError(renderCause)
  )
}).pipe(Effect.provide(Layer.mergeAll(presenterLayer, CliConfig.layer({ builtIns })).pipe(Layer.provideMerge(Output.layer))))
