import { describe, expect, it } from "vitest"
import { minimal, problemsOf, secret, withRetrieve, withSource, withStages, withVectorDb } from "./Support.ts"

/** One rule: values that keep it, and values that break it with where and in which words. */
interface RuleCase {
  readonly rule: string
  readonly keeps: ReadonlyArray<unknown>
  readonly breaks: ReadonlyArray<readonly [written: unknown, ...problems: ReadonlyArray<string>]>
}

const place = "projects/acme/locations/us-central1"
const corpus = (fields: object) => ({ ...minimal, corpus: { displayName: "Handbook", ...fields } })
const slack = (fields: object) => withSource({ slack: { channels: [{ id: "C012AB3CD" }], token: secret, ...fields } })
const jira = (fields: object) => withSource({ jira: { server: "acme.atlassian.net", email: "bot@acme.com", token: secret, ...fields } })
const sharePoint = (fields: object) =>
  withSource({ sharePoint: { site: "Handbook", clientId: "c", tenantId: "t", clientSecret: secret, ...fields } })
const imports = (fields: object) => ({ ...minimal, import: fields })

const secretRule = "must be the name of a secret version, never the secret itself"

const cases: ReadonlyArray<RuleCase> = [
  {
    rule: "a corpus has a display name of at most 128 characters",
    keeps: [corpus({ displayName: "x".repeat(128) })],
    breaks: [
      [corpus({ displayName: "x".repeat(129) }), "corpus.displayName: must be 128 characters or fewer"],
      [corpus({ displayName: " " }), "corpus.displayName: must not be empty"],
      [{ ...minimal, corpus: {} }, "corpus.displayName: is required"]
    ]
  },
  {
    rule: "exactly one vector database",
    keeps: [
      withVectorDb("managed"),
      withVectorDb({ weaviate: {} }),
      withVectorDb({ weaviate: { httpEndpoint: "https://w.example", collectionName: "Kb", apiKey: secret } }),
      withVectorDb({ pinecone: { indexName: "kb", apiKey: secret } }),
      withVectorDb({ featureStore: {} }),
      withVectorDb({ vectorSearch: {} }),
      withVectorDb({ agentSearch: {} })
    ],
    breaks: [
      [
        withVectorDb({ weaviate: {}, pinecone: {} }),
        "corpus.vectorDb: takes exactly one of weaviate, pinecone, featureStore, vectorSearch, agentSearch, postgres, qdrant or lanceDb, not weaviate and pinecone"
      ],
      [
        withVectorDb({}),
        "corpus.vectorDb: needs exactly one of weaviate, pinecone, featureStore, vectorSearch, agentSearch, postgres, qdrant or lanceDb"
      ],
      [withVectorDb("weaviate"), "corpus.vectorDb: weaviate is written with its settings"],
      [withVectorDb({ managed: {} }), "corpus.vectorDb.managed: managed has no settings"],
      [
        withVectorDb(null),
        "corpus.vectorDb: must be one of managed, { weaviate: ... }, { pinecone: ... }, { featureStore: ... }, { vectorSearch: ... }, { agentSearch: ... }, { postgres: ... }, { qdrant: ... }, { lanceDb: ... }, not empty"
      ]
    ]
  },
  {
    rule: "database addresses and names have their form",
    keeps: [withVectorDb({ weaviate: { httpEndpoint: "http://10.0.0.1:8080" } })],
    breaks: [
      [
        withVectorDb({ weaviate: { httpEndpoint: "w.example", collectionName: "" } }),
        "corpus.vectorDb.weaviate.httpEndpoint: must be an http:// or https:// address, with no user name or password in it",
        "corpus.vectorDb.weaviate.collectionName: must not be empty"
      ],
      [
        withVectorDb({ weaviate: { httpEndpoint: "https://me:pass@w.example" } }),
        "corpus.vectorDb.weaviate.httpEndpoint: must be an http:// or https:// address, with no user name or password in it"
      ],
      [withVectorDb({ pinecone: { indexName: "" } }), "corpus.vectorDb.pinecone.indexName: must not be empty"]
    ]
  },
  {
    rule: "a feature view is named whole",
    keeps: [withVectorDb({ featureStore: { featureView: `${place}/featureOnlineStores/s/featureViews/v` } })],
    breaks: [[
      withVectorDb({ featureStore: { featureView: "v" } }),
      "corpus.vectorDb.featureStore.featureView: must be the resource name of a feature view: projects/{project}/locations/{location}/featureOnlineStores/{id}/featureViews/{id}"
    ]]
  },
  {
    rule: "a vector search index and endpoint are one of each, in either field",
    keeps: [
      withVectorDb({ vectorSearch: { index: `${place}/indexes/1`, indexEndpoint: `${place}/indexEndpoints/2` } }),
      withVectorDb({ vectorSearch: { index: `${place}/indexEndpoints/2`, indexEndpoint: `${place}/indexes/1` } }),
      withVectorDb({ vectorSearch: { index: `${place}/indexes/1` } })
    ],
    breaks: [
      [
        withVectorDb({ vectorSearch: { index: `${place}/indexes/1`, indexEndpoint: `${place}/indexes/2` } }),
        "corpus.vectorDb.vectorSearch: needs one index and one index endpoint; both names are of the same kind"
      ],
      [
        withVectorDb({ vectorSearch: { index: "1" } }),
        "corpus.vectorDb.vectorSearch.index: must be the resource name of an index or an index endpoint: projects/{project}/locations/{location}/indexes/{id} or projects/{project}/locations/{location}/indexEndpoints/{id}"
      ]
    ]
  },
  {
    rule: "a serving config belongs to an engine or a data store",
    keeps: [
      withVectorDb({ agentSearch: { servingConfig: `${place}/collections/c/engines/e/servingConfigs/s` } }),
      withVectorDb({ agentSearch: { servingConfig: `${place}/collections/c/dataStores/d/servingConfigs/s` } })
    ],
    breaks: [[
      withVectorDb({ agentSearch: { servingConfig: `${place}/collections/c/servingConfigs/s` } }),
      "corpus.vectorDb.agentSearch.servingConfig: must be the resource name of a serving config: projects/{project}/locations/{location}/collections/{id}/engines/{id}/servingConfigs/{id} or projects/{project}/locations/{location}/collections/{id}/dataStores/{id}/servingConfigs/{id}"
    ]]
  },
  {
    rule: "secrets are named, never given",
    keeps: [
      withVectorDb({ pinecone: { apiKey: "projects/acme-kb/secrets/pine/versions/3" } }),
      withVectorDb({ pinecone: { apiKey: "projects/123/locations/eu/secrets/pine/versions/latest" } })
    ],
    breaks: [
      [withVectorDb({ pinecone: { apiKey: "pc-123" } }), `corpus.vectorDb.pinecone.apiKey: ${secretRule}`],
      [withVectorDb({ weaviate: { apiKey: "projects/1/secrets/x" } }), `corpus.vectorDb.weaviate.apiKey: ${secretRule}`],
      [
        corpus({ embedding: { openai: { url: "http://h/v1", model: "m", dimensions: 384, apiKey: "sk-1" } } }),
        `corpus.embedding.openai.apiKey: ${secretRule}`
      ],
      [
        withStages({ retrieve: {} }, { generate: { model: { openai: { url: "http://h/v1", model: "m", apiKey: "sk-1" } } } }),
        `stages[1].generate.model.openai.apiKey: ${secretRule}`
      ],
      [slack({ token: "xoxb-1" }), `sources.s.slack.token: ${secretRule}`],
      [jira({ projects: ["OPS"], token: "t" }), `sources.s.jira.token: ${secretRule}`],
      [sharePoint({ drive: "d", clientSecret: "s" }), `sources.s.sharePoint.clientSecret: ${secretRule}`]
    ]
  },
  {
    rule: "an embedding is a model or a server",
    keeps: [
      corpus({ embedding: { model: "text-embedding-005" } }),
      corpus({
        embedding: { local: { model: "./models/e5", file: "onnx/model_quantized.onnx", pooling: "mean", queryPrefix: "query: " } }
      }),
      corpus({ embedding: { local: { model: "sentence-transformers/all-MiniLM-L6-v2@main" } } }),
      corpus({
        embedding: { openai: { url: "http://localhost:11434/v1", model: "m", dimensions: 384, batch: 16, maxRequestsPerMinute: 60 } }
      })
    ],
    breaks: [
      [
        corpus({ embedding: { local: { model: "all-MiniLM-L6-v2", pooling: "median", threads: 0 } } }),
        "corpus.embedding.local.model: must be a model's folder, which begins with ./, ../ or /, or its name on the hub: owner/name or owner/name@revision",
        "corpus.embedding.local.threads: must be a whole number from 1 to 64",
        "corpus.embedding.local.pooling: must be one of mean, cls, max, lastToken, meanSqrtLength"
      ],
      [corpus({ embedding: {} }), "corpus.embedding: needs exactly one of model, openai or local"],
      [
        corpus({ embedding: { model: "m", openai: { url: "http://h", model: "m", dimensions: 384 } } }),
        "corpus.embedding: takes exactly one of model, openai or local, not model and openai"
      ],
      [
        corpus({ embedding: { openai: { url: "h", dimensions: 0 } } }),
        "corpus.embedding.openai.url: must be an http:// or https:// address, with no user name or password in it",
        "corpus.embedding.openai.model: is required",
        "corpus.embedding.openai.dimensions: must be a whole number from 1 to 65536"
      ]
    ]
  },
  {
    rule: "a source is of exactly one kind",
    keeps: [withSource({ local: { path: "." } })],
    breaks: [
      [
        withSource({ local: { path: "." }, storage: { uris: ["gs://b/"] } }),
        "sources.s: takes exactly one of local, storage, googleDrive, slack, jira, sharePoint, git or web, not local and storage"
      ],
      [withSource({}), "sources.s: needs exactly one of local, storage, googleDrive, slack, jira, sharePoint, git or web"],
      [withSource({ dropbox: {} }), "sources.s.dropbox: is not a key that belongs here"]
    ]
  },
  {
    rule: "local settings have their forms",
    keeps: [withSource({
      local: {
        path: "/srv/docs",
        include: ["**/*.md"],
        exclude: ["drafts/**"],
        ignoreFile: ".gitignore",
        hidden: true,
        followLinks: true,
        staging: "gs://bucket/prefix",
        maxFileSize: "25MB",
        poll: "5m"
      }
    })],
    breaks: [
      [withSource({ local: { path: "" } }), "sources.s.local.path: must not be empty"],
      [withSource({ local: { path: ".", include: "**" } }), "sources.s.local.include: must be a list, not text"],
      [withSource({ local: { path: ".", staging: "s3://b" } }), "sources.s.local.staging: must be a gs:// bucket or prefix"],
      [
        withSource({
          slack: { channels: [{ id: "C1" }], token: "projects/1/secrets/s/versions/1", listing: "service", staging: "gs://b" }
        }),
        "sources.s.slack.listing: cannot be service together with staging, which the service does not know"
      ],
      [
        withSource({ local: { path: ".", poll: "5 minutes" } }),
        "sources.s.local.poll: must be a duration: a whole number and s, m, h or d"
      ],
      [
        withSource({ local: { path: ".", maxFileSize: "25 potatoes" } }),
        "sources.s.local.maxFileSize: must be a number of bytes, or one with a unit, such as 25MB or 25MiB"
      ],
      [withSource({ local: { path: ".", hidden: "no" } }), "sources.s.local.hidden: must be true or false, not text"]
    ]
  },
  {
    rule: "storage takes addresses of the kinds we read",
    keeps: [withSource({ storage: { uris: ["gs://b/dir/", "s3://b/My File.pdf", "https://acme.com/a", "file:///srv/a"] } })],
    breaks: [
      [withSource({ storage: { uris: [] } }), "sources.s.storage.uris: needs at least one address"],
      [
        withSource({ storage: { uris: ["gs://b/", "ftp://b"] } }),
        "sources.s.storage.uris[1]: must start with gs://, s3://, https:// or file://, with no user name or password in it"
      ]
    ]
  },
  {
    rule: "Google Drive takes folders or files, by id",
    keeps: [
      withSource({ googleDrive: { folders: ["1AbC"], files: [] } }),
      withSource({ googleDrive: { files: ["1AbC"] } })
    ],
    breaks: [
      [withSource({ googleDrive: { folders: [], files: [] } }), "sources.s.googleDrive: needs at least one of folders or files"],
      [withSource({ googleDrive: {} }), "sources.s.googleDrive: needs at least one of folders or files"],
      [
        withSource({ googleDrive: { folders: ["https://drive.google.com/drive/folders/1AbC"] } }),
        "sources.s.googleDrive.folders[0]: must be a Google Drive id"
      ]
    ]
  },
  {
    rule: "Slack takes channels by id, a span of time, and a token",
    keeps: [
      slack({}),
      slack({ channels: [{ id: "C1", start: "2026-01-01T00:00:00Z", end: "2026-02-01T00:00:00.123456+01:00" }] })
    ],
    breaks: [
      [slack({ channels: [] }), "sources.s.slack.channels: needs at least one channel"],
      [slack({ channels: [{ id: "#general" }] }), "sources.s.slack.channels[0].id: must be a Slack channel id"],
      [slack({ channels: [{ start: "2026-01-01T00:00:00Z" }] }), "sources.s.slack.channels[0].id: is required"],
      [slack({ channels: [{ id: "C1", start: "2026-01-01" }] }), "sources.s.slack.channels[0].start: must be an RFC 3339 time with a zone"],
      [
        slack({ channels: [{ id: "C1", start: "2026-02-01T00:00:00Z", end: "2026-01-01T00:00:00Z" }] }),
        "sources.s.slack.channels[0].end: must be later than start"
      ],
      [withSource({ slack: { channels: [{ id: "C1" }] } }), "sources.s.slack.token: is required"]
    ]
  },
  {
    rule: "Jira takes projects or queries, a server, an account and a token",
    keeps: [
      jira({ projects: ["OPS"] }),
      jira({ queries: ["labels = kb"] }),
      jira({ projects: ["OPS"], server: "https://jira.acme.com:8443/base" })
    ],
    breaks: [
      [jira({}), "sources.s.jira: needs at least one of projects or queries"],
      [jira({ projects: [], queries: [] }), "sources.s.jira: needs at least one of projects or queries"],
      [jira({ projects: ["OPS"], email: "bot" }), "sources.s.jira.email: must be the e-mail address of the account the token belongs to"],
      [
        jira({ projects: ["OPS"], server: "https://me:x@acme" }),
        "sources.s.jira.server: must be the server's host name or https:// address"
      ],
      [
        withSource({ jira: { projects: ["OPS"] } }),
        "sources.s.jira.server: is required",
        "sources.s.jira.email: is required",
        "sources.s.jira.token: is required"
      ]
    ]
  },
  {
    rule: "vendors may be elsewhere, and get credentials in the clear on this machine only",
    keeps: [
      slack({ endpoint: "https://proxy.acme.com/slack/api" }),
      withSource({ googleDrive: { folders: ["1AbC"], endpoint: "http://127.0.0.1:8080", maxFileSize: "25MB" } }),
      sharePoint({ drive: "D", endpoint: "https://graph.microsoft.us/v1.0", loginEndpoint: "http://localhost:1", maxFileSize: 1000 })
    ],
    breaks: [
      [
        slack({ endpoint: "http://proxy.acme.com" }),
        "sources.s.slack.endpoint: must be an https:// address, or http:// on this machine, with no user name or password in it"
      ],
      [
        slack({ endpoint: "http://localhost.evil.example" }),
        "sources.s.slack.endpoint: must be an https:// address, or http:// on this machine, with no user name or password in it"
      ],
      [
        slack({ endpoint: "https://me:x@acme.com" }),
        "sources.s.slack.endpoint: must be an https:// address, or http:// on this machine, with no user name or password in it"
      ]
    ]
  },
  {
    rule: "SharePoint takes one library and at most one folder",
    keeps: [
      sharePoint({ drive: "Documents" }),
      sharePoint({ driveId: "b!1", folderPath: "/policies" }),
      sharePoint({ driveId: "b!1", folderId: "01" })
    ],
    breaks: [
      [sharePoint({}), "sources.s.sharePoint: needs exactly one of drive or driveId"],
      [sharePoint({ drive: "D", driveId: "b!1" }), "sources.s.sharePoint: takes exactly one of drive or driveId, not drive and driveId"],
      [
        sharePoint({ drive: "D", folderPath: "/a", folderId: "1" }),
        "sources.s.sharePoint: takes one of folderPath or folderId, not folderPath and folderId"
      ],
      [
        withSource({ sharePoint: { drive: "D", driveId: "x" } }),
        "sources.s.sharePoint.site: is required",
        "sources.s.sharePoint.clientId: is required",
        "sources.s.sharePoint.tenantId: is required",
        "sources.s.sharePoint.clientSecret: is required",
        "sources.s.sharePoint: takes exactly one of drive or driveId, not drive and driveId"
      ]
    ]
  },
  {
    rule: "chunks overlap by less than their size",
    keeps: [
      { ...minimal, chunking: { size: 201 } },
      { ...minimal, chunking: { size: 200 } },
      { ...minimal, chunking: { size: 1 } },
      { ...minimal, chunking: { strategy: "structure", size: 1, overlap: 0 } }
    ],
    breaks: [
      [{ ...minimal, chunking: { size: 200, overlap: 200 } }, "chunking.overlap: must be less than size (200)"],
      [{ ...minimal, chunking: { size: 0 } }, "chunking.size: must be a whole number from 1 to 8192"],
      [{ ...minimal, chunking: { overlap: 2000 } }, "chunking.overlap: must be less than size (1024)"],
      [
        { ...minimal, chunking: { strategy: "fixd", size: 10, overlap: 10 } },
        "chunking.strategy: must be one of fixed, structure",
        "chunking.overlap: must be less than size (10)"
      ]
    ]
  },
  {
    rule: "a parser is the default or exactly one other",
    keeps: [
      { ...minimal, parsing: "default" },
      { ...minimal, parsing: { layout: { processor: `${place}/processors/p` } } },
      { ...minimal, parsing: { layout: { processor: `${place}/processors/p/processorVersions/v`, maxRequestsPerMinute: 60 } } },
      { ...minimal, parsing: { llm: { model: "gemini", prompt: "Read.", maxRequestsPerMinute: 10 } } }
    ],
    breaks: [
      [
        { ...minimal, parsing: { layout: { processor: "p", maxRequestsPerMinute: 0 } } },
        "parsing.layout.processor: must be the resource name of a document processor: projects/{project}/locations/{location}/processors/{id} or projects/{project}/locations/{location}/processors/{id}/processorVersions/{id}",
        "parsing.layout.maxRequestsPerMinute: must be a whole number, 1 or more"
      ],
      [{ ...minimal, parsing: { llm: {} } }, "parsing.llm.model: is required"],
      [
        { ...minimal, parsing: { layout: { processor: `${place}/processors/p` }, llm: { model: "m" } } },
        "parsing: takes exactly one of layout or llm, not layout and llm"
      ]
    ]
  },
  {
    rule: "import settings have their forms",
    keeps: [
      imports({
        maxEmbeddingRequestsPerMinute: 60,
        resultSink: "gs://b/result.ndjson",
        maxDelete: "10%",
        budget: { embeddedTokens: "5M", requests: "200k" },
        onFileError: "stop",
        concurrency: 8,
        retries: 0
      }),
      imports({ resultSink: "bq://p.d.t", maxDelete: 20, budget: { embeddedTokens: 5_000_000 } }),
      imports({ maxDelete: "100%" }),
      imports({ maxDelete: 0 })
    ],
    breaks: [
      [imports({ maxEmbeddingRequestsPerMinute: 0 }), "import.maxEmbeddingRequestsPerMinute: must be a whole number, 1 or more"],
      [imports({ resultSink: "bq://p.d" }), "import.resultSink: must be a gs:// object or a bq:// table"],
      [imports({ maxDelete: "101%" }), "import.maxDelete: must be a percentage from 0% to 100%, or a number of files"],
      [imports({ maxDelete: -1 }), "import.maxDelete: must be 0 or more"],
      [
        imports({ budget: { embeddedTokens: "5 million" } }),
        "import.budget.embeddedTokens: must be a number, or one with k, M or B after it, such as 5M"
      ],
      [imports({ budget: { embeddedTokens: "0" } }), "import.budget.embeddedTokens: must come to a whole number, 1 or more"],
      [imports({ onFileError: "ignore" }), "import.onFileError: must be one of continue, stop"],
      [imports({ retries: 99 }), "import.retries: must be a whole number from 0 to 20"]
    ]
  },
  {
    rule: "alpha is from 0 to 1",
    keeps: [withRetrieve({ hybrid: {} }), withRetrieve({ hybrid: { alpha: 0 } }), withRetrieve({ hybrid: { alpha: 1 } })],
    breaks: [
      [withRetrieve({ hybrid: { alpha: 1.01 } }), "stages[0].retrieve.hybrid.alpha: must be from 0 (words only) to 1 (vectors only)"],
      [withRetrieve({ hybrid: { alpha: -0.1 } }), "stages[0].retrieve.hybrid.alpha: must be from 0 (words only) to 1 (vectors only)"]
    ]
  },
  {
    rule: "one threshold, not two",
    keeps: [withRetrieve({ filter: { maxDistance: 0.6 } }), withRetrieve({ filter: { minSimilarity: -0.2, metadata: { team: "ops" } } })],
    breaks: [
      [
        withRetrieve({ filter: { maxDistance: 0.6, minSimilarity: 0.4 } }),
        "stages[0].retrieve.filter: takes one of maxDistance or minSimilarity, not maxDistance and minSimilarity"
      ],
      [withRetrieve({ filter: { maxDistance: -1 } }), "stages[0].retrieve.filter.maxDistance: must be 0 or more"],
      [
        withRetrieve({ filter: { maxDistance: Number.NaN } }),
        "stages[0].retrieve.filter.maxDistance: must be a finite number",
        "stages[0].retrieve.filter.maxDistance: must be 0 or more"
      ],
      [withRetrieve({ filter: { metadata: { year: 2026 } } }), "stages[0].retrieve.filter.metadata.year: must be text, not a number"]
    ]
  },
  {
    rule: "how many contexts is a positive number",
    keeps: [withRetrieve({ topK: 1 })],
    breaks: [
      [withRetrieve({ topK: 0 }), "stages[0].retrieve.topK: must be a whole number, 1 or more"],
      [withRetrieve({ topK: 1.5 }), "stages[0].retrieve.topK: must be an integer"]
    ]
  },
  {
    rule: "files are of one corpus",
    keeps: [
      withRetrieve({ files: ["12", "13"] }),
      withRetrieve({ files: [`${place}/ragCorpora/1/ragFiles/12`, `${place}/ragCorpora/1/ragFiles/13`] })
    ],
    breaks: [
      [
        withRetrieve({ files: [`${place}/ragCorpora/1/ragFiles/12`, `${place}/ragCorpora/2/ragFiles/13`] }),
        "stages[0].retrieve.files: must all be files of one corpus, the one that is searched"
      ],
      [withRetrieve({ files: [] }), "stages[0].retrieve.files: needs at least one file"],
      [
        withRetrieve({ files: ["12", "people/leave-policy.md"] }),
        "stages[0].retrieve.files: must be ids of files, or names as projects/.../ragFiles/{id}; paths are neither"
      ]
    ]
  },
  {
    rule: "one ranker",
    keeps: [
      withRetrieve({ rank: "lexical" }),
      withRetrieve({ rank: { rankService: { model: "semantic-ranker-512@latest" } } }),
      withStages({ retrieve: {} }, { rank: { llmRanker: {} } })
    ],
    breaks: [
      [
        withRetrieve({ rank: { rankService: {}, llmRanker: {} } }),
        "stages[0].retrieve.rank: takes exactly one of rankService, llmRanker or crossEncoder, not rankService and llmRanker"
      ],
      [
        withRetrieve({ rank: "best" }),
        "stages[0].retrieve.rank: must be one of lexical, { rankService: ... }, { llmRanker: ... }, { crossEncoder: ... }"
      ]
    ]
  },
  {
    rule: "retrieve comes first, generate last",
    keeps: [
      withStages({ retrieve: {} }),
      withStages({ retrieve: {} }, { rank: "lexical" }, { generate: { model: "gemini-2.0-flash", instruction: "Be brief." } }),
      withStages({ retrieve: {} }, { generate: { model: { openai: { url: "http://h/v1", model: "m" } } } }),
      withStages({ retrieve: { rank: { rankService: {} } } }, { generate: { model: "gemini-2.0-flash", ground: "corpus" } }),
      withStages({ generate: { model: "gemini-2.0-flash", ground: "corpus" } }),
      withStages({ retrieve: {} }, { generate: { model: "claude-3-5-haiku@20241022", temperature: 0, topP: 1, seed: 7 } })
    ],
    breaks: [
      [withStages(), "stages: needs at least a retrieve stage"],
      [withStages({ generate: {} }), "stages[0]: generate needs a retrieve stage before it"],
      [withStages({ rank: "lexical" }, { retrieve: {} }), "stages[0]: rank needs a retrieve stage before it"],
      [withStages({ retrieve: {} }, { retrieve: {} }), "stages[1]: comes a second time; a pipeline retrieves once"],
      [
        withStages({ retrieve: {} }, { generate: { model: "claude-3-5-haiku" } }),
        "stages[1].generate.model: a Claude model is named with its date"
      ],
      [
        withStages({ retrieve: {} }, { generate: { model: "anthropic/claude-opus-9" } }),
        "stages[1].generate.model: a Claude model is named with its date"
      ],
      [withStages({ retrieve: {} }, { generate: { temperature: 2.5 } }), "stages[1].generate.temperature: must be from 0 to 2"],
      [withStages({ retrieve: {} }, { generate: { topP: -1 } }), "stages[1].generate.topP: must be from 0 to 1"],
      [
        withStages({ retrieve: {} }, { generate: { ground: "corpus" } }),
        "stages[1].generate: only a hosted model can search the corpus itself"
      ],
      [
        withStages({ retrieve: {} }, { rank: "lexical" }, { generate: { model: "gemini-2.0-flash", ground: "corpus" } }),
        "stages: has a rank stage and a generate stage with ground: corpus, where there are no contexts to rank"
      ],
      [withStages({ retrieve: {} }, { generate: {} }, { rank: "lexical" }), "stages[2]: rank cannot come after generate, which is last"],
      [
        withStages({ retrieve: {}, generate: {} }),
        "stages[0]: takes exactly one of retrieve, rank, diversify, expand, generate, chat or batch, not retrieve and generate"
      ],
      [withStages("retrieve"), "stages[0]: retrieve is written with its settings"],
      [
        withStages({ generate: {} }, { retrieve: { topK: 0 } }),
        "stages[1].retrieve.topK: must be a whole number, 1 or more",
        "stages[0]: generate needs a retrieve stage before it"
      ]
    ]
  },
  {
    rule: "contexts are diversified and expanded between retrieving and answering",
    keeps: [
      withStages({ retrieve: {} }, { diversify: {} }, { expand: {} }),
      withStages({ retrieve: {} }, { expand: { before: 0, after: 3 } }, { rank: "lexical" }, { diversify: { lambda: 1, topK: 4 } }, {
        generate: {}
      }),
      withStages({ retrieve: {} }, { expand: { to: "section", maxTokens: 900 } }, { chat: {} })
    ],
    breaks: [
      [withStages({ diversify: {} }, { retrieve: {} }), "stages[0]: diversify needs a retrieve stage before it"],
      [withStages({ retrieve: {} }, { generate: {} }, { expand: {} }), "stages[2]: expand cannot come after generate, which is last"],
      [withStages({ retrieve: {} }, { diversify: { lambda: 1.5 } }), "stages[1].diversify.lambda: must be from 0 to 1"],
      [withStages({ retrieve: {} }, { diversify: { topK: 0 } }), "stages[1].diversify.topK: must be a whole number, 1 or more"],
      [withStages({ retrieve: {} }, { expand: { before: 21 } }), "stages[1].expand.before: must be a whole number from 0 to 20"],
      [withStages({ retrieve: {} }, { expand: { after: 2, to: "file" } }), "stages[1].expand: takes before and after, or to, not both"],
      [withStages({ retrieve: {} }, { expand: { maxTokens: 2 } }), "stages[1].expand: takes maxTokens only together with to"],
      [withStages({ retrieve: {} }, { expand: { before: 0, after: 0 } }), "stages[1].expand: adds nothing"],
      [
        withStages({ retrieve: {} }, { expand: { to: "chapter" } }),
        "stages[1].expand.to: must be one of section, file"
      ],
      [
        withStages({ retrieve: {} }, { expand: {} }, { generate: { model: "gemini-2.0-flash", ground: "corpus" } }),
        "stages: has a diversify or an expand stage and a generate stage with ground: corpus, where there are no contexts"
      ]
    ]
  },
  {
    rule: "a model that a stage names writes further queries",
    keeps: [
      withStages({ retrieve: { queries: 3 } }, { generate: { model: "gemini-2.0-flash" } }),
      withStages({ retrieve: { queries: 3 } }, { generate: {} }, { chat: { model: { openai: { url: "http://h/v1", model: "m" } } } })
    ],
    breaks: [
      [
        withRetrieve({ queries: 3 }),
        "stages[0].retrieve.queries: needs a model to write the queries, and neither generate nor chat names one"
      ],
      [
        withStages({ retrieve: { queries: 3 } }, { generate: {} }),
        "stages[0].retrieve.queries: needs a model to write the queries, and neither generate nor chat names one"
      ],
      [
        withStages({ retrieve: { queries: 3 } }, { batch: { model: { openai: { url: "http://h/v1", model: "m" } } } }),
        "stages[0].retrieve.queries: needs a model to write the queries, and neither generate nor chat names one"
      ],
      [
        withStages({ retrieve: { queries: 11 } }, { generate: { model: "gemini-2.0-flash" } }),
        "stages[0].retrieve.queries: must be a whole number from 1 to 10"
      ],
      [
        withStages({ retrieve: { queries: 3 } }, { generate: { model: "gemini-2.0-flash", ground: "corpus" } }),
        "stages[0].retrieve.queries: cannot be combined with ground: corpus, where the model searches with its own queries"
      ]
    ]
  },
  {
    rule: "synonyms are groups of words that a search is given",
    keeps: [withRetrieve({ synonyms: [] }), withRetrieve({ synonyms: [["PTO", "paid time off"], ["2FA", "MFA", "two-factor"]] })],
    breaks: [
      [withRetrieve({ synonyms: [["PTO"]] }), "stages[0].retrieve.synonyms[0]: needs 2 to 20 words or phrases that mean the same"],
      [withRetrieve({ synonyms: [["PTO", " "]] }), "stages[0].retrieve.synonyms[0][1]: must not be empty"],
      [withRetrieve({ synonyms: [["PTO", "x".repeat(81)]] }), "stages[0].retrieve.synonyms[0][1]: must be 80 characters or fewer"],
      [
        withRetrieve({ synonyms: Array.from({ length: 1_001 }, () => ["a", "b"]) }),
        "stages[0].retrieve.synonyms: must have 1000 groups or fewer"
      ],
      [
        withStages({ retrieve: { synonyms: [["a", "b"]] } }, { generate: { model: "gemini-2.0-flash", ground: "corpus" } }),
        "stages[0].retrieve.synonyms: cannot be combined with ground: corpus, where the model searches with its own queries"
      ]
    ]
  },
  {
    rule: "an engine is embedded or vertex with its place",
    keeps: [
      { ...minimal, engine: "embedded" },
      {
        ...minimal,
        engine: {
          vertex: {
            project: "acme",
            location: "us-central1",
            baseUrl: "http://127.0.0.1:8080",
            quotaProject: "123",
            requestsPerMinute: 600
          }
        }
      }
    ],
    breaks: [
      [{ ...minimal, engine: "vertex" }, "engine: vertex is written with its settings"],
      [{ ...minimal, engine: { vertex: { project: "acme" } } }, "engine.vertex.location: is required"],
      [{ ...minimal, engine: { vertex: { project: "acme", location: "Iowa" } } }, "engine.vertex.location: must be a location"],
      [
        { ...minimal, engine: { vertex: { project: "acme", location: "us-central1", requestsPerMinute: 0 } } },
        "engine.vertex.requestsPerMinute: must be a whole number, 1 or more"
      ]
    ]
  },
  {
    rule: "overrides per engine keep the same rules",
    keeps: [{
      ...minimal,
      engines: {
        vertex: { project: "acme", location: "us-central1", vectorDb: { pinecone: {} }, stages: [{ retrieve: {} }] },
        embedded: { chunking: { size: 300 } }
      }
    }],
    breaks: [
      [
        { ...minimal, engines: { vertex: { stages: [{ generate: {} }] } } },
        "engines.vertex.stages[0]: generate needs a retrieve stage before it"
      ],
      [{ ...minimal, engines: { azure: {} } }, "engines.azure: is not a key that belongs here"]
    ]
  },
  {
    rule: "names of pipelines and sources can be part of other names",
    keeps: [{ ...minimal, name: "a.b-c_1" }],
    breaks: [
      [{ ...minimal, name: "a/b" }, "name: must be 1 to 63 letters, digits, dots, hyphens or underscores, starting with a letter or digit"],
      [
        { ...minimal, sources: { "a/b": { local: { path: "." } } } },
        "sources[\"a/b\"]: a source's name must be 1 to 63 letters, digits, dots, hyphens or underscores, starting with a letter or digit"
      ],
      [{ ...minimal, name: 7 }, "name: must be text, not a number"]
    ]
  }
]

describe.each(cases)("$rule", ({ breaks, keeps }) => {
  it.each(keeps.map((written) => [written]))("kept by %j", (written) => {
    expect(problemsOf(written)).toEqual([])
  })
  it.each(breaks)("broken by %j", (written, ...problems) => {
    expect(problemsOf(written)).toEqual(problems)
  })
})

describe("everything at once", () => {
  it("reports what is missing and what is unknown together", () => {
    expect(problemsOf({ nam: "x", corpus: {}, sources: 3 })).toEqual([
      "nam: is not a key that belongs here",
      "name: is required",
      "corpus.displayName: is required",
      "sources: must be a mapping of keys to values, not a number"
    ])
  })
  it.each([[null], ["text"], [[]], [3]])("refuses %j as a pipeline", (written) => {
    expect(problemsOf(written)).toHaveLength(1)
  })
})
