import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { join } from "node:path"
import { command } from "../support/Command.ts"
import { events } from "../support/Finished.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { discoveryEngineNames, fakeDiscoveryEngine } from "../fakes/DiscoveryEngine.ts"
import { fakeFeatureStore, featureStoreNames } from "../fakes/FeatureStore.ts"
import { fakeOpenAi } from "../fakes/Openai.ts"
import { fakeVectorSearch, vectorSearchNames } from "../fakes/VectorSearch.ts"

interface Place {
  /** The corpus's lines of the pipeline file, beside its name. */
  readonly corpus: string
  /** Of the stage that searches, beside topK. */
  readonly retrieve: string
  readonly env: Readonly<Record<string, string>>
  readonly chunks: () => number
  /** Whether a search was asked for as the pipeline says. */
  readonly askedAsSaid: () => boolean
  readonly doctor: RegExp
}

const mixed = "hybrid: { alpha: 0.5 }"
const pipeline = (corpus: string, retrieve = mixed) => `
name: google
corpus:
  displayName: Google
${corpus}
sources: { docs: { local: { path: ./docs } } }
stages: [{ retrieve: { topK: 2, ${retrieve} } }]
`

const vectorSearch = `
  vectorDb:
    vectorSearch:
      index: ${vectorSearchNames.index}
      indexEndpoint: ${vectorSearchNames.indexEndpoint}`

const agentSearch = `
  vectorDb:
    agentSearch:
      servingConfig: ${discoveryEngineNames.servingConfig}`

/** Vectors of 16 dimensions, by the words of a text. */
const smallEmbedder = Effect.map(
  fakeOpenAi(({ body }, response) => {
    const data = body.input.map((text, index) => {
      const embedding = Array.from({ length: 16 }, () => 0)
      for (const word of text.toLowerCase().match(/\w+/g) ?? []) embedding[word.length % 16]! += word.charCodeAt(0) / 100
      return { index, embedding, object: "embedding" }
    })
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data, usage: { prompt_tokens: 1 } }))
  }),
  ({ baseUrl }) => `  embedding: { openai: { url: "${baseUrl}", model: small, dimensions: 16 } }`
)

const places: Readonly<Record<string, Effect.Effect<Place, never, Scope.Scope>>> = {
  "Vector Search": Effect.map(fakeVectorSearch({ dimensions: 2048 }), ({ asked, datapoints, origin }) => ({
    corpus: vectorSearch,
    retrieve: mixed,
    env: { CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM: origin },
    chunks: () => [...datapoints.keys()].filter((id) => !id.startsWith("corpora/")).length,
    askedAsSaid: () => asked.some(({ body }) => body.toString().includes("\"rrf\":{\"alpha\":0.5}")),
    doctor: /indexes 17 of Vector Search has 2 chunks of 2048 dimensions \(API v1\)/
  })),
  "Agent Search": Effect.gen(function*() {
    const { asked, documents, origin } = yield* fakeDiscoveryEngine()
    return {
      corpus: `${agentSearch}\n${yield* smallEmbedder}`,
      retrieve: mixed,
      env: { CLOUDSDK_API_ENDPOINT_OVERRIDES_DISCOVERYENGINE: origin },
      chunks: () => [...documents.values()].filter(({ corpusId }) => corpusId !== "corpora").length,
      askedAsSaid: () => ["embeddingSpec", "RANK_BY_FORMULA"].every((arm) => asked.some(({ body }) => body.toString().includes(arm))),
      doctor: /data store docs of Agent Search has 2 chunks of 16 dimensions \(API v1beta\)/
    }
  }),
  "Feature Store": Effect.map(fakeFeatureStore({ dimensions: 2048 }), ({ asked, origin, rows }) => ({
    corpus: `
  vectorDb:
    featureStore:
      featureView: ${featureStoreNames.featureView}`,
    retrieve: "filter: { maxDistance: 1.5 }",
    env: { CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM: origin, CLOUDSDK_API_ENDPOINT_OVERRIDES_BIGQUERY: origin },
    chunks: () => rows().filter(({ corpus_id }) => corpus_id !== "corpora").length,
    askedAsSaid: () => asked.some(({ url }) => url.pathname.endsWith(":searchNearestEntities")),
    doctor: /feature view docs of online of Feature Store has 2 chunks of 2048 dimensions \(API v1\)/
  }))
}

describe("a pipeline on a database of Google's, on this machine", () => {
  it.live.each(Object.entries(places))(
    "is run, edited, asked, looked at and made again from what is there, and nothing stays that no source has: %s",
    ([, place]) =>
      Effect.gen(function*() {
        const cwd = yield* tempFolder
        const { askedAsSaid, chunks, corpus, doctor, env, retrieve } = yield* place
        write(cwd, { "pipeline.yaml": pipeline(corpus, retrieve) })
        write(join(cwd, "docs"), {
          "leave.md": "# Leave\n\nUnused days of annual leave carry over until March.\n",
          "travel.md": "# Travel\n\nHotels in Osaka are paid up to 120 euros a night.\n"
        })
        const cli = (dataDir: string, ...args: ReadonlyArray<string>) =>
          Effect.promise(() => command([...args, "--data-dir", dataDir], { cwd, env }))
        const first = yield* cli("data", "run", "pipeline.yaml", "--json")
        assert.strictEqual(first.code, 0, first.stdout + first.stderr)
        assert.strictEqual(chunks(), 2)
        const question = "What happens to unused days of annual leave?"
        const ask = (dataDir: string) => cli(dataDir, "retrieve", "--pipeline", "pipeline.yaml", "--json", question)
        assert.include((yield* ask("data")).stdout, "carry over")
        assert.isTrue(askedAsSaid())

        write(join(cwd, "docs"), { "leave.md": "# Leave\n\nUnused days of annual leave are paid out in December.\n" })
        const edited = yield* cli("data", "run", "pipeline.yaml", "--json")
        assert.strictEqual(edited.code, 0, edited.stderr)
        assert.deepInclude(events(edited).at(-1)?.["report"], { embedded: 1 })
        assert.strictEqual(chunks(), 2)
        const found = (yield* ask("data")).stdout
        assert.include(found, "December")
        assert.notInclude(found, "carry over")
        assert.match((yield* cli("data", "doctor", "pipeline.yaml")).stdout.replace(/\s+/g, " "), doctor)

        // Another machine, that knows nothing of it.
        const again = yield* cli("other", "run", "pipeline.yaml", "--json")
        assert.strictEqual(again.code, 0, again.stdout + again.stderr)
        assert.deepInclude(events(again).at(-1)?.["report"], { embedded: 0 })
        assert.strictEqual(chunks(), 2)
        assert.include((yield* ask("other")).stdout, "December")
      }).pipe(Effect.scoped)
  )

  it.live("is refused before anything is written where the database does not fit", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      const index = yield* fakeVectorSearch({ dimensions: 768 })
      const dataStore = yield* fakeDiscoveryEngine()
      write(cwd, { "vectors.yaml": pipeline(vectorSearch), "agent.yaml": pipeline(agentSearch), "docs/a.md": "# A\n\nWords.\n" })
      const refused = (file: string) =>
        Effect.promise(() =>
          command(["run", file, "--data-dir", file.replace(".yaml", "")], {
            cwd,
            env: {
              CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM: index.origin,
              CLOUDSDK_API_ENDPOINT_OVERRIDES_DISCOVERYENGINE: dataStore.origin
            }
          })
        ).pipe(Effect.map(({ code, stderr }) => `${code} ${stderr.replace(/\s+/g, " ")}`))
      assert.match(yield* refused("vectors.yaml"), /^1 .*vectors\.yaml:8:14 corpus\.vectorDb\.vectorSearch\.index: .* has 768 dimensions/)
      assert.match(
        yield* refused("agent.yaml"),
        /^1 .*agent\.yaml:8:22 corpus\.vectorDb\.agentSearch\.servingConfig: .* 768 dimensions at most, and the embedder gives 2048/
      )
      assert.deepStrictEqual([index.datapoints.size, dataStore.documents.size], [0, 0])
    }).pipe(Effect.scoped))
})
