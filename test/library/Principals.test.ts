import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { records } from "../../connectors/index.ts"
import { Embedded, Pipeline } from "../../src/index.ts"
import { command } from "../support/Command.ts"
import { events } from "../support/Finished.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { inspector } from "../ui/Support.ts"

const only = (...principals: ReadonlyArray<string>) => ({ public: false, principals })

const pay = {
  "pay/ann.md": { content: "# Pay\n\nThe pay of Ann is ninety thousand euros.\n", permissions: only("user:ann@acme.com") },
  "pay/eng.md": { content: "# Pay\n\nThe pay of engineers is eighty thousand euros.\n", permissions: only("group:eng@acme.com") },
  "pay/acme.md": { content: "# Pay\n\nThe pay of the porter is forty thousand euros.\n", permissions: only("domain:acme.com") },
  "pay/scale.md": { content: "# Pay\n\nThe pay of all begins at thirty thousand euros.\n" }
}

const ann = ["user:ann@acme.com", "group:ENG@acme.com"]

/** A pipeline over files of a person, of a group, of a domain, and of all. */
const scene = Effect.gen(function*() {
  const folder = yield* tempFolder
  const pipeline = Pipeline.make("pay", {
    corpus: { displayName: "Pay" },
    sources: {
      pay: records("pay", {
        list: () => Object.entries(pay).map(([path, { content: revision, ...rest }]) => ({ path, revision, ...rest })),
        read: (path) => pay[path as keyof typeof pay].content
      })
    }
  })
  const engine = Embedded.layer({ dataDir: join(folder, ".sluice") })
  yield* pipeline.run.pipe(Effect.provide(engine))
  return { folder, pipeline, engine }
})

const namesOf = (contexts: ReadonlyArray<{ readonly sourceDisplayName: string }>) =>
  contexts.map(({ sourceDisplayName }) => sourceDisplayName).toSorted()

describe("a person with groups and a domain", () => {
  it.live("finds what any of them may read, and without any what everyone may", () =>
    Effect.gen(function*() {
      const { engine, pipeline } = yield* scene
      const seen = (principal: string | ReadonlyArray<string>) =>
        Effect.map(pipeline.retrieve({ question: "the pay", principal }), ({ contexts }) => namesOf(contexts))
      yield* Effect.gen(function*() {
        assert.deepStrictEqual(yield* seen("user:ann@acme.com"), ["pay/ann.md", "pay/scale.md"])
        assert.deepStrictEqual(yield* seen(ann), ["pay/ann.md", "pay/eng.md", "pay/scale.md"])
        assert.deepStrictEqual(yield* seen([...ann, "domain:acme.com"]), Object.keys(pay).toSorted())
        assert.deepStrictEqual(yield* seen([]), ["pay/scale.md"])
        const { results } = yield* pipeline.evaluate({
          tests: [
            { question: "What is the pay of engineers?", principal: ann, files: ["pay/eng.md", "pay/acme.md"] },
            { question: "What is the pay of engineers?", principal: [], files: ["pay/eng.md"] },
            { question: "What is the pay of engineers?", principal: "user:ben@acme.com", files: ["pay/eng.md"] }
          ]
        })
        assert.deepStrictEqual(results.map(({ checks, id, principal }) => [id, principal, checks.map(({ found }) => found)]), [
          [
            "What is the pay of engineers? (as user:ann@acme.com, group:ENG@acme.com)",
            ann,
            [
              undefined,
              "not among the first 100 contexts: pay/eng.md, pay/ann.md, pay/scale.md were found; user:ann@acme.com, group:ENG@acme.com may not read it"
            ]
          ],
          [
            "What is the pay of engineers? (as someone without principals)",
            [],
            ["not among the first 100 contexts: pay/scale.md was found; someone without principals may not read it"]
          ],
          [
            "What is the pay of engineers? (as user:ben@acme.com)",
            "user:ben@acme.com",
            ["not among the first 100 contexts: pay/scale.md was found; user:ben@acme.com may not read it"]
          ]
        ])
      }).pipe(Effect.provide(engine))
    }).pipe(Effect.scoped))

  it.live("is asked for on the command line and in files of tests", () =>
    Effect.gen(function*() {
      const { engine, folder: cwd, pipeline } = yield* scene
      yield* Embedded.exportBundle(pipeline, join(cwd, "pay.bundle")).pipe(Effect.provide(engine))
      write(cwd, {
        "tests.csv":
          "question,principal,files\nWhat is the pay of engineers?,user:ann@acme.com; group:eng@acme.com,pay/ann.md;pay/eng.md\nWhat is the pay of Ann?,user:ann@acme.com,pay/ann.md\n",
        "tests.yaml":
          "- question: What is the pay of engineers?\n  principal: [user:ann@acme.com, group:eng@acme.com]\n  files: [pay/ann.md, pay/eng.md]\n"
      })
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd }))
      const found = (...flags: ReadonlyArray<string>) =>
        Effect.map(run("retrieve", "the pay", "-p", "pay.bundle", "--json", ...flags), (finished) =>
          namesOf((events(finished)[0] as unknown as { contexts: ReadonlyArray<{ sourceDisplayName: string }> }).contexts))
      const as = ann.flatMap((principal) => ["--as", principal])
      assert.deepStrictEqual(yield* found(), Object.keys(pay).toSorted())
      assert.deepStrictEqual(yield* found(...as.slice(0, 2)), ["pay/ann.md", "pay/scale.md"])
      assert.deepStrictEqual(yield* found(...as), ["pay/ann.md", "pay/eng.md", "pay/scale.md"])
      assert.deepStrictEqual(yield* found("--as", ""), ["pay/scale.md"])
      const empty = yield* run("retrieve", "the pay", "-p", "pay.bundle", "--as", "", ...as)
      assert.strictEqual(empty.code, 4)
      assert.match(empty.stderr, /principals that are not empty/)
      const facets = yield* run("files", "facets", "none", "-p", "pay.bundle", ...as)
      assert.match(facets.stdout, /\(none\) +3$/m)
      for (const [tests, passed] of [["tests.csv", "2 tests"], ["tests.yaml", "1 test"]] as const) {
        const evaluated = yield* run("eval", "pay.bundle", "--tests", tests)
        assert.include(evaluated.stdout, `${passed} passed`, evaluated.stderr)
      }
    }).pipe(Effect.scoped))

  it.live("is asked for in the inspector, which shows no more than they may read", () =>
    Effect.gen(function*() {
      const { engine, folder: cwd, pipeline } = yield* scene
      yield* Embedded.exportBundle(pipeline, join(cwd, "pay.bundle")).pipe(Effect.provide(engine))
      const searched = (flags: ReadonlyArray<string>, as = "") =>
        Effect.gen(function*() {
          const { ask, id } = yield* inspector(cwd, ["pay.bundle", ...flags])
          const { body: { hits, removed }, status } = yield* Effect.promise(() => ask(`/corpora/${id}/search?q=pay${as}`))
          const { body: { principal } } = yield* Effect.promise(() => ask(`/corpora/${id}`))
          const pathsOf = (found: ReadonlyArray<{ readonly path: string; readonly by?: string }> = []) =>
            found.map(({ by, path }) => by === undefined ? path : `${path} ${by}`).toSorted()
          return { status, hits: pathsOf(hits), removed: pathsOf(removed), principal }
        })
      const theirs = ["pay/ann.md", "pay/eng.md", "pay/scale.md"]
      assert.deepStrictEqual(yield* searched([], "&as=user:ann@acme.com;%20group:eng@acme.com"), {
        status: 200,
        hits: theirs,
        removed: ["pay/acme.md as"],
        principal: undefined
      })
      assert.deepStrictEqual((yield* searched([], "&as=;")).hits, ["pay/scale.md"])
      const flags = ["--as", "user:ann@acme.com", "--as", "group:eng@acme.com"]
      const principal = "user:ann@acme.com; group:eng@acme.com"
      const limited = { status: 200, hits: theirs, removed: [], principal }
      assert.deepStrictEqual(yield* searched(flags), limited)
      assert.deepStrictEqual(yield* searched(flags, "&as=group:eng@acme.com;user:Ann@acme.com"), limited)
      assert.strictEqual((yield* searched(flags, "&as=user:ann@acme.com")).status, 403)
    }).pipe(Effect.scoped))
})
