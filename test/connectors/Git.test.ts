import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Result, Schema, Stream } from "effect"
import { execFileSync } from "node:child_process"
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { git as connectGit } from "../../connectors/git/Git.ts"
import { connectorSuite, faultsOf } from "../../src/ConnectorKit.ts"
import { SecretVersion } from "../../src/domain/Secret.ts"
import { builtInSources } from "../../src/domain/sources/BuiltInSources.ts"
import type { Connector, Listed } from "../../src/ports/Connector.ts"
import { gitServer } from "../fakes/GitHttp.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import type { ConnectorContext } from "../../src/ports/Source.ts"
import { settingsOf, type Written } from "../support/Settings.ts"

const token = "ghp_abcdefghij0123456789"
const version = SecretVersion.make("projects/1/secrets/git/versions/1")
const secrets = { resolve: () => Effect.succeed(Redacted.make(token)) }
const authorization = `Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`

const run = (folder: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("git", ["-C", folder, "-c", "user.name=Ada", "-c", "user.email=ada@acme.com", "-c", "commit.gpgsign=false", ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], HOME: folder }
  }).trim()
const commit = (folder: string, message: string): string => {
  run(folder, "add", "-A")
  run(folder, "commit", "--quiet", "--allow-empty", "-m", message)
  return run(folder, "rev-parse", "HEAD")
}

/** Made once: starting git is what takes time here. */
const template = mkdtempSync(join(tmpdir(), "sluice-git-"))
afterAll(() => rmSync(template, { recursive: true, force: true }))
write(template, {
  "README.md": "# Handbook\n",
  "docs/leave.md": "# Leave\n\nFive days carry over.\n",
  "docs/travel.md": "# Travel\n\nManagers approve travel.\n",
  "docs/größe.md": "# Größe\n",
  "src/main.c": "int main(void) { return 0; }\n"
})
run(template, "init", "--quiet", "-b", "main")
commit(template, "first")

const repository = Effect.map(tempFolder, (folder) => {
  const at = join(folder, "handbook")
  cpSync(template, at, { recursive: true })
  return { folder, at }
})

const renamed = (at: string) =>
  Effect.sync(() => {
    renameSync(join(at, "docs/leave.md"), join(at, "docs/time-off.md"))
    commit(at, "renamed")
    return "docs/time-off.md"
  })

const fixtureOf = (config: (at: string) => Effect.Effect<{ readonly connector: Connector }, never, never>) =>
  Effect.gen(function*() {
    const { at } = yield* repository
    const { connector } = yield* config(at)
    return {
      connector,
      sample: "docs/leave.md",
      keepsVersions: true,
      rename: renamed(at),
      edit: Effect.sync(() => {
        write(at, { "docs/leave.md": "# Leave\n\nSix days carry over.\n" })
        commit(at, "six")
      }),
      remove: Effect.sync(() => {
        rmSync(join(at, "docs/leave.md"))
        commit(at, "gone")
      })
    }
  })

const git = (written: Written<"git">, context: Partial<ConnectorContext>) => connectGit(settingsOf("git", written), context)

connectorSuite("git at a path", fixtureOf((at) => Effect.succeed({ connector: git({ path: at }, {}) })), {
  describe,
  it,
  local: true,
  paged: true
})

const remote = (more: Partial<Written<"git">> = {}) =>
  Effect.gen(function*() {
    const { at, folder } = yield* repository
    const server = yield* gitServer(folder, authorization)
    const url = `${server.origin}/handbook/.git`
    const dataDir = join(folder, "data")
    return { at, dataDir, server, url, connector: git({ url, token: version, ...more }, { secrets, dataDir }) }
  })

connectorSuite(
  "git at an address",
  Effect.gen(function*() {
    const { at, connector, server } = yield* remote()
    return {
      connector,
      sample: "docs/leave.md",
      keepsVersions: true,
      secrets: [token, authorization.slice(6)],
      edit: Effect.sync(() => {
        write(at, { "docs/leave.md": "# Leave\n\nSix days carry over.\n" })
        commit(at, "six")
      }),
      remove: Effect.sync(() => {
        rmSync(join(at, "docs/leave.md"))
        commit(at, "gone")
      }),
      rename: renamed(at),
      fault: faultsOf(server, { list: () => true, read: () => false })
    }
    // Git asks, and shows no header of what it is answered.
  }),
  { describe, it, retryAfter: false }
)

const events = (connector: Connector, cursor?: string) => Stream.runCollect(connector.list(cursor))
const summary = (listed: ReadonlyArray<Listed>): ReadonlyArray<string> =>
  listed.flatMap((event) =>
    event._tag === "item"
      ? [`+ ${event.item.path}`]
      : event._tag === "deleted"
      ? [`- ${event.path}`]
      : event._tag === "skipped"
      ? [`! ${event.path} ${event.reason}`]
      : []
  ).toSorted()
const cursorOf = (listed: ReadonlyArray<Listed>): string => {
  const last = listed.at(-1)
  return last?._tag === "complete" ? last.cursor ?? "" : ""
}

describe("git", () => {
  it.effect("skips links, submodules, pointers of LFS and what is too large by name, and keeps to its globs", () =>
    Effect.gen(function*() {
      const { at } = yield* repository
      write(at, {
        "docs/big.md": "x".repeat(5_000),
        "docs/film.md": `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 12345\n`,
        "docs/about-lfs.md": "# LFS\n\nA pointer begins with version https://git-lfs.github.com/spec/v1 and has an oid.\n"
      })
      symlinkSync("leave.md", join(at, "docs/link.md"))
      commit(at, "more")
      run(at, "update-index", "--add", "--cacheinfo", `160000,${run(at, "rev-parse", "HEAD")},docs/vendor`)
      run(at, "commit", "--quiet", "-m", "submodule")
      const connector = git({ path: at, paths: ["docs/**"], exclude: ["**/travel.md"], maxFileSize: 4_000 }, {})
      assert.deepStrictEqual(summary(yield* events(connector)), [
        "! docs/big.md limit",
        "! docs/film.md special",
        "! docs/link.md link",
        "! docs/vendor special",
        "+ docs/about-lfs.md",
        "+ docs/größe.md",
        "+ docs/leave.md"
      ])
    }).pipe(Effect.scoped))

  it.effect("tells renames and deletes from one commit to the next, and reads no file for it", () =>
    Effect.gen(function*() {
      const { at } = yield* repository
      const connector = git({ path: at }, {})
      const first = yield* events(connector)
      renameSync(join(at, "docs/travel.md"), join(at, "docs/trips.md"))
      rmSync(join(at, "src"), { recursive: true })
      write(at, { "docs/new.md": "# New\n" })
      commit(at, "second")
      const changes = yield* events(connector, cursorOf(first))
      assert.deepStrictEqual(summary(changes), ["+ docs/new.md", "+ docs/trips.md", "- docs/travel.md", "- src/main.c"])
      const revisionOf = (listed: ReadonlyArray<Listed>, path: string) =>
        listed.flatMap((event) => event._tag === "item" && event.item.path === path ? [event.item.revision] : [])
      assert.deepStrictEqual(revisionOf(changes, "docs/trips.md"), revisionOf(first, "docs/travel.md"))
      // A branch that was rewritten: the cursor's commit is of another history.
      run(at, "checkout", "--quiet", "--orphan", "anew")
      run(at, "rm", "-r", "--quiet", "--force", "docs")
      commit(at, "anew")
      run(at, "branch", "-M", "main")
      assert.deepStrictEqual(summary(yield* events(connector, cursorOf(changes))), [
        "- docs/größe.md",
        "- docs/leave.md",
        "- docs/new.md",
        "- docs/trips.md"
      ])
      run(at, "reflog", "expire", "--expire=now", "--all")
      run(at, "gc", "--quiet", "--prune=now")
      assert.deepInclude(yield* Effect.flip(events(connector, cursorOf(changes))), { code: "INVALID_ARGUMENT" })
    }).pipe(Effect.scoped))

  it.effect("names what is wrong: no repository, no such ref, an empty one", () =>
    Effect.gen(function*() {
      const { at, folder } = yield* repository
      assert.deepInclude(yield* Effect.flip(git({ path: join(folder, "none") }, {}).check), { code: "NOT_FOUND" })
      const ref = yield* Effect.flip(git({ path: at, ref: "no-such" }, {}).check)
      assert.deepInclude(ref, { code: "NOT_FOUND" })
      assert.match(ref.message, /no-such/)
      run(folder, "init", "--quiet", "empty")
      assert.deepInclude(yield* Effect.flip(git({ path: join(folder, "empty") }, {}).check), { code: "NOT_FOUND" })
    }).pipe(Effect.scoped))

  it.live("fetches a remote without its history, and the difference of two commits", () =>
    Effect.gen(function*() {
      const { at, connector, dataDir, server } = yield* remote({ ref: "main" })
      yield* connector.check
      const first = yield* events(connector)
      assert.strictEqual(summary(first).length, 5)
      for (let n = 0; n < 3; n++) {
        write(at, { "docs/leave.md": `# Leave\n\n${n} days.\n` })
        commit(at, `edit ${n}`)
      }
      rmSync(join(at, "README.md"))
      commit(at, "gone")
      assert.deepStrictEqual(summary(yield* events(connector, cursorOf(first))), ["+ docs/leave.md", "- README.md"])
      const [clone] = readdirSync(join(dataDir, "git"))
      const kept = join(dataDir, "git", clone ?? "")
      // Two commits of six: each was fetched without those before it.
      assert.strictEqual(run(kept, "rev-list", "--all", "--count"), "2")
      assert.isAbove(server.asked.length, 2)
      assert.notInclude(readFileSync(join(kept, "config"), "utf8"), token)
      // Another machine has not got the old commit, and lists from the start.
      rmSync(dataDir, { recursive: true })
      const fresh = git({ url: `${server.origin}/handbook/.git`, token: version, ref: "main" }, { secrets, dataDir })
      assert.deepInclude(yield* Effect.flip(events(fresh, cursorOf(first))), { code: "INVALID_ARGUMENT" })
    }).pipe(Effect.scoped))

  it.live("makes its copy of a remote anew where it is broken, and waits for no lock of a git that is gone", () =>
    Effect.gen(function*() {
      const { at, connector, dataDir } = yield* remote({ ref: "main" })
      // A copy that is none must not lead git to a repository around it.
      mkdirSync(dataDir, { recursive: true })
      run(dataDir, "init", "--quiet")
      const first = yield* events(connector)
      const copy = join(dataDir, "git", readdirSync(join(dataDir, "git"))[0] ?? "")
      const names = readdirSync(copy, { recursive: true, encoding: "utf8" })
      const ref = names.find((name) => /refs\/sluice\/ref\/\w+$/.test(name)) ?? ""
      for (const broken of [ref, "HEAD"]) {
        writeFileSync(join(copy, broken), "")
        assert.deepStrictEqual(summary(yield* events(connector)), summary(first))
      }
      write(at, { "new.md": "# New\n" })
      commit(at, "new")
      const lock = join(copy, "shallow.lock")
      writeFileSync(lock, "")
      assert.match((yield* Effect.flip(events(connector))).message, /shallow\.lock/)
      utimesSync(lock, new Date(Date.now() - 700_000), new Date(Date.now() - 700_000))
      assert.include(summary(yield* events(connector)), "+ new.md")
      assert.deepStrictEqual(run(dataDir, "for-each-ref"), "")
    }).pipe(Effect.scoped))

  it.live("says who was refused and never with which token, and sends it to nobody else", () =>
    Effect.gen(function*() {
      const { connector, dataDir, server, url } = yield* remote()
      const anonymous = yield* Effect.flip(events(git({ url }, { secrets, dataDir })))
      assert.deepInclude(anonymous, { code: "UNAUTHENTICATED" })
      const elsewhere = yield* gitServer(dataDir)
      server.fault(9, () =>
        true, (response, { url: { pathname, search } }) =>
        void response.writeHead(302, { location: `${elsewhere.origin}${pathname}${search}` }).end())
      const redirected = yield* Effect.flip(connector.check)
      assert.strictEqual(redirected._tag, "ServiceError")
      assert.deepStrictEqual(elsewhere.asked, [])
      assert.notInclude(JSON.stringify(redirected), token)
      const ref = yield* Effect.flip(git({ url, token: version, ref: "no-such" }, { secrets, dataDir }).check)
      assert.strictEqual(ref._tag, "ServiceError")
    }).pipe(Effect.scoped))

  it("refuses settings that are none, and passwords in addresses", () => {
    const decode = Schema.decodeUnknownResult(builtInSources.git)
    for (
      const good of [{ url: "https://github.com/acme/handbook.git" }, { url: "ssh://git@github.com/acme/h.git" }, { path: "." }, {
        url: "http://127.0.0.1:8080/a",
        token: version
      }]
    ) {
      assert.isTrue(Result.isSuccess(decode(good)), JSON.stringify(good))
    }
    for (
      const bad of [
        {},
        { path: "a", url: "https://a.com/b" },
        { url: "http://acme.com/a" },
        { url: "https://me:secret@acme.com/a" },
        { url: "ssh://me:secret@acme.com/a" },
        { url: "ext::sh -c id" },
        { url: "file:///etc" },
        { url: "ssh://-oProxyCommand=id/a" },
        { path: ".", ref: "--upload-pack=id" },
        { path: ".", ref: "a..b" },
        { path: ".", token: version }
      ]
    ) assert.isTrue(Result.isFailure(decode(bad)), JSON.stringify(bad))
  })
})
