import { Pool } from "@effect/platform-node/Undici"
import { Context, Effect, Layer, type Scope } from "effect"
import { CorpusName } from "../../src/domain/Corpus.ts"
import type { ServiceError, StateError } from "../../src/domain/Errors.ts"
import { layer as embedded } from "../../src/engines/embedded/Embedded.ts"
import * as HostedRetrieval from "../../src/engines/vertex/HostedRetrieval.ts"
import * as Transport from "../../src/engines/vertex/Transport.ts"
import { HashEmbedder } from "../../src/models/HashEmbedder.ts"
import { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import * as Http from "../../src/net/Http.ts"
import { Corpora } from "../../src/ports/Corpora.ts"
import { Retrieval } from "../../src/ports/Retrieval.ts"
import * as QuotaBuckets from "../../src/state/QuotaBuckets.ts"
import { State } from "../../src/state/State.ts"
import { TextPool } from "../../src/text/TextPool.ts"
import type { RetrieveContextsResponse } from "../../src/wire/messages/Retrieval.ts"
import { lastSegment, retrieveRequestToWire } from "../../src/wire/rag/Retrievals.ts"
import { encodeRequest, path, routes } from "../../src/wire/Routes.ts"

/** Texts of the contexts for a question, best first. */
export type Retrieve = (query: string) => Promise<ReadonlyArray<string>>

const location = "us-central1"
const corpusOf = (project: string, corpusId: string): CorpusName =>
  CorpusName.make(`projects/${project}/locations/${location}/ragCorpora/${corpusId}`)

/** The port itself, in this process, over the one corpus of a data directory. */
export const port = (
  dataDir: string
): Effect.Effect<{ readonly retrieve: Retrieve; readonly corpusId: string }, ServiceError | StateError, Scope.Scope> =>
  Effect.gen(function*() {
    const engine = yield* Layer.build(embedded({ dataDir }).pipe(Layer.provide([HashEmbedder, TextPool.layerInline()])))
    const [corpus] = (yield* Context.get(engine, Corpora).list({})).items
    if (corpus === undefined) return yield* Effect.die(new Error(`${dataDir} holds no corpus`))
    return { retrieve: through(Context.get(engine, Retrieval), corpus.name), corpusId: lastSegment(corpus.name) }
  })

/** Retrievals that the service allows a project in a minute. */
const projectAllowance = 1_500

/**
 * The hosted engine's client as a pipeline has it, with its quotas in a state database. It asks for one project after
 * the other, because it would wait for the next minute when a project has had its turns. The server does not mind.
 */
export const hostedClient = (
  url: string,
  { connections, corpusId, dataDir }: { readonly connections: number; readonly corpusId: string; readonly dataDir: string }
): Effect.Effect<Retrieve, StateError, Scope.Scope> =>
  Effect.gen(function*() {
    const shared = yield* Layer.build(Layer.mergeAll(
      Http.layer({ connections }),
      GoogleAuth.layerAnonymous,
      QuotaBuckets.layer.pipe(Layer.provide(State.layer(dataDir)))
    ))
    const scope = yield* Effect.scope
    const clientOf = (project: string): Promise<Retrieve> =>
      Layer.buildWithScope(
        HostedRetrieval.layer.pipe(Layer.provide(Transport.layer({ project, location, baseUrl: url }))),
        scope
      ).pipe(
        Effect.map((client) => through(Context.get(client, Retrieval), corpusOf(project, corpusId))),
        Effect.provide(shared),
        Effect.runPromise
      )
    let asked = 0
    let client = clientOf("bench-0")
    return async (query) => {
      if (++asked % projectAllowance === 0) client = clientOf(`bench-${asked / projectAllowance}`)
      return (await client)(query)
    }
  })

/** The same requests by undici alone, encoded beforehand but for the question: no client can do less. Gives the body of an answer. */
export const bareUndici = (
  url: string,
  { connections, corpusId }: { readonly connections: number; readonly corpusId: string }
): Effect.Effect<(query: string) => Promise<string>, ServiceError, Scope.Scope> =>
  Effect.gen(function*() {
    const pool = yield* Effect.acquireRelease(
      Effect.sync(() => new Pool(url, { connections })),
      (pool) => Effect.promise(() => pool.destroy())
    )
    const route = routes.retrieveContexts
    const to = yield* Effect.fromResult(path(route, Transport.version, { parent: `projects/bench/locations/${location}` }))
    const question = "?"
    const request = yield* Effect.fromResult(retrieveRequestToWire({ corpus: corpusOf("bench", corpusId), query: question }))
    const encoded = JSON.stringify(yield* Effect.fromResult(encodeRequest(route, Transport.version, request)))
    const [before = "", after = ""] = encoded.split(JSON.stringify(question))
    const headers = { "content-type": "application/json", accept: "application/json" }
    return async (query) => {
      const { body, statusCode } = await pool.request({
        method: "POST",
        path: to,
        headers,
        body: `${before}${JSON.stringify(query)}${after}`
      })
      if (statusCode !== 200) throw new Error(`the server answered ${statusCode}: ${await body.text()}`)
      return await body.text()
    }
  })

export const textsOf = (answer: string): ReadonlyArray<string> => {
  const { contexts }: RetrieveContextsResponse = JSON.parse(answer) // that it is one, `agree` shows
  return (contexts?.contexts ?? []).map(({ text = "" }) => text)
}

/** @throws unless all give the same contexts, and some; their order is each one's own: the wire has them by distance */
export const agree = async (retrieves: ReadonlyArray<Retrieve>, queries: ReadonlyArray<string>): Promise<void> => {
  for (const query of queries) {
    const answers = new Set(await Promise.all(retrieves.map(async (retrieve) => JSON.stringify((await retrieve(query)).toSorted()))))
    if (answers.size !== 1 || answers.has("[]")) throw new Error(`not the same contexts from all, or none at all: ${query}`)
  }
}

const through = (retrieval: Retrieval["Service"], corpus: CorpusName): Retrieve => async (query) =>
  (await Effect.runPromise(retrieval.retrieve({ corpus, query }))).map(({ text }) => text)
