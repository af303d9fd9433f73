import { Clock, Duration, Effect, Redacted, Semaphore, Stream } from "effect"
import { hash } from "node:crypto"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { mkdir, readdir, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type ConnectorContext, redactUrl, retry, type SecretError, ServiceError } from "../../src/ConnectorKit.ts"
import type { SettingsOf } from "../../src/ConnectorKit.ts"
import { git, type GitCall, gitText } from "./Process.ts"

/** Most commits of a remote that are kept, so that a listing from one of them can determine what changed. */
const keptCommits = 8

/** Most objects in one call of `cat-file`. */
const objectsOfCall = 500

type Failure = ServiceError | SecretError

/** An object of a tree: mode, id and path, as `ls-tree` and `diff-tree` print them. */
export interface TreeEntry {
  readonly mode: string
  readonly id: string
  readonly path: string
  /** Bytes of a blob; absent for other objects. */
  readonly size?: number
}

interface Repository {
  /** The repository's name in messages. */
  readonly name: string
  /** Connects to the repository and finds the ref, without fetching content. */
  readonly check: Effect.Effect<void, Failure>
  /** The commit at the ref, fetched to this machine. */
  readonly head: Effect.Effect<string, Failure>
  /** Whether a commit is on this machine. */
  readonly has: (commit: string) => Effect.Effect<boolean, Failure>
  /** Every object of a commit's tree, by path. */
  readonly tree: (commit: string) => Stream.Stream<TreeEntry, Failure>
  /** What differs between two trees, by path; without `entry` the path is gone. */
  readonly changes: (from: string, to: string) => Stream.Stream<{ readonly path: string; readonly entry?: TreeEntry }, Failure>
  /** Size in bytes of each object, by id. */
  readonly sizes: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, number>, Failure>
  /** Contents of small objects, by id. */
  readonly contents: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, Buffer>, Failure>
  readonly blob: (id: string) => Stream.Stream<Uint8Array, Failure>
}

export const openRepository = (config: SettingsOf<"git">, context: Partial<ConnectorContext>): Repository =>
  config.url === undefined ? local(config.path ?? ".", config.ref ?? "HEAD") : remote(config.url, config, context)

const local = (path: string, ref: string): Repository => {
  const call = inRepository(path, path)
  const head = gitText(call(["rev-parse", "--verify", "--end-of-options", `${ref}^{commit}`])).pipe(
    Effect.mapError((error) =>
      error.code === "NOT_FOUND" && existsSync(path)
        ? error.with({ message: `${path} has no commit at ${ref}, or is not a repository` })
        : error
    )
  )
  return { name: path, check: Effect.asVoid(head), head, ...objects(call) }
}

const remote = (url: string, config: SettingsOf<"git">, { dataDir, secrets }: Partial<ConnectorContext>): Repository => {
  const name = redactUrl(url)
  const ref = config.ref ?? "HEAD"
  const folder = Effect.runSync(Effect.cached(Effect.promise(async () => {
    const at = join(dataDir ?? temporary(), "git", hash("sha256", url).slice(0, 16))
    await mkdir(at, { recursive: true, mode: 0o700 })
    return at
  })))
  const turn = Semaphore.makeUnsafe(1)
  const timeout = config.timeout ?? Duration.minutes(10)

  /** Passes the token in a header, for this address alone, where no other user of the machine can see it. */
  const authorized = Effect.gen(function*() {
    const settings: Record<string, string> = {
      "http.followRedirects": "false",
      "http.lowSpeedLimit": "1000",
      "http.lowSpeedTime": "60",
      "gc.autoDetach": "false",
      // Git flushes packs to the disk, and single objects not.
      "fetch.unpackLimit": "1",
      "protocol.version": "2"
    }
    if (config.token === undefined) return { config: settings, secrets: [] }
    if (secrets === undefined) return yield* ServiceError.invalid("token", "needs secrets to be resolved from")
    const token = yield* secrets.resolve(config.token)
    const basic = Buffer.from(`${config.user}:${Redacted.value(token)}`).toString("base64")
    return {
      config: { ...settings, "credential.helper": "", [`http.${url}.extraHeader`]: `Authorization: Basic ${basic}` },
      secrets: [token, Redacted.make(basic)]
    }
  })
  const calling = (args: ReadonlyArray<string>, what: string) =>
    Effect.flatMap(
      authorized,
      (access) => gitText({ what, args, timeout, ...access }).pipe(retry({ times: 2 }))
    )

  const isCommitId = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(ref)
  const check = calling(["ls-remote", "--exit-code", "--", url, ...(isCommitId ? [] : [ref])], `looking for ${ref} of ${name}`)
    .pipe(
      // It exits with 2 and prints nothing where there is no such ref.
      Effect.mapError((error) =>
        error._tag === "ServiceError" && error.code === "INTERNAL" ? ServiceError.notFound(`${ref} of ${name}`, "correct the ref") : error
      )
    )

  const fetched = Effect.gen(function*() {
    const at = yield* folder
    const call = inCopy(at, name)
    if (!existsSync(join(at, "HEAD"))) yield* gitText(call(["init", "--quiet", "--bare"]))
    const local = `refs/sluice/ref/${hash("sha256", ref).slice(0, 16)}`
    yield* calling([
      `--git-dir=${at}`,
      "fetch",
      "--quiet",
      "--depth=1",
      "--no-tags",
      "--no-recurse-submodules",
      "--force",
      "--",
      url,
      `+${ref}:${local}`
    ], `fetching ${ref} of ${name}`)
    const commit = yield* gitText(call(["rev-parse", "--verify", `${local}^{commit}`]))
    yield* gitText(call(["update-ref", `refs/sluice/seen/${commit}`, commit]))
    const seen = (yield* gitText(call(["for-each-ref", "--sort=-committerdate", "--format=%(refname)", "refs/sluice/seen"]))).split("\n")
    const old = seen.slice(keptCommits).filter((kept) => !kept.endsWith(commit))
    yield* Effect.forEach(old, (gone) => gitText(call(["update-ref", "-d", gone])), { discard: true })
    return commit
  })
  /** The commit at the ref. The repository here is only a copy: where a killed git or a power failure left it broken, it is made anew. */
  const head = turn.withPermit(
    Effect.catchIf(fetched, isBrokenCopy, (error) =>
      Effect.gen(function*() {
        const at = yield* folder
        const now = yield* Clock.currentTimeMillis
        return (yield* Effect.promise(() => repaired(at, error, now - Duration.toMillis(timeout)))) ? yield* fetched : yield* error
      }))
  )
  const within = Effect.map(folder, (at) => objects(inCopy(at, name)))
  return {
    name,
    check,
    head,
    has: (commit) => Effect.flatMap(within, ({ has }) => has(commit)),
    tree: (commit) => Stream.unwrap(Effect.map(within, ({ tree }) => tree(commit))),
    changes: (from, to) => Stream.unwrap(Effect.map(within, ({ changes }) => changes(from, to))),
    sizes: (ids) => Effect.flatMap(within, ({ sizes }) => sizes(ids)),
    contents: (ids) => Effect.flatMap(within, ({ contents }) => contents(ids)),
    blob: (id) => Stream.unwrap(Effect.map(within, ({ blob }) => blob(id)))
  }
}

/** Whether git failed for a reason that lies neither in the remote nor in the settings. */
const isBrokenCopy = (error: Failure): error is ServiceError =>
  error._tag === "ServiceError" && (error.code === "INTERNAL" || /not a git repository/i.test(error.message))

/** Removes locks that nobody can hold any more, being from before `oldest`, or else everything. Returns whether anything was removed. */
const repaired = async (folder: string, error: ServiceError, oldest: number): Promise<boolean> => {
  if (!/\.lock\b/.test(error.message)) {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return true
  }
  let removed = false
  for (const name of await readdir(folder, { recursive: true })) {
    const at = join(folder, name)
    if (!name.endsWith(".lock") || (await stat(at)).mtimeMs > oldest) continue
    await rm(at, { force: true })
    removed = true
  }
  return removed
}

/** A temporary folder for programs without a data directory, removed with the process. */
let made: string | undefined
const temporary = (): string => {
  if (made !== undefined) return made
  const folder = mkdtempSync(join(tmpdir(), "sluice-git-"))
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  made = folder
  return folder
}

type Calls = (args: ReadonlyArray<string>, more?: Partial<GitCall>) => GitCall

const inRepository = (folder: string, name: string): Calls => (args, more = {}) => ({
  what: `git ${args[0]} in ${name}`,
  args: ["-C", folder, ...args],
  ...more
})

/** The copy of a remote. Git looks for it nowhere else: with `-C`, a broken one would stand for the repository around it. */
const inCopy = (folder: string, name: string): Calls => (args, more = {}) => ({
  what: `git ${args[0]} in ${name}`,
  args: [`--git-dir=${folder}`, ...args],
  ...more
})

const objects = (call: Calls): Omit<Repository, "name" | "check" | "head"> => ({
  has: (commit) =>
    gitText(call(["cat-file", "-e", `${commit}^{commit}`])).pipe(Effect.as(true), Effect.catchIf(isAbsent, () => Effect.succeed(false))),
  tree: (commit) =>
    records(git(call(["ls-tree", "-r", "-z", "-l", "--full-tree", commit]))).pipe(
      Stream.map((record) => {
        const tab = record.indexOf("\t")
        const [mode = "", , id = "", size = "-"] = record.slice(0, tab).split(/ +/)
        return { mode, id, path: record.slice(tab + 1), ...(size === "-" ? {} : { size: Number(size) }) }
      })
    ),
  changes: (from, to) =>
    records(git(call(["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff", from, to]))).pipe(
      Stream.mapAccum(
        () => "",
        (before: string, record: string) => [before === "" ? record : "", before === "" ? [] : [{ facts: before, path: record }]] as const
      ),
      Stream.map(({ facts, path }) => {
        const [, mode = "", , id = "", status = ""] = facts.split(" ")
        return status === "D" ? { path } : { path, entry: { mode, id, path } }
      })
    ),
  sizes: (ids) =>
    Effect.map(
      gitText(call(["cat-file", "--batch-check=%(objectname) %(objectsize)"], { input: `${ids.join("\n")}\n` })),
      (lines) => new Map(lines.split("\n").map((line) => line.split(" ")).map(([id = "", size]) => [id, Number(size)]))
    ),
  contents: (ids) => Effect.map(gitBytes(call(["cat-file", "--batch"], { input: `${ids.join("\n")}\n` })), batch),
  blob: (id) =>
    git(call(["cat-file", "blob", id])).pipe(Stream.mapError((error) => isAbsent(error) ? ServiceError.notFound(`blob ${id}`) : error))
})

export { objectsOfCall }

const gitBytes = (call: GitCall): Effect.Effect<Buffer, ServiceError> =>
  Effect.map(Stream.runCollect(git(call)), (pieces) => Buffer.concat(pieces))

/** Parses the output of `cat-file --batch`: `<id> <type> <size>`, the content, and a line end, for each object. */
const batch = (bytes: Buffer): ReadonlyMap<string, Buffer> => {
  const found = new Map<string, Buffer>()
  for (let at = 0; at < bytes.length;) {
    const line = bytes.indexOf(10, at)
    if (line === -1) break
    const [id = "", type, size] = bytes.toString("latin1", at, line).split(" ")
    at = line + 1
    if (type === "missing") continue
    found.set(id, bytes.subarray(at, at + Number(size)))
    at += Number(size) + 1
  }
  return found
}

/** Whether the error means that the object, or the commit, does not exist. */
const isAbsent = (error: ServiceError): boolean =>
  /not a valid object name|bad file|bad object|could not get object info/i.test(error.message)

/** Splits output into texts that end with NUL. Bytes of a name that are not UTF-8 become U+FFFD. */
const records = (bytes: Stream.Stream<Uint8Array, ServiceError>): Stream.Stream<string, ServiceError> =>
  bytes.pipe(
    Stream.mapAccum(() => Buffer.alloc(0), (rest: Buffer, piece: Uint8Array) => {
      const all = Buffer.concat([rest, piece])
      const found: Array<string> = []
      let from = 0
      for (let nul = all.indexOf(0); nul !== -1; nul = all.indexOf(0, from)) {
        found.push(all.toString("utf8", from, nul))
        from = nul + 1
      }
      return [all.subarray(from), found] as const
    })
  )
