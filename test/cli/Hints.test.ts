import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { command } from "../support/Command.ts"

const root = join(import.meta.dirname, "../..")

const sources = ["src", "connectors"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => ({ file: join(entry.parentPath, entry.name), text: readFileSync(join(entry.parentPath, entry.name), "utf8") }))
)

const documents = ["README.md", "CHANGELOG.md"].map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }))

/** What people are told to type: `sluice` and the words and flags after it, inside a string or a piece of code. */
const told = [...sources, ...documents].flatMap(({ file, text }) =>
  [...text.matchAll(/(?:["'`( ]|^ *)(?:npx )?sluice ((?:[a-z]+[ "'`;:,.)]|--[a-z][a-z-]+)[^"'`\n;:)]*)/gm)].map((match) => ({
    file,
    words: match[1] ?? ""
  }))
)

describe("what messages tell people to type", () => {
  it.live("is there: every command, and every flag behind it", () =>
    Effect.gen(function*() {
      const help = (path: ReadonlyArray<string>) =>
        Effect.promise(() => command([...path, "--help"], { cwd: root, env: { COLUMNS: "200" } })).pipe(Effect.map(({ stdout }) => stdout))
      const named = (text: string): ReadonlySet<string> => new Set([...text.matchAll(/^ {2}([a-z]+) /gm)].map((match) => match[1] ?? ""))
      const flagsIn = (text: string): ReadonlySet<string> => new Set([...text.matchAll(/--[a-z][a-z-]+/g)].map((match) => match[0]))
      const top = named(yield* help([]))
      assert.isAbove(top.size, 15)
      const known = new Map<string, ReadonlySet<string>>()
      yield* Effect.forEach(
        top,
        Effect.fnUntraced(function*(name) {
          const text = yield* help([name])
          known.set(name, flagsIn(text))
          const children = text.includes(`More about one: sluice ${name}`) ? [...named(text)].filter((word) => word !== "sluice") : []
          for (const child of children) known.set(`${name} ${child}`, flagsIn(yield* help([name, child])))
        }),
        { concurrency: 4 }
      )
      const wrong: Array<string> = []
      let checked = 0
      for (const { file, words } of told) {
        const [command = "", second = ""] = words.trim().split(/[\s.,]+/)
        // Prose about Sluice, such as "sluice needs Node", names no command.
        if (command.startsWith("--") || !/^[a-z]+$/.test(command)) continue
        if (!top.has(command)) {
          if (!prose.has(command)) wrong.push(`${file}: sluice ${words}`)
          continue
        }
        checked++
        const flags = known.get(known.has(`${command} ${second}`) ? `${command} ${second}` : command) ?? new Set()
        for (const flag of words.match(/--[a-z][a-z-]+/g) ?? []) if (!flags.has(flag)) wrong.push(`${file}: sluice ${words} (${flag})`)
      }
      assert.strictEqual(wrong.join("\n"), "")
      assert.isAbove(checked, 60)
    }))

  it("sends nobody to the vertex engine who may come from there: the embedded engine answers for it behind the server", () => {
    const engine = sources.filter(({ file }) =>
      /src\/(?:engines\/embedded|server|compose\/(?:Buckets|Imports|Server|Upstream|Vendors))/.test(file)
    )
    assert.isAbove(engine.length, 50)
    const sends = engine.flatMap(({ file, text }) =>
      [...text.matchAll(/["'`][^"'`\n]*(?:the vertex engine|engine: *vertex|--engine vertex)[^"'`\n]*["'`]/g)].map(([words]) =>
        `${file}: ${words}`
      )
    )
    assert.deepStrictEqual(sends, [])
  })

  it("flags that messages name by themselves are there", () =>
    Effect.runPromise(Effect.gen(function*() {
      // Every flag is declared by the name it has on the command line.
      const declared = new Set(sources.flatMap(({ text }) =>
        [...text.matchAll(/(?:(?:Flag\.\w+|\boptional(?:Text|Int)|\bon|\btext|\bcount|\bnamed?)\(\s*|flagKind, name: )"([a-z][a-z-]+)"/g)]
          .map((match) => `--${match[1]}`)
      ))
      const wrong = sources.flatMap(({ file, text }) =>
        [...text.matchAll(/fix: *(?:[^"'`\n]*)["'`]([^"`\n]*)["`]/g)].flatMap((match) =>
          [...(match[1] ?? "").matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].filter(([flag]) =>
            !declared.has(flag) && !others.has(flag)
          ).map(([flag]) =>
            `${file}: ${flag}`
          )
        )
      )
      assert.isAbove(declared.size, 40)
      assert.deepStrictEqual(wrong, [])
    })))
})

/** First words of sentences about Sluice, and of the head of a bundle, that look like commands. */
const prose = new Set(["bundle", "needs", "then", "server", "or", "and", "again", "to", "with", "from", "effect", "that", "a"])

/** Flags of gcloud and npm. */
const others = new Set(["--role", "--member", "--include", "--ignore-scripts", "--completions", "--help", "--version"])
