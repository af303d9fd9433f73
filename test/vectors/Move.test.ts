import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { command } from "../support/Command.ts"
import { events } from "../support/Finished.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { fakeWeaviate } from "../fakes/Weaviate.ts"

const pipeline = (vectorDb: string) => `
name: move
corpus: { displayName: Move, vectorDb: ${vectorDb} }
sources: { docs: { local: { path: ./docs } } }
`

describe("another vectorDb", () => {
  it.live("is a rebuild that plan announces, for which nothing is embedded again; and doctor looks at it", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      const { asked, classes, origin } = yield* fakeWeaviate({ key: () => "the-key" })
      write(cwd, {
        "here.yaml": pipeline("managed"),
        "there.yaml": pipeline(
          `{ weaviate: { httpEndpoint: "${origin}", collectionName: Moved, apiKey: projects/p/secrets/w/versions/1 } }`
        )
      })
      write(join(cwd, "docs"), { "a.md": "# A\n\nThe boiler is checked in spring.\n", "b.md": "# B\n\nThe roof is checked in autumn.\n" })
      const run = (key: string, ...args: ReadonlyArray<string>) =>
        Effect.promise(() => command([...args, "--data-dir", "data", "--json"], { cwd, env: { SLUICE_SECRET_W: key } }))

      assert.strictEqual((yield* run("the-key", "run", "here.yaml")).code, 0)
      assert.lengthOf(asked, 0)
      const plan = yield* run("the-key", "plan", "there.yaml")
      assert.include(plan.stdout, "corpus.vectorDb")
      assert.include(plan.stdout, "weaviate")
      assert.lengthOf(asked, 0)
      const refused = yield* run("the-key", "run", "there.yaml")
      assert.notStrictEqual(refused.code, 0)

      // A wrong key ends the run with one error, and nothing is written.
      const wrong = yield* run("another-key", "run", "there.yaml", "--replace")
      assert.strictEqual(wrong.code, 5, wrong.stdout)
      assert.strictEqual(classes.size, 0)
      assert.notInclude(wrong.stdout + wrong.stderr, "another-key")
      assert.match(wrong.stderr, /there\.yaml:3:\d+ {2}corpus\.vectorDb\.weaviate\.apiKey: .*401/)

      const moved = yield* run("the-key", "run", "there.yaml", "--replace")
      assert.strictEqual(moved.code, 0, moved.stderr)
      assert.deepInclude(events(moved).at(-1)?.["report"], { embedded: 0 })
      const properties = [...classes.get("Moved")?.objects.values() ?? []].map((object) => object.properties)
      assert.lengthOf(properties.filter(({ chunkDataType }) => chunkDataType === "TEXT"), 2)
      // It was called otherwise while it was built.
      const [record] = properties.filter(({ chunkDataType }) => chunkDataType === "CORPUS")
      assert.deepInclude(JSON.parse(String(record?.["chunkData"])), { displayName: "Move" })
      const found = yield* run("the-key", "retrieve", "roof in autumn", "-p", "there.yaml")
      assert.include(found.stdout, "b.md")

      const well = yield* run("the-key", "doctor", "there.yaml")
      assert.include(well.stdout, "collection Moved of Weaviate")
      assert.include(well.stdout, "has 2 chunks of 2048 dimensions")
      const unwell = yield* run("another-key", "doctor", "there.yaml")
      assert.strictEqual(unwell.code, 1)
      assert.match(unwell.stdout, /there\.yaml:3:\d+ {2}corpus\.vectorDb\.weaviate\.apiKey: [^]*401[^]*put a key that is valid now/)
    }).pipe(Effect.scoped))
})
