import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { events, sluice } from "../support/Sluice.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { fakeVectorSearch, vectorSearchNames } from "../fakes/VectorSearch.ts"

const pipeline = `
name: google
corpus:
  displayName: Google
  vectorDb:
    vectorSearch:
      index: ${vectorSearchNames.index}
      indexEndpoint: ${vectorSearchNames.indexEndpoint}
sources: { docs: { local: { path: ./docs } } }
stages: [{ retrieve: { topK: 2, hybrid: { alpha: 0.5 } } }]
`

describe("a pipeline on Vector Search, on this machine", () => {
  it.live(
    "is run, edited, asked, looked at and made again from what is there, and nothing stays that no source has",
    () =>
      Effect.gen(function*() {
        const cwd = yield* tempFolder
        const { asked, datapoints, origin } = yield* fakeVectorSearch({ dimensions: 2048 })
        write(cwd, { "pipeline.yaml": pipeline })
        write(join(cwd, "docs"), {
          "leave.md": "# Leave\n\nUnused days of annual leave carry over until March.\n",
          "travel.md": "# Travel\n\nHotels in Osaka are paid up to 120 euros a night.\n"
        })
        const cli = (dataDir: string, ...args: ReadonlyArray<string>) =>
          Effect.promise(() =>
            sluice([...args, "--data-dir", dataDir], { cwd, env: { CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM: origin } })
          )
        const first = yield* cli("data", "run", "pipeline.yaml", "--json")
        assert.strictEqual(first.code, 0, first.stdout + first.stderr)
        const chunks = () => [...datapoints.keys()].filter((id) => !id.startsWith("corpora/"))
        assert.lengthOf(chunks(), 2)
        const question = "What happens to unused days of annual leave?"
        const ask = (dataDir: string) => cli(dataDir, "retrieve", "--pipeline", "pipeline.yaml", "--json", question)
        assert.include((yield* ask("data")).stdout, "carry over")
        assert.isTrue(asked.some(({ body }) => body.toString().includes("\"rrf\":{\"alpha\":0.5}")))

        write(join(cwd, "docs"), { "leave.md": "# Leave\n\nUnused days of annual leave are paid out in December.\n" })
        const edited = yield* cli("data", "run", "pipeline.yaml", "--json")
        assert.strictEqual(edited.code, 0, edited.stderr)
        assert.deepInclude(events(edited).at(-1)?.["report"], { embedded: 1 })
        assert.lengthOf(chunks(), 2)
        const found = (yield* ask("data")).stdout
        assert.include(found, "December")
        assert.notInclude(found, "carry over")
        const doctor = yield* cli("data", "doctor", "pipeline.yaml")
        assert.match(doctor.stdout.replace(/\s+/g, " "), /indexes 17 of Vector Search has 2 chunks of 2048 dimensions \(API v1\)/)

        // Another machine, that knows nothing of it.
        const again = yield* cli("other", "run", "pipeline.yaml", "--json")
        assert.strictEqual(again.code, 0, again.stdout + again.stderr)
        assert.deepInclude(events(again).at(-1)?.["report"], { embedded: 0 })
        assert.lengthOf(chunks(), 2)
        assert.include((yield* ask("other")).stdout, "December")
      }).pipe(Effect.scoped),
    120_000
  )

  it.live("is refused before anything is written where the index does not fit", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      const { datapoints, origin } = yield* fakeVectorSearch({ dimensions: 768 })
      write(cwd, { "pipeline.yaml": pipeline, "docs/a.md": "# A\n\nWords.\n" })
      const { code, stderr } = yield* Effect.promise(() =>
        sluice(["run", "pipeline.yaml", "--data-dir", "data"], { cwd, env: { CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM: origin } })
      )
      assert.strictEqual(code, 1)
      assert.match(stderr.replace(/\s+/g, " "), /pipeline\.yaml:7:14 corpus\.vectorDb\.vectorSearch\.index: .* has 768 dimensions/)
      assert.strictEqual(datapoints.size, 0)
    }).pipe(Effect.scoped), 60_000)
})
