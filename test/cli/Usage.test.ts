import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import packageJson from "../../package.json" with { type: "json" }
import { events, type Finished } from "../support/Finished.ts"
import { command } from "../support/Command.ts"
import { root } from "../support/Root.ts"
import { tempFolder, write } from "../support/TempFolder.ts"

const run = (cwd: string, args: ReadonlyArray<string>, env: Record<string, string> = {}): Effect.Effect<Finished> =>
  Effect.promise(() => command(args, { cwd, env }))

/** Every command that has a help page, with those of each group. */
const everyCommand = (cwd: string, group: ReadonlyArray<string> = []): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function*() {
    const { stdout } = yield* run(cwd, [...group, "--help"])
    if (!stdout.includes(" <subcommand> ")) return [group.join(" ")]
    const listed = stdout.slice(stdout.indexOf("\nExamples\n"), stdout.search(/\nFlags/)).split("\n\n").slice(1)
    const names = listed.flatMap((section) => section.match(/(?<=^ {2})[a-z]+(?= )/gm) ?? []).filter((name) =>
      !/^(help|version)$/.test(name)
    )
    const below = yield* Effect.forEach(names, (name) => everyCommand(cwd, [...group, name]))
    return [...group.length === 0 ? [] : [group.join(" ")], ...below.flat()]
  })

describe("usage", () => {
  it.live("prints version and help as data, with every command in it", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      assert.strictEqual((yield* run(cwd, ["--version"])).stdout, `sluice ${packageJson.version}\n`)
      const bare = yield* run(cwd, [])
      const help = yield* run(cwd, ["--help"])
      assert.deepStrictEqual([bare.code, bare.stderr], [0, ""])
      assert.strictEqual(help.stdout, bare.stdout)
      assert.strictEqual((yield* run(cwd, ["version"])).stdout, `sluice ${packageJson.version}\n`)
      for (const asked of ["version", "--version"]) {
        assert.deepStrictEqual(events(yield* run(cwd, [asked, "--json"])), [{ version: 1, type: "version", sluice: packageJson.version }])
      }
      assert.deepStrictEqual(yield* run(cwd, ["help"]), bare)
      assert.deepStrictEqual(yield* run(cwd, ["help", "files", "list"]), yield* run(cwd, ["files", "list", "--help"]))
    }).pipe(Effect.scoped))

  it.live("teaches each command with examples, within the width", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      const commands = yield* everyCommand(cwd)
      assert.includeMembers([...commands], ["run", "tune", "files", "files show", "batch submit", "operations cancel"])
      const all = yield* Effect.forEach(
        commands,
        (command) => Effect.map(run(cwd, [...command.split(" "), "--help"], { COLUMNS: "60" }), (finished) => ({ command, ...finished })),
        { concurrency: 3 }
      )
      for (const { code, command, stderr, stdout } of all) {
        assert.strictEqual(code, 0, command)
        assert.strictEqual(stderr, "", command)
        // A flag without which the command runs too is not required.
        assert.notInclude(stdout, "(required)", command)
        assert.match(stdout, new RegExp(`^Examples\n(  # .*\n)?  sluice ${command}`, "m"), command)
        // Examples are to be copied, so they are not broken.
        const wide = stdout.split("\n").filter((line) => line.length > 60 && !/^ {2}(.*\| )?(sluice|#)/.test(line))
        assert.deepStrictEqual(wide, [], command)
      }
    }).pipe(Effect.scoped))

  it.live("has every flag of serve in its page, and no other", () =>
    Effect.gen(function*() {
      const help = (yield* run(yield* tempFolder, ["serve", "--help"])).stdout
      const flags = help.slice(help.indexOf("\nFlags\n"), help.indexOf("\nFlags of every command")).match(/(?<=^ {2})--[a-z-]+/gm)
      const page = readFileSync(join(root, "docs/serve.md"), "utf8")
      const rows = page.slice(page.indexOf("## Flags"), page.indexOf("`GET /healthz`")).match(/(?<=^\| )`--[^|]*/gm)
      const documented = new Set(rows?.flatMap((row) => row.match(/--[a-z-]+/g) ?? []))
      assert.deepStrictEqual([...documented].toSorted(), flags?.toSorted())
    }).pipe(Effect.scoped))

  it.live("answers mistakes on stderr with exit code 4, and with what was probably meant", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      write(cwd, { "a-file": "" })
      const mistakes = [
        [["rnu"], /unknown command rnu; did you mean run\?/],
        [["foo"], /unknown command foo; see `sluice --help`/],
        [["run", "--wiat", "3"], /unknown flag --wiat; did you mean --wait\?/],
        [["ask", "x", "--topk", "3"], /unknown flag --topk; did you mean --top-k\?/],
        [["run", "--zzzzz"], /unknown flag --zzzzz; see `sluice run --help`/],
        [["help", "rnu"], /unknown command rnu; did you mean run\?/],
        [["help", "files", "lst"], /unknown command lst; did you mean list\?/],
        [["init", "a", "b"], /unexpected positional argument: "b"/],
        [["retrieve", "x", "--top-k", "z"], /--top-k "z": expected a finite number/],
        [["run", "--jsno"], /did you mean --json\?/],
        [["files", "lst"], /did you mean list\?/],
        [["ask"], /missing argument <question>; see `sluice ask --help`/],
        [["ask", "what is it", " "], /<question> " ": expected words/],
        [["retrieve", ""], /<query> needs a value: words/],
        [["retrieve", "x", "--alpha", "2"], /from 0 to 1/],
        [
          ["retrieve", "x", "--where", "year >="],
          /--where "year >=": expected .* such as year >= 2024 .*; it ends where a value should come/
        ],
        [["status", "--data-dir", "a-file"], /--data-dir "a-file": is not a folder/],
        [["status", "--data-dir", ""], /--data-dir needs a value: a folder/],
        [["retrieve", "x", "--top-k", "0"], /1 to 1000/],
        [["eval", "--top-k", "1001"], /1 to 1000/],
        [["tune", "--top-k", "8,1001"], /1 to 1000/],
        [["run", "--wait", "-1"], /0 or more seconds/],
        [["run", "--engine", "clay"], /embedded/]
      ] as const
      for (const [args, says] of mistakes) {
        const { code, stderr, stdout } = yield* run(cwd, args)
        assert.deepStrictEqual([code, stdout], [4, ""], args.join(" "))
        assert.match(stderr, /^error: .*\n$/, args.join(" "))
        assert.match(stderr, says)
      }
    }).pipe(Effect.scoped))

  it.live("answers mistakes with a JSON document too where JSON was asked for", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      const wrongFlag = yield* run(cwd, ["run", "--json", "--wiat"])
      assert.strictEqual(wrongFlag.code, 4)
      const [document] = events(wrongFlag)
      assert.deepInclude(document, { version: 1, type: "error", error: "UsageError" })
      assert.match(String(document?.["message"]), /--wait/)
      // After `--` it is a question, not a flag.
      const asked = yield* run(cwd, ["ask", "--", "--json"])
      assert.deepStrictEqual([asked.code, asked.stdout], [4, ""])
      assert.match(asked.stderr, /there is no pipeline\.yaml here/)
    }).pipe(Effect.scoped))

  it.live("finds the pipeline only where it is the only one", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      const none = yield* run(cwd, ["validate"])
      assert.strictEqual(none.code, 4)
      assert.match(none.stderr, /fix: write one with `sluice init`/)
      write(cwd, { "a.pipeline.yaml": "", "b.pipeline.yaml": "" })
      const several = yield* run(cwd, ["validate"])
      assert.strictEqual(several.code, 4)
      assert.match(several.stderr, /several pipeline files: a\.pipeline\.yaml, b\.pipeline\.yaml/)
    }).pipe(Effect.scoped))

  it.live("completes commands, flags and files in bash, and has scripts for zsh and fish", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      write(cwd, { "pipeline.yaml": "" })
      const [bash, zsh, fish] = yield* Effect.forEach(["bash", "zsh", "fish"], (shell) => run(cwd, ["--completions", shell]))
      assert.match(zsh!.stdout, /^#compdef sluice$/m)
      assert.match(fish!.stdout, /complete -c sluice/)
      write(cwd, { "completion.bash": bash!.stdout })
      const complete = (words: ReadonlyArray<string>) => {
        const line = words.join(" ")
        const script = `source completion.bash; COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; COMP_LINE="${line}"; ` +
          `COMP_POINT=${line.length}; _sluice sluice "${words.at(-1)}" "${words.at(-2)}"; printf '%s\\n' "\${COMPREPLY[@]}"`
        return execFileSync("bash", ["--norc", "-c", script], { cwd, encoding: "utf8" }).trim().split("\n")
      }
      assert.deepStrictEqual(complete(["sluice", "ru"]), ["run"])
      assert.deepStrictEqual(complete(["sluice", "run", "--wa"]), ["--wait"])
      assert.deepStrictEqual(complete(["sluice", "validate", "pipe"]), ["pipeline.yaml"])
    }).pipe(Effect.scoped))
})
