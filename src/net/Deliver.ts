import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { Clock, Duration, Effect, Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { type SecretError, ServiceError } from "../domain/Errors.ts"
import { type NotifySettings, privateHostOf, recipientOf } from "../domain/Hooks.ts"
import { standardSignature } from "../domain/StandardWebhooks.ts"
import type { Secrets } from "../ports/Secrets.ts"
import { call } from "./Call.ts"
import { discard } from "./Download.ts"
import { redactText } from "../domain/Redact.ts"

/** Attempts after the first, and milliseconds before and between them: the end of the run waits for these too. */
const retries = { times: 2, baseMs: 500, capMs: 5_000, maxRetryAfterMs: 10_000 }

/** Most bytes kept of a failing program's stderr. */
const mostErrorBytes = 2_000

/** Delivers a notification to a recipient: posts it, or runs a program with it on stdin. */
export const deliver = (
  secrets: Secrets["Service"],
  to: NotifySettings,
  body: string
): Effect.Effect<void, ServiceError | SecretError> => to.command === undefined ? posted(secrets, to, body) : run(to, to.command, body)

/** Posts the body, signed as in Standard Webhooks. Every attempt has the same id, so that a receiver can recognize duplicates. */
const posted = Effect.fnUntraced(function*(secrets: Secrets["Service"], to: NotifySettings, body: string) {
  const key = to.secret === undefined ? undefined : yield* secrets.resolve(to.secret)
  const id = `msg_${randomUUID().replaceAll("-", "")}`
  const request = Effect.map(Clock.currentTimeMillis, (now) => {
    const timestamp = String(Math.floor(now / 1000))
    return HttpClientRequest.post(to.url ?? "").pipe(
      HttpClientRequest.bodyText(body, "application/json"),
      HttpClientRequest.setHeaders({
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        ...(key === undefined ? {} : { "webhook-signature": standardSignature({ id, timestamp, body }, Redacted.value(key)) })
      })
    )
  })
  const Http = yield* Effect.promise(() => import("./Http.ts"))
  yield* Effect.flatMap(HttpClient.HttpClient, (http) =>
    Effect.flatMap(
      call({ http, retry: retries, timeoutMs: Duration.toMillis(to.timeout) }, `notify to ${recipientOf(to)}`, request),
      discard
    )).pipe(
      Effect.provide(Http.layer({ publicOnly: { allowHosts: privateHostOf(to) }, maxResponseBytes: 1024 * 1024 })),
      Effect.scoped
    )
})

/** Whether a variable is left out of a program's environment. */
const isSecret = (variable: string): boolean => /^SLUICE_.*(?:SECRET|KEY|TOKEN)/.test(variable)

const run = (
  to: NotifySettings,
  [program = "", ...args]: ReadonlyArray<string>,
  body: string
): Effect.Effect<void, ServiceError> =>
  Effect.callback<void, ServiceError>((resume) => {
    const child = spawn(program, args, {
      shell: false,
      stdio: ["pipe", "ignore", "pipe"],
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !isSecret(name)))
    })
    let said = ""
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-mostErrorBytes)
    })
    child.on("error", (cause) => resume(Effect.fail(failed(program, `cannot be run: ${"code" in cause ? cause.code : "unknown"}`))))
    child.on("close", (code, signal) =>
      resume(
        code === 0
          ? Effect.void
          : Effect.fail(failed(program, `ended with ${code ?? signal}${said.trim() === "" ? "" : `: ${redactText(said.trim())}`}`))
      ))
    // A program need not read its input.
    child.stdin.on("error", () => {})
    child.stdin.end(body)
    return Effect.sync(() => void child.kill("SIGKILL"))
  }).pipe(
    Effect.timeoutOrElse({
      duration: to.timeout,
      orElse: () => Effect.fail(failed(program, `did not end within ${Duration.format(to.timeout)}`))
    })
  )

const failed = (program: string, why: string): ServiceError => new ServiceError({ code: "ABORTED", message: `notify: ${program} ${why}` })
