import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { afterAll } from "vitest"
import { existsSync } from "node:fs"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { connectors } from "../../connectors/index.ts"
import * as Embedded from "../../src/compose/EmbeddedEntry.ts"
import { ServiceError } from "../../src/domain/Errors.ts"
import * as Pipeline from "../../src/pipeline/Pipeline.ts"
import { type Asked, type FakeServer, fakeServer, sendJson } from "../fakes/Http.ts"
import { discoveryEngineNames, fakeDiscoveryEngine } from "../fakes/DiscoveryEngine.ts"
import { fakeFeatureStore, type FakeFeatureStoreOptions, featureStoreNames } from "../fakes/FeatureStore.ts"
import { fakePinecone } from "../fakes/Pinecone.ts"
import { fakeQdrant } from "../fakes/Qdrant.ts"
import { fakeWeaviate } from "../fakes/Weaviate.ts"
import { hastened } from "../support/Hastened.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { lanceDbFolder } from "./support/LanceDb.ts"
import { ownPostgres } from "./support/Postgres.ts"

/** A database that cannot be used. */
interface Bad {
  /** The field that the error names, and what it says and advises. */
  readonly field: string
  readonly said: RegExp
  readonly fix?: RegExp
  readonly code?: ServiceError["code"]
  /** Fields of the database, by their names. */
  readonly settings: Readonly<Record<string, string>>
  /** What of it was written. */
  readonly written?: () => number
}

type Place = Effect.Effect<Bad, never, Scope.Scope>

const key = "projects/p/secrets/db/versions/latest"
const nowhere = "http://127.0.0.1:9"

/** Requests that change something; looks for what a key may do change nothing. */
const writes = (asked: ReadonlyArray<Asked>): number =>
  asked.filter(({ body, method, url }) =>
    method !== "GET" && !/graphql|points\/(?:count|query|scroll)|describe_index_stats|\/query$/.test(url.pathname) &&
    !/"dryRun":true|nobody|00000000-0000-8000-8000-000000000000/.test(body.toString())
  ).length

const json = (method: string, url: string, body: object) =>
  Effect.promise(() => fetch(url, { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } }))

const always = 1_000

/** A server of which some requests fail; `before` fills it, which does not count. */
const faulty = <S extends FakeServer>(
  server: Effect.Effect<S, never, Scope.Scope>,
  settings: (server: S) => Readonly<Record<string, string>>,
  { before, fails }: {
    readonly before?: (server: S) => Effect.Effect<unknown>
    readonly fails?: readonly [match: (asked: Asked) => boolean, status: number, body: unknown]
  },
  expected: Omit<Bad, "settings" | "written">
): Place =>
  Effect.gen(function*() {
    const made = yield* server
    if (before !== undefined) yield* before(made)
    if (fails !== undefined) made.fault(always, fails[0], (response) => sendJson(response, fails[1], fails[2]))
    const earlier = writes(made.asked)
    return { ...expected, settings: settings(made), written: () => writes(made.asked) - earlier }
  })

const documented = ["fileId", "corpusId", "chunkId", "chunkDataType", "chunkData", "fileOriginalUri"].map((name) => ({
  name,
  dataType: ["text"]
}))

const weaviate = (
  faults: Parameters<typeof faulty<Effect.Success<ReturnType<typeof fakeWeaviate>>>>[2],
  expected: Parameters<typeof faulty>[3],
  options: Parameters<typeof fakeWeaviate>[0] = {}
) => faulty(fakeWeaviate(options), ({ origin }) => ({ httpEndpoint: origin, collectionName: "Docs", apiKey: key }), faults, expected)
const collection = (config: object) => ({
  before: ({ origin }: FakeServer) => json("POST", `${origin}/v1/schema`, { class: "Docs", properties: documented, ...config })
})

const qdrant = (
  faults: Parameters<typeof faulty<Effect.Success<ReturnType<typeof fakeQdrant>>>>[2],
  expected: Parameters<typeof faulty>[3],
  options: Parameters<typeof fakeQdrant>[0] = {}
) => faulty(fakeQdrant(options), ({ origin }) => ({ url: origin, collection: "docs", apiKey: key }), faults, expected)
const points = (dense: object, others: object = { sparse_vectors: { terms: { modifier: "idf" } } }) => ({
  before: ({ origin }: FakeServer) => json("PUT", `${origin}/collections/docs`, { vectors: { dense }, ...others })
})
const fitting = points({ size: 2048, distance: "Cosine" })

const pinecone = (
  expected: Parameters<typeof faulty>[3],
  options: Partial<Parameters<typeof fakePinecone>[0]> = {},
  faults: Parameters<typeof faulty>[2] = {},
  settings: Readonly<Record<string, string>> = {}
) =>
  faulty(
    Effect.tap(fakePinecone({ dimension: 2048, key: "right", ...options }), ({ origin }) =>
      Effect.acquireRelease(
        Effect.sync(() => void (process.env["PINECONE_CONTROLLER_HOST"] = origin)),
        () => Effect.sync(() => void delete process.env["PINECONE_CONTROLLER_HOST"])
      )),
    () => ({ indexName: "docs", apiKey: key, ...settings }),
    faults,
    expected
  )

/** Google's services at other addresses, for as long as the scope lives. */
const overriding = (apis: ReadonlyArray<string>) => ({ origin }: FakeServer) =>
  Effect.forEach(apis, (api) => {
    const name = `CLOUDSDK_API_ENDPOINT_OVERRIDES_${api}`
    return Effect.acquireRelease(
      Effect.sync(() => void (process.env[name] = origin)),
      () => Effect.sync(() => void delete process.env[name])
    )
  })
const featureStore = (
  expected: Omit<Bad, "settings" | "written" | "field">,
  options: Partial<FakeFeatureStoreOptions> = {},
  faults: Parameters<typeof faulty>[2] = {}
) =>
  faulty(
    Effect.tap(fakeFeatureStore({ dimensions: 2048, ...options }), overriding(["AIPLATFORM", "BIGQUERY"])),
    () => featureStoreNames,
    faults,
    { ...expected, field: "featureView" }
  )
const agentSearch = (expected: Omit<Bad, "settings" | "written" | "field">, faults: Parameters<typeof faulty>[2] = {}) =>
  faulty(
    Effect.tap(fakeDiscoveryEngine(), overriding(["DISCOVERYENGINE"])),
    () => ({ servingConfig: discoveryEngineNames.servingConfig }),
    faults,
    { ...expected, field: "servingConfig" }
  )

/** A server that answers every connection with an error of PostgreSQL's protocol, as a real one words it. */
const refusing = (code: string, message: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const fields = `SFATAL\0VFATAL\0C${code}\0M${message}\0\0`
      const answer = Buffer.alloc(5 + Buffer.byteLength(fields))
      answer.write("E")
      answer.writeInt32BE(4 + Buffer.byteLength(fields), 1)
      answer.write(fields, 5)
      const server = createServer((socket) => {
        socket.on("error", () => {})
        socket.once("data", () => socket.end(answer))
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      return server
    }),
    (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
  ).pipe(Effect.map((server) => `postgres://sluice:the-password@127.0.0.1:${(server.address() as AddressInfo).port}/docs`))

const ofUrl = (url: Effect.Effect<string, never, Scope.Scope>, expected: Omit<Bad, "settings">): Place =>
  Effect.map(url, (secret) => {
    process.env["SLUICE_SECRET_DB"] = secret
    return { ...expected, settings: { url: key } }
  })

/** A real PostgreSQL in this process, whose one session these statements prepare, and others put back. */
const postgres = (statements: string, after: string, expected: Omit<Bad, "settings">, more: Readonly<Record<string, string>> = {}): Place =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const postgres = await ownPostgres()
      await postgres.db.exec(statements)
      return postgres
    }),
    ({ db }) =>
      Effect.promise(async () => {
        await db.exec("RESET ROLE; RESET default_transaction_read_only")
        await db.exec(`${after}; DROP EXTENSION IF EXISTS vector`)
      })
  ).pipe(Effect.map(({ address }) => {
    process.env["SLUICE_SECRET_DB"] = `postgres://postgres:the-password@${address}/postgres`
    return { ...expected, settings: { url: key, ...more } }
  }))

const lance = (
  files: Readonly<Record<string, string>>,
  uri: string,
  expected: Omit<Bad, "settings">
): Place =>
  Effect.map(tempFolder, (folder) => {
    write(folder, files)
    return { ...expected, settings: { uri: join(folder, uri) } }
  })

const isWrite = ({ method, url }: Asked) =>
  /batch\/objects|points|upsert|vectors\/delete/.test(url.pathname) && method !== "GET" && !/count/.test(url.pathname)

const cases: Readonly<Record<string, Readonly<Record<string, Place>>>> = {
  weaviate: {
    "a wrong key": weaviate({}, { field: "apiKey", code: "UNAUTHENTICATED", said: /401/, fix: /key/ }, { key: () => "another" }),
    "a key where none is taken": weaviate({
      fails: [() => true, 401, { error: [{ message: "no authentication scheme is configured (API Key or OIDC)" }] }]
    }, { field: "apiKey", code: "UNAUTHENTICATED", said: /401/, fix: /leave the key out/ }),
    "a key that may only read": weaviate({ ...collection({}), fails: [isWrite, 403, { error: [{ message: "rbac: forbidden" }] }] }, {
      field: "apiKey",
      code: "PERMISSION_DENIED",
      said: /403/,
      fix: /write/
    }),
    "shards that are read-only": weaviate({
      ...collection({}),
      fails: [({ url }) => url.pathname.endsWith("/shards"), 200, [{ name: "a", status: "READONLY" }]]
    }, { field: "collectionName", said: /read-only/, fix: /room/ }),
    "vectors of other dimensions": weaviate({
      before: ({ origin }) =>
        Effect.andThen(
          collection({}).before({ origin } as FakeServer),
          json("POST", `${origin}/v1/batch/objects`, { objects: [{ class: "Docs", id: "a", properties: {}, vector: [1, 0, 0] }] })
        )
    }, { field: "collectionName", said: /other dimensions/, fix: /another collection/ }),
    "another metric": weaviate(collection({ vectorIndexConfig: { distance: "dot" } }), { field: "collectionName", said: /by dot/ }),
    "a collection of somebody else": weaviate(collection({ properties: [{ name: "title", dataType: ["text"] }] }), {
      field: "collectionName",
      said: /somebody else's/
    }),
    "a server that is too old": weaviate({}, { field: "httpEndpoint", said: /1\.20\.3.*1\.21/, fix: /update/ }, { version: "1.20.3" }),
    "something that is no Weaviate": Effect.map(
      fakeServer((_, response) => sendJson(response, 200, { hello: "world" })),
      ({ asked, origin }): Bad => ({
        field: "httpEndpoint",
        said: /is not Weaviate/,
        settings: { httpEndpoint: origin, collectionName: "Docs" },
        written: () => writes(asked)
      })
    ),
    "a server that knows nothing of it": Effect.map(
      fakeServer((_, response) => sendJson(response, 404, { error: { code: 404, message: "Method not found." } })),
      ({ asked, origin }): Bad => ({
        field: "httpEndpoint",
        said: /is not Weaviate/,
        fix: /address/,
        settings: { httpEndpoint: origin, collectionName: "Docs" },
        written: () => writes(asked)
      })
    ),
    "a proxy that lets a part through": weaviate({
      ...collection({}),
      fails: [({ method }) => method === "DELETE", 404, { error: [{ message: "no such route" }] }]
    }, { field: "httpEndpoint", code: "NOT_FOUND", said: /no such route/, fix: /address/ }),
    "a name that is none": weaviate({}, { field: "collectionName", said: /no name/ }).pipe(
      Effect.map((bad) => ({ ...bad, settings: { ...bad.settings, collectionName: "no name" } }))
    )
  },
  qdrant: {
    "a wrong key": qdrant({}, { field: "apiKey", code: "UNAUTHENTICATED", said: /401/ }, { key: "another" }),
    "a key that may only read": qdrant({
      ...fitting,
      fails: [isWrite, 403, { status: { error: "Forbidden: Write access required" }, time: 0 }]
    }, { field: "apiKey", code: "PERMISSION_DENIED", said: /Write access/, fix: /write/ }),
    "a disk that is full": qdrant({
      ...fitting,
      fails: [isWrite, 500, {
        status: { error: "Service internal error: No space left on device: WAL buffer size exceeds available disk space" },
        time: 0
      }]
    }, { field: "collection", said: /No space left/, fix: /room/ }),
    "vectors of other dimensions": qdrant(points({ size: 3, distance: "Cosine" }), { field: "collection", said: /3 dimensions/ }),
    "another metric": qdrant(points({ size: 2048, distance: "Dot" }), { field: "collection", said: /by Dot/ }),
    "a collection of somebody else": qdrant(points({ size: 2048, distance: "Cosine" }, {}), {
      field: "collection",
      said: /somebody else's/
    }),
    "a server of something else": Effect.map(
      fakeServer((_, response) => sendJson(response, 200, { name: "another", version: "1.18.0" })),
      ({ asked, origin }): Bad => ({
        field: "url",
        said: /is not Qdrant/,
        fix: /address/,
        settings: { url: origin, collection: "docs" },
        written: () => writes(asked)
      })
    ),
    "a server that knows nothing of it": Effect.map(
      fakeServer((_, response) => sendJson(response, 404, { error: "Not Found" })),
      ({ asked, origin }): Bad => ({
        field: "url",
        said: /is not Qdrant/,
        fix: /address/,
        settings: { url: origin, collection: "docs" },
        written: () => writes(asked)
      })
    ),
    "a server that is too old": qdrant({}, { field: "url", said: /1\.7\.4.*1\.10/, fix: /update/ }, { version: "1.7.4" })
  },
  pinecone: {
    "a wrong key": pinecone({ field: "apiKey", code: "UNAUTHENTICATED", said: /401/ }, { key: "another" }),
    "a key that may only read": pinecone({ field: "apiKey", code: "PERMISSION_DENIED", said: /403/, fix: /write/ }, {}, {
      fails: [isWrite, 403, { error: { code: "PERMISSION_DENIED", message: "The role of this key allows no writes" }, status: 403 }]
    }),
    "no such index": pinecone({ field: "indexName", said: /no index none/, fix: /2048 dimensions/ }, {}, {}, { indexName: "none" }),
    "other dimensions": pinecone({ field: "indexName", said: /3 dimensions/ }, { dimension: 3 }),
    "another metric": pinecone({ field: "indexName", said: /by euclidean/ }, { metric: "euclidean" }),
    "an index that is full": pinecone({ field: "indexName", said: /full/, fix: /room/ }, {}, {
      fails: [({ url }) => url.pathname.endsWith("stats"), 200, { indexFullness: 1, namespaces: {} }]
    }),
    "an index of another API": pinecone({ field: "indexName", said: /2026-07/ }, {}, {
      fails: [({ url }) => url.pathname.startsWith("/indexes/"), 200, { name: "docs", host: "h", dimension: 2048, metric: "cosine" }]
    })
  },
  featureStore: {
    "vectors of other dimensions": featureStore({ said: /has 768 dimensions/, fix: /2048/ }, { dimensions: 768 }),
    "a table of somebody else": featureStore({ said: /somebody else's: its column chunk_record/ }, {
      more: [{ name: "chunk_record", type: "BYTES" }]
    }),
    "credentials that may only read": featureStore({ code: "PERMISSION_DENIED", said: /403/, fix: /./ }, {}, {
      fails: [({ method }) => method !== "GET", 403, { error: { code: 403, message: "Access Denied", status: "PERMISSION_DENIED" } }]
    }),
    "something else at its address": featureStore({ said: /does not answer as its API specifies/ }, {}, { fails: [() => true, 200, []] })
  },
  agentSearch: {
    "vectors longer than it takes": agentSearch({ said: /768 dimensions at most, and the embedder gives 2048/, fix: /embedding model/ })
  },
  postgres: {
    "a wrong password": ofUrl(refusing("28P01", "password authentication failed for user \"sluice\""), {
      field: "url",
      code: "UNAUTHENTICATED",
      said: /password authentication failed/,
      fix: /password/
    }),
    "no such database": ofUrl(refusing("3D000", "database \"docs\" does not exist"), {
      field: "url",
      said: /does not exist/,
      fix: /make the database/
    }),
    "a parameter of its URL that only other clients know": ofUrl(
      refusing("42704", "unrecognized configuration parameter \"channel_binding\""),
      { field: "url", said: /channel_binding/, fix: /take out of the URL/ }
    ),
    "records that are somebody else's": postgres(
      "CREATE EXTENSION vector; CREATE SCHEMA theirs; CREATE TABLE theirs.corpus_records (id integer)",
      "DROP SCHEMA theirs CASCADE",
      { field: "url", said: /column "corpus" does not exist/, fix: /another schema/ },
      { schema: "theirs" }
    ),
    "a replica": postgres("CREATE EXTENSION vector; SET default_transaction_read_only = on", "", {
      field: "url",
      said: /read-only/,
      fix: /replica/
    }),
    "a user who may make nothing": postgres("CREATE EXTENSION vector; CREATE ROLE reader; SET ROLE reader", "DROP ROLE reader", {
      field: "url",
      code: "PERMISSION_DENIED",
      said: /permission denied for database/,
      fix: /create a schema/
    }),
    "a user who may not make the extension": postgres(
      "CREATE ROLE maker; GRANT CREATE ON DATABASE postgres TO maker; SET ROLE maker",
      "DROP OWNED BY maker; DROP ROLE maker",
      { field: "url", code: "PERMISSION_DENIED", said: /extension/, fix: /CREATE EXTENSION vector/ }
    ),
    "a schema of somebody else": postgres(
      "CREATE EXTENSION vector; CREATE SCHEMA theirs; CREATE ROLE reader; SET ROLE reader",
      "DROP SCHEMA theirs; DROP ROLE reader",
      { field: "url", code: "PERMISSION_DENIED", said: /permission denied for schema theirs/ },
      { schema: "theirs" }
    ),
    "a disk that is full": postgres(
      `CREATE EXTENSION vector; CREATE FUNCTION no_room() RETURNS event_trigger AS $$ BEGIN
        RAISE EXCEPTION 'could not extend file "base/5/16384": No space left on device' USING ERRCODE = 'disk_full'; END $$ LANGUAGE plpgsql;
      CREATE EVENT TRIGGER no_room ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION no_room()`,
      "DROP EVENT TRIGGER no_room; DROP FUNCTION no_room",
      { field: "url", said: /No space left/, fix: /room/ }
    ),
    "a pgvector that is too old": postgres("CREATE EXTENSION vector; UPDATE pg_extension SET extversion = '0.7.4'", "", {
      field: "url",
      said: /0\.7\.4.*0\.8/,
      fix: /ALTER EXTENSION/
    })
  },
  ...(lanceDbFolder === undefined ? {} : {
    lanceDb: {
      "a file in the place of a folder": lance({ lance: "text" }, "lance", { field: "uri", said: /not a folder/, fix: /folder/ })
    }
  })
}

const yaml = (db: string, settings: Readonly<Record<string, string>>): string =>
  `name: bad
corpus:
  displayName: Bad
  vectorDb:
    ${db}:
${Object.entries(settings).map(([name, value]) => `      ${name}: ${JSON.stringify(value)}\n`).join("")}sources:
  docs: { local: { path: ./docs } }
`

/** Where the file has a field: the line and column of its value. */
const placeOf = (text: string, db: string, field: string): string => {
  const lines = text.split("\n")
  const line = lines.findIndex((each) => each.startsWith(`      ${field}: `))
  const at = line < 0 ? lines.findIndex((each) => each === `    ${db}:`) : line
  return `${at + 1}:${line < 0 ? 5 : 7 + field.length + 2}`
}

/** Runs a pipeline on a database; it must end with one error that says all, and nothing written anywhere. */
const refuses = Effect.fnUntraced(function*(db: string, place: Place) {
  const { code = "FAILED_PRECONDITION", field, fix = /./, said, settings, written } = yield* place
  const folder = yield* tempFolder
  const text = yaml(db, settings)
  write(folder, { "pipeline.yaml": text, "docs/a.md": "# A\n\nWords.\n", "docs/b.md": "# B\n\nOther words.\n" })
  const file = join(folder, "pipeline.yaml")
  const pipeline = yield* Pipeline.load(file, connectors)
  const dataDir = join(folder, "data")
  const error = yield* Effect.flip(pipeline.run).pipe(Effect.provide(Embedded.layer({ dataDir })))
  assert.instanceOf(error, ServiceError)
  assert.strictEqual(error.message.split("  ")[0], `${file}:${placeOf(text, db, field)}`, error.message)
  assert.include(error.message, `  corpus.vectorDb.${db}.${field}: `)
  assert.match(error.message, said)
  assert.match(error.fix ?? "", fix)
  assert.strictEqual(error.code, code)
  assert.notMatch(JSON.stringify(error), /the-password/)
  assert.strictEqual(written?.() ?? 0, 0)
  const state = join(dataDir, "sluice.db")
  assert.isTrue(existsSync(state))
  const database = new DatabaseSync(state, { readOnly: true, timeout: 60_000 })
  yield* Effect.addFinalizer(() => Effect.sync(() => database.close()))
  for (const table of ["corpora", "embeddings", "files", "runs", "vector_work"]) {
    assert.strictEqual(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"], 0, table)
  }
})

afterAll(() => void delete process.env["SLUICE_SECRET_DB"])

describe("a database that cannot be used is one error at its place, before anything is written", () => {
  for (const [db, bad] of Object.entries(cases)) {
    for (const [name, place] of Object.entries(bad)) {
      it.live(`${db}: ${name}`, () => {
        process.env["SLUICE_SECRET_DB"] = "right"
        return Effect.scoped(refuses(db, place))
      })
    }
  }

  it.live("each: a host that cannot be reached", () => {
    Object.assign(process.env, {
      PINECONE_CONTROLLER_HOST: nowhere,
      SLUICE_SECRET_DB: "postgres://sluice:the-password@127.0.0.1:9/docs"
    })
    const unreachable: ReadonlyArray<readonly [db: string, field: string, settings: Bad["settings"]]> = [
      ["weaviate", "httpEndpoint", { httpEndpoint: nowhere, collectionName: "Docs" }],
      ["qdrant", "url", { url: nowhere, collection: "docs" }],
      ["pinecone", "indexName", { indexName: "docs", apiKey: key }],
      ["postgres", "url", { url: key }]
    ]
    return Effect.forEach(unreachable, ([db, field, settings]) =>
      Effect.scoped(
        refuses(
          db,
          Effect.succeed({ field, said: /ECONNREFUSED|could not be reached/, fix: /check/, code: "UNAVAILABLE" as const, settings })
        )
      ), { discard: true, concurrency: unreachable.length }).pipe(
        Effect.provide(hastened),
        Effect.ensuring(Effect.sync(() => void delete process.env["PINECONE_CONTROLLER_HOST"]))
      )
  })
})
