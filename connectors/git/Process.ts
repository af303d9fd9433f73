import { Duration, Effect, type Redacted, Stream } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { PassThrough } from "node:stream"
import { collect, redactText, ServiceError } from "../../src/ConnectorKit.ts"

export interface GitCall {
  /** Names the call in messages: `fetching main of https://…`. */
  readonly what: string
  readonly args: ReadonlyArray<string>
  /** Git settings for this call alone. They are passed in the environment: arguments are visible to every user of the machine. */
  readonly config?: Readonly<Record<string, string>> | undefined
  readonly input?: string | undefined
  readonly timeout?: Duration.Duration | undefined
  /** Secrets that are redacted from errors. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted<string>> | undefined
}

/**
 * Environment variables that git may see. `GIT_DIR` and similar ones are not among them, since they would lead it to another repository.
 */
const passed =
  /^(?:path|home|user|logname|tmpdir|temp|tmp|systemroot|comspec|appdata|localappdata|userprofile|https?_proxy|no_proxy|all_proxy|ssl_cert_\w+|curl_ca_bundle|git_ssl_cainfo|git_ssl_capath|ssh_auth_sock|xdg_config_home)$/i

const environment = (config: Readonly<Record<string, string>>): NodeJS.ProcessEnv => {
  const entries = Object.entries(config)
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => passed.test(name))),
    // Messages are recognised by their English words.
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "true",
    GIT_OPTIONAL_LOCKS: "0",
    // `ext::` and similar protocols run commands.
    GIT_ALLOW_PROTOCOL: "http:https:ssh",
    GIT_SSH_COMMAND: "ssh -o BatchMode=yes -o ConnectTimeout=20",
    GIT_CONFIG_COUNT: String(entries.length),
    ...Object.fromEntries(entries.flatMap(([key, value], at) => [[`GIT_CONFIG_KEY_${at}`, key], [`GIT_CONFIG_VALUE_${at}`, value]]))
  }
}

const maxStderr = 8 * 1024

/** The output of git as a stream. Git and its child processes end with the stream, however that ends. */
export const git = (
  { args, config = {}, input, secrets, timeout = Duration.minutes(2), what }: GitCall
): Stream.Stream<Uint8Array, ServiceError> =>
  Stream.unwrap(Effect.gen(function*() {
    const started = yield* Effect.acquireRelease(Effect.sync(() => start(args, environment(config), input)), ({ child }) =>
      Effect.sync(() => end(child)))
    const failed = Effect.flatMap(
      Effect.promise(() =>
        started.exited
      ),
      (exit) => {
        if (exit === 0) return Effect.void
        return Effect.fail(exit === "absent" ? absent : errorOf(what, redactText(started.stderr(), secrets, 400)))
      }
    )
    const deadline = Effect.andThen(
      Effect.sleep(timeout),
      Effect.fail(
        new ServiceError({ code: "DEADLINE_EXCEEDED", message: `${what} took longer than ${Duration.format(timeout)}` })
      )
    )
    return Stream.fromAsyncIterable<Uint8Array, ServiceError>(started.output, () => ServiceError.internal(`${what} broke off`)).pipe(
      Stream.concat(Stream.fromEffectDrain(failed)),
      Stream.interruptWhen(deadline)
    )
  })).pipe(Stream.scoped)

/** The whole output of git, as text without the line end. For short output. */
export const gitText = (call: GitCall): Effect.Effect<string, ServiceError> =>
  Effect.map(collect(git(call)), (bytes) => bytes.toString("utf8").trimEnd())

const start = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv, input: string | undefined) => {
  // A process group of its own, so that the helpers that git starts end with it.
  const child = spawn("git", [...args], {
    env,
    detached: process.platform !== "win32",
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"]
  })
  // Read from the start: Node discards output that nobody reads when a process ends.
  const output = new PassThrough()
  child.stdout?.pipe(output)
  let stderr = ""
  child.stderr?.on("data", (piece: Buffer) => {
    if (stderr.length < maxStderr) stderr += piece.toString("utf8")
  })
  const exited = new Promise<number | "absent" | "killed">((resolve) => {
    child.once("error", () => {
      output.end()
      resolve("absent")
    })
    child.once("close", (code) => resolve(code ?? "killed"))
  })
  // Where something is wrong, git ends before it has read all input, which its exit code reports.
  child.stdin?.on("error", () => {})
  child.stdin?.end(input)
  return { child, exited, output, stderr: () => stderr }
}

const end = (child: ChildProcess): void => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  try {
    if (process.platform === "win32") child.kill()
    else process.kill(-child.pid, "SIGTERM")
  } catch {
    child.kill()
  }
}

const absent = new ServiceError({
  code: "FAILED_PRECONDITION",
  message: "git is not installed",
  fix: "install git, and make sure that it is on the PATH"
})

type Kind = readonly [words: RegExp, code: ServiceError["code"], fix?: string]

const kinds: ReadonlyArray<Kind> = [
  [
    /authentication failed|could not read (?:username|password)|invalid credentials|returned error: 401|terminal prompts disabled/i,
    "UNAUTHENTICATED",
    "give a token that may read the repository"
  ],
  [
    /returned error: 403|permission denied|access denied|host key verification failed/i,
    "PERMISSION_DENIED",
    "give a token, or a key of the SSH agent, that may read the repository"
  ],
  [
    /unable to update url base from redirection|returned error: 30\d|redirect/i,
    "FAILED_PRECONDITION",
    "give the repository's final address: redirects are not followed, as a token is sent"
  ],
  [
    /remote ref .* not found|couldn't find remote ref|not our ref|unadvertised object|needed a single revision|unknown revision|bad revision/i,
    "NOT_FOUND",
    "correct the ref"
  ],
  [
    /not a git repository|cannot change to|repository .*not found|returned error: 404|does not appear to be a git repository/i,
    "NOT_FOUND",
    "correct the address, and make sure that the token may read the repository"
  ],
  [/dubious ownership/i, "FAILED_PRECONDITION", "have git trust the folder: git config --global --add safe.directory FOLDER"],
  [
    /could not resolve host|failed to connect|connection (?:refused|reset|timed out)|couldn't connect|early eof|returned error: (?:429|5\d\d)|operation too slow|unexpected disconnect|rpc failed|hung up/i,
    "UNAVAILABLE"
  ]
]

const errorOf = (what: string, words: string): ServiceError => {
  const [, code, fix] = kinds.find(([pattern]) => pattern.test(words)) ?? [undefined, "INTERNAL" as const]
  const message = words === "" ? `${what} failed` : `${what} failed: ${words}`
  return new ServiceError({ code, message, ...(fix === undefined ? {} : { fix }) })
}
