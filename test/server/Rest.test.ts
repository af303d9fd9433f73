import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { leave, parent, startServer, type TestServer, travel } from "./support/TestServer.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const endpoint = `${parent}/publishers/google/models/text-embedding-004`

describe("corpora", () => {
  it("are made by an operation that has its metadata and answer, in both versions", async () => {
    for (const version of ["v1", "v1beta1"]) {
      const { body, headers, status } = await server.call("POST", `/${version}/${parent}/ragCorpora`, {
        display_name: "Handbook",
        description: "of the house"
      })
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("content-type"), "application/json; charset=utf-8")
      assert.match(body.name, new RegExp(`^${parent}/ragCorpora/\\d+/operations/\\d+$`))
      assert.strictEqual(body.metadata["@type"], `type.googleapis.com/google.cloud.aiplatform.${version}.CreateRagCorpusOperationMetadata`)
      assert.strictEqual(body.done, true)
      assert.strictEqual(body.response["@type"], `type.googleapis.com/google.cloud.aiplatform.${version}.RagCorpus`)
      assert.strictEqual(body.response.displayName, "Handbook")
      assert.strictEqual(body.response.vectorDbConfig.ragEmbeddingModelConfig.vertexPredictionEndpoint.endpoint, endpoint)
      assert.strictEqual(body.response.ragVectorDbConfig === undefined, version === "v1")
      const got = await server.call("GET", `/${version}/${body.response.name}`)
      const { "@type": _, ...made } = body.response
      assert.deepStrictEqual(got.body, made)
    }
  })

  it("come in pages that nothing shifts", async () => {
    for (let i = 0; i < 5; i++) await server.corpus(`page ${i}`)
    const seen: Array<string> = []
    let token = ""
    do {
      const { body } = await server.call("GET", `/v1/${parent}/ragCorpora?page_size=2&page_token=${token}`)
      assert.isAtMost(body.ragCorpora.length, 2)
      seen.push(...body.ragCorpora.map((corpus: { name: string }) => corpus.name))
      token = body.nextPageToken ?? ""
    } while (token !== "")
    assert.strictEqual(new Set(seen).size, seen.length)
    assert.isAtLeast(seen.length, 5)
    const bad = await server.call("GET", `/v1/${parent}/ragCorpora?pageToken=nonsense`)
    assert.strictEqual(bad.status, 400)
    assert.strictEqual(bad.body.error.status, "INVALID_ARGUMENT")
  })

  it("keep their database's fields once they are set", async () => {
    const path = `/v1beta1/${parent}/ragCorpora`
    const { body } = await server.call("POST", path, { displayName: "pine", vectorDbConfig: { pinecone: {} } })
    const { name } = body.response
    const set = (indexName: string) => server.call("PATCH", `/v1beta1/${name}`, { vectorDbConfig: { pinecone: { indexName } } })
    const first = await set("one")
    assert.strictEqual(first.body.metadata["@type"], "type.googleapis.com/google.cloud.aiplatform.v1beta1.UpdateRagCorpusOperationMetadata")
    assert.strictEqual(first.body.response.vectorDbConfig.pinecone.indexName, "one")
    const second = await set("two")
    assert.strictEqual(second.status, 400)
    assert.strictEqual(second.body.error.details[0].fieldViolations[0].field, "rag_corpus.vector_db_config.pinecone.index_name")
    const other = await server.call("PATCH", `/v1beta1/${name}`, { vectorDbConfig: { weaviate: { httpEndpoint: "http://w" } } })
    assert.strictEqual(other.status, 400)
    const renamed = await server.call("PATCH", `/v1beta1/${name}`, { displayName: "pine tree" })
    assert.strictEqual(renamed.body.response.displayName, "pine tree")
    assert.strictEqual(renamed.body.response.vectorDbConfig.pinecone.indexName, "one")
  })

  it("refuse by name what nothing here does", async () => {
    const wrong: Readonly<Record<string, object>> = {
      "encryption_spec.kms_key_name": { encryptionSpec: { kmsKeyName: "projects/p/locations/l/keyRings/r/cryptoKeys/k" } },
      "corpus_type_config": { corpusTypeConfig: { memoryCorpus: {} } }
    }
    for (const [field, more] of Object.entries(wrong)) {
      const { body, status } = await server.call("POST", `/v1beta1/${parent}/ragCorpora`, { displayName: "more", ...more })
      assert.strictEqual(status, 501, field)
      assert.strictEqual(body.error.details[0].fieldViolations[0].field, `rag_corpus.${field}`)
    }
    const { status } = await server.call("PATCH", `/v1/${parent}/ragEngineConfig`, { ragManagedDbConfig: { unprovisioned: {} } })
    assert.strictEqual(status, 501)
  })

  it("tell again how they were asked to search and what they hold, and never change it", async () => {
    const corpusTypeConfig = { documentCorpus: {} }
    const ragManagedDb = { ann: { treeDepth: 3, leafCount: 1000 } }
    const made = await server.call("POST", `/v1beta1/${parent}/ragCorpora`, {
      display_name: "options",
      rag_vector_db_config: { rag_managed_db: { ann: { tree_depth: "3", leaf_count: 1000 } } },
      corpusTypeConfig
    })
    const { body } = await server.call("GET", `/v1beta1/${made.body.response.name}`)
    assert.deepStrictEqual(body.vectorDbConfig.ragManagedDb, ragManagedDb)
    assert.deepStrictEqual(body.ragVectorDbConfig, body.vectorDbConfig)
    assert.deepStrictEqual(body.corpusTypeConfig, corpusTypeConfig)

    const patch = (change: object) => server.call("PATCH", `/v1beta1/${body.name}`, change)
    const { createTime: _, ...whole } = body
    assert.strictEqual((await patch({ ...whole, displayName: "all of it, sent back" })).status, 200)
    const database = (ragManagedDb: object) => ({ vectorDbConfig: { ragManagedDb } })
    const refused = {
      "rag_corpus.encryption_spec.kms_key_name": { encryptionSpec: { kmsKeyName: "another" } },
      "rag_corpus.corpus_type_config": { corpusTypeConfig: { memoryCorpus: {} } },
      "rag_corpus.vector_db_config.rag_managed_db": database({ knn: {} }),
      "rag_corpus.vector_db_config.rag_embedding_model_config": {
        vectorDbConfig: { ragEmbeddingModelConfig: { vertexPredictionEndpoint: { endpoint: `${endpoint}x` } } }
      }
    }
    const strategies = [{}, { ann: {} }, { ann: { treeDepth: 3 } }].map((ragManagedDb) =>
      ["rag_corpus.vector_db_config.rag_managed_db", database(ragManagedDb)] as const
    )
    for (const [field, change] of [...Object.entries(refused), ...strategies]) {
      const { body, status } = await patch(change)
      assert.strictEqual(status, 400, JSON.stringify(change))
      assert.strictEqual(body.error.details[0].fieldViolations[0].field, field)
    }
    // The service's defaults, said or not, are the same.
    for (
      const [created, sent] of [[{}, { knn: {} }], [{ knn: {} }, {}], [{ ann: {} }, { ann: { treeDepth: 2, leafCount: 500 } }]] as const
    ) {
      const { body } = await server.call("POST", `/v1beta1/${parent}/ragCorpora`, { displayName: "said or not", ...database(created) })
      assert.strictEqual((await server.call("PATCH", `/v1beta1/${body.response.name}`, database(sent))).status, 200, JSON.stringify(sent))
    }
    const deep = await server.call("POST", `/v1/${parent}/ragCorpora`, {
      displayName: "x",
      vectorDbConfig: { ragManagedDb: { ann: { treeDepth: 9 } } }
    })
    assert.strictEqual(deep.status, 400)
  })

  it("in a collection of Vector Search that the service keeps are told so, stood in for, and searched", async () => {
    const made = await server.call("POST", `/v1beta1/${parent}/ragCorpora`, {
      display_name: "collected",
      vector_db_config: { rag_managed_vertex_vector_search: {} }
    })
    const { name } = made.body.response
    const ragManagedVertexVectorSearch = { collectionName: name.replace("/ragCorpora/", "/collections/") }
    const { body } = await server.call("GET", `/v1beta1/${name}`)
    assert.deepStrictEqual(body.vectorDbConfig.ragManagedVertexVectorSearch, ragManagedVertexVectorSearch)
    assert.notProperty(body.vectorDbConfig, "ragManagedDb")
    assert.match(body.corpusStatus.errorStatus, /^Vector Search exists at Google only/)
    const { createTime: _, ...whole } = body
    assert.strictEqual((await server.call("PATCH", `/v1beta1/${name}`, whole)).status, 200)
    await server.upload(name, "leave.md", leave)
    const found = await server.call("POST", `/v1beta1/${parent}:retrieveContexts`, {
      vertexRagStore: { ragResources: [{ ragCorpus: name }] },
      query: { text: "annual leave days" }
    })
    assert.strictEqual(found.body.contexts.contexts[0].sourceDisplayName, "leave.md")
    const other = await server.call("PATCH", `/v1beta1/${await server.corpus("plain")}`, {
      vectorDbConfig: { ragManagedVertexVectorSearch: {} }
    })
    assert.strictEqual(other.status, 400)
  })

  it("keep the settings of their hybrid search, tell them again and search by them", async () => {
    const hybrid = (bm25: object) => ({
      hybridSearchConfig: { sparseEmbeddingConfig: { bm25 }, denseEmbeddingModelPredictionEndpoint: { endpoint } }
    })
    /** The file that is found first by words alone: one says the word once in few words, the other often in many. */
    const first = async (bm25: object) => {
      const ragEmbeddingModelConfig = hybrid(bm25)
      const made = await server.call("POST", `/v1beta1/${parent}/ragCorpora`, {
        displayName: "mixed",
        vectorDbConfig: { ragManagedDb: {}, ragEmbeddingModelConfig }
      })
      const { name } = made.body.response
      const { body } = await server.call("GET", `/v1beta1/${name}`)
      assert.deepStrictEqual(body.vectorDbConfig.ragEmbeddingModelConfig, ragEmbeddingModelConfig)
      await server.upload(name, "short.md", "Hotels.")
      await server.upload(name, "long.md", `Hotels, hotels and more hotels. ${"Walls have doors and windows. ".repeat(20)}`)
      const { body: found } = await server.call("POST", `/v1beta1/${parent}:retrieveContexts`, {
        vertexRagStore: { ragResources: [{ ragCorpus: name }] },
        query: { text: "hotels", ragRetrievalConfig: { topK: 1, hybridSearch: { alpha: 0 } } }
      })
      const changed = await server.call("PATCH", `/v1beta1/${name}`, {
        vectorDbConfig: { ragManagedDb: {}, ragEmbeddingModelConfig: hybrid({ ...bm25, b: 0.5 }) }
      })
      assert.strictEqual(changed.status, 400)
      assert.strictEqual(changed.body.error.details[0].fieldViolations[0].field, "rag_corpus.vector_db_config.rag_embedding_model_config")
      return found.contexts.contexts[0].sourceDisplayName
    }
    assert.strictEqual(await first({ multilingual: true, k1: 1.2, b: 1 }), "short.md")
    assert.strictEqual(await first({ k1: 3, b: 0 }), "long.md")
    assert.strictEqual(await first({}), "short.md")
  })

  it("with files are deleted, but not where force is denied", async () => {
    const filled = async () => {
      const corpus = await server.corpus()
      await server.upload(corpus, "leave.md", leave)
      return corpus
    }
    const corpus = await filled()
    for (const query of ["v1/? ?force=false", "v1beta1/? ?force=False", "v1beta1/? ?forceDelete=false"]) {
      const refused = await server.call("DELETE", `/${query.replace("? ", corpus)}`)
      assert.strictEqual(refused.status, 400, query)
      assert.strictEqual(refused.body.error.status, "FAILED_PRECONDITION")
    }
    const { body } = await server.call("DELETE", `/v1/${corpus}`)
    for (const query of ["v1/? ?force=true", "v1beta1/? ?forceDelete=true", "v1beta1/? ?force=false&forceDelete=true"]) {
      assert.strictEqual((await server.call("DELETE", `/${query.replace("? ", await filled())}`)).status, 200, query)
    }
    assert.strictEqual(body.metadata["@type"], "type.googleapis.com/google.cloud.aiplatform.v1.DeleteOperationMetadata")
    assert.deepStrictEqual(body.response, { "@type": "type.googleapis.com/google.protobuf.Empty" })
    const gone = await server.call("GET", `/v1/${corpus}`)
    assert.strictEqual(gone.status, 404)
    assert.include(gone.body.error.message, corpus)
  })

  it("are refused with the fields that are wrong", async () => {
    const nameless = await server.call("POST", `/v1/${parent}/ragCorpora`, {})
    assert.strictEqual(nameless.status, 400)
    assert.deepStrictEqual(nameless.body.error.details[0], {
      "@type": "type.googleapis.com/google.rpc.BadRequest",
      fieldViolations: [{ field: "rag_corpus.display_name", description: "Required field is not set." }]
    })
    const unknown = await server.call("POST", `/v1/${parent}/ragCorpora`, { displayName: "x", colour: "red" })
    assert.match(unknown.body.error.message, /Unknown name "colour"/)
    const inline = await server.call("POST", `/v1beta1/${parent}/ragCorpora`, {
      displayName: "x",
      vectorDbConfig: { pinecone: {}, apiAuth: { apiKeyConfig: { apiKeySecretVersion: "pcsk_the-key-itself" } } }
    })
    assert.strictEqual(inline.status, 400)
    assert.notInclude(JSON.stringify(inline.body), "pcsk_")
  })
})

describe("files", () => {
  it("are listed, got and deleted by operation", async () => {
    const corpus = await server.corpus()
    for (const name of ["a.md", "b.md", "c.md"]) await server.upload(corpus, name, `${leave}\n\n${name}`)
    const { body } = await server.call("GET", `/v1beta1/${corpus}/ragFiles?pageSize=2`)
    assert.deepStrictEqual(body.ragFiles.map((file: { displayName: string }) => file.displayName), ["a.md", "b.md"])
    const next = await server.call("GET", `/v1beta1/${corpus}/ragFiles?pageSize=2&pageToken=${body.nextPageToken}`)
    const [last] = next.body.ragFiles
    assert.strictEqual(last.displayName, "c.md")
    assert.match(last.sizeBytes, /^\d+$/)
    const text = await server.upload(corpus, "plain.TXT", leave)
    assert.isUndefined(text.body.ragFile.ragFileType)
    assert.strictEqual((await server.call("GET", `/v1beta1/${text.body.ragFile.name}`)).body.ragFileType, "RAG_FILE_TYPE_TXT")
    assert.deepStrictEqual(last.directUploadSource, {})
    assert.deepStrictEqual((await server.call("GET", `/v1beta1/${last.name}`)).body, last)
    const deleted = await server.call("DELETE", `/v1/${last.name}`)
    assert.strictEqual(deleted.body.done, true)
    assert.strictEqual((await server.call("GET", `/v1/${last.name}`)).status, 404)
    assert.strictEqual((await server.call("DELETE", `/v1/${last.name}`)).status, 404)
  })
})

describe("operations", () => {
  it("are known by their last segment, wherever they hang, in both versions", async () => {
    const { body } = await server.call("POST", `/v1/${parent}/ragCorpora`, { displayName: "x" })
    const id = body.name.split("/").at(-1)
    const corpus = body.response.name
    for (const version of ["v1", "v1beta1"]) {
      for (const at of [parent, corpus, `${corpus}/ragFiles/1`, `${parent}/endpoints/1`, `${parent}/ragEngineConfig`]) {
        const got = await server.call("GET", `/${version}/${at}/operations/${id}?`)
        assert.strictEqual(got.body.name, body.name)
        assert.strictEqual(got.body.done, true)
      }
    }
    const listed = await server.call("GET", `/v1/${corpus}/operations`)
    assert.deepStrictEqual(listed.body.operations.map((operation: { name: string }) => operation.name), [body.name])
    const ui = await server.call("GET", `/ui/${parent}/operations?pageSize=1`)
    assert.strictEqual(ui.body.operations.length, 1)
    assert.isString(ui.body.nextPageToken)
    assert.deepStrictEqual((await server.call("POST", `/v1/${body.name}:cancel`, "\"\"")).body, {})
    assert.deepStrictEqual((await server.call("DELETE", `/v1/${body.name}`)).body, {})
    assert.strictEqual((await server.call("GET", `/v1/${body.name}`)).status, 404)
  })

  it("survive a restart", async () => {
    const first = await startServer()
    const { body } = await first.call("POST", `/v1/${parent}/ragCorpora`, { displayName: "kept" })
    const second = await first.restart()
    try {
      assert.deepStrictEqual((await second.call("GET", `/v1/${body.name}`)).body, body)
    } finally {
      await second.stop()
    }
  })
})

describe("the engine's configuration and locations", () => {
  it("is kept", async () => {
    const path = `/v1/${parent}/ragEngineConfig`
    assert.deepStrictEqual((await server.call("GET", path)).body, { name: `${parent}/ragEngineConfig`, ragManagedDbConfig: { basic: {} } })
    const { body } = await server.call("PATCH", path, { ragManagedDbConfig: { scaled: {} } })
    assert.match(body.metadata["@type"], /UpdateRagEngineConfigOperationMetadata$/)
    assert.deepStrictEqual((await server.call("GET", path)).body.ragManagedDbConfig, { scaled: {} })
  })

  it("are there", async () => {
    assert.strictEqual((await server.call("GET", `/v1/${parent}`)).body.locationId, "us-central1")
    assert.isNotEmpty((await server.call("GET", "/v1/projects/p1/locations")).body.locations)
  })
})

describe("retrieval", () => {
  let corpus: string
  const store = () => ({ rag_resources: { rag_corpus: corpus } })
  beforeAll(async () => {
    corpus = await server.corpus("retrieval")
    await server.upload(corpus, "leave.md", leave)
    await server.upload(corpus, "travel.md", travel)
  })

  it("finds contexts, by the new spelling and the old", async () => {
    const fresh = await server.call("POST", `/v1beta1/${parent}:retrieveContexts`, {
      vertexRagStore: { ragResources: [{ ragCorpus: corpus }] },
      query: { text: "hotel limit in Osaka", ragRetrievalConfig: { topK: 1 } }
    })
    const [context] = fresh.body.contexts.contexts
    assert.strictEqual(context.sourceDisplayName, "travel.md")
    assert.isAtMost(context.score, 2)
    assert.isString(context.chunk.chunkId)
    const old = await server.call("POST", `/v1beta1/${parent}:retrieveContexts`, {
      vertex_rag_store: { ...store(), vector_distance_threshold: 2 },
      query: { text: "hotel limit in Osaka", similarity_top_k: 1 }
    })
    assert.deepStrictEqual(old.body, fresh.body)
  })

  it("within files, under any name of the project", async () => {
    const { body } = await server.call("GET", `/v1/${corpus}/ragFiles`)
    const id = body.ragFiles.find((file: { displayName: string }) => file.displayName === "leave.md").name.split("/").at(-1)
    const found = await server.call("POST", "/v1/projects/123456/locations/us-central1:retrieveContexts", {
      vertex_rag_store: {
        rag_resources: { rag_corpus: corpus.replace(parent, "projects/123456/locations/us-central1"), rag_file_ids: id }
      },
      query: { text: "hotel limit in Osaka" }
    })
    assert.deepStrictEqual(found.body.contexts.contexts.map((context: { sourceDisplayName: string }) => context.sourceDisplayName), [
      "leave.md"
    ])
  })

  it("augments a prompt with facts", async () => {
    const { body } = await server.call("POST", `/v1/${parent}:augmentPrompt`, {
      vertexRagStore: { ragResources: [{ ragCorpus: corpus }], ragRetrievalConfig: { topK: 1 } },
      contents: [{ role: "user", parts: [{ text: "What is the hotel limit in Osaka?" }] }]
    })
    assert.strictEqual(body.facts[0].title, "travel.md")
    assert.include(JSON.stringify(body.augmentedPrompt), "120 EUR")
  })

  it("corroborates what facts support, and nothing else", async () => {
    const { body } = await server.call("POST", `/v1/${parent}:corroborateContent`, {
      content: {
        parts: [{ text: "The hotel limit in Osaka is 120 EUR. The hotel limit in Osaka is 90 EUR. Zürich has a large penguin colony." }]
      },
      facts: [{ summary: leave }, { summary: travel }],
      parameters: { citationThreshold: 0.6 }
    })
    const [right, otherNumber, invented] = body.claims
    assert.deepStrictEqual(right.factIndexes, [1])
    assert.strictEqual(right.score, 1)
    assert.isUndefined(otherNumber.factIndexes)
    assert.isBelow(otherNumber.score, 0.6)
    assert.strictEqual(invented.score, 0)
    assert.isBelow(body.corroborationScore, 0.7)
    assert.strictEqual(
      invented.endIndex,
      Buffer.byteLength("The hotel limit in Osaka is 120 EUR. The hotel limit in Osaka is 90 EUR. Zürich has a large penguin colony.")
    )
  })

  const model = `${parent}/publishers/google/models/gemini-2.0-flash-001`
  const question = (more: object = {}) => ({
    contents: { role: "user", parts: { text: "What is the hotel limit in Osaka?" } },
    tools: { retrieval: { disable_attribution: false, vertex_rag_store: { ...store(), similarity_top_k: 3 } } },
    ...more
  })

  it("generates an answer with its grounding", async () => {
    const { body } = await server.call("POST", `/v1/${model}:generateContent`, question())
    const [candidate] = body.candidates
    assert.include(candidate.content.parts[0].text, "120 EUR")
    assert.strictEqual(candidate.finishReason, "STOP")
    const { groundingChunks, groundingSupports } = candidate.groundingMetadata
    assert.strictEqual(groundingChunks[0].retrievedContext.title, "travel.md")
    const { endIndex, startIndex = 0, text } = groundingSupports[0].segment
    assert.strictEqual(Buffer.from(candidate.content.parts[0].text).subarray(startIndex, endIndex).toString(), text)
    assert.isAbove(body.usageMetadata.promptTokenCount, 5)
    assert.strictEqual(body.usageMetadata.totalTokenCount, body.usageMetadata.promptTokenCount + body.usageMetadata.candidatesTokenCount)
    const express = await server.call("POST", "/v1beta1/publishers/google/models/gemini-2.0-flash-001:generateContent", question())
    assert.strictEqual(express.body.candidates[0].content.parts[0].text, candidate.content.parts[0].text)
  })

  it("tells the older form of citations too, and neither where the request disables attribution", async () => {
    const { body: { candidates: [candidate] } } = await server.call("POST", `/v1/${model}:generateContent`, question())
    const [cited] = candidate.citationMetadata.citations
    assert.strictEqual(cited.title, "travel.md")
    const { endIndex, startIndex } = candidate.groundingMetadata.groundingSupports[0].segment
    assert.deepStrictEqual([cited.startIndex, cited.endIndex], [startIndex, endIndex])

    const plain = question({ tools: { retrieval: { disable_attribution: true, vertex_rag_store: { ...store(), similarity_top_k: 3 } } } })
    const { body: unary } = await server.call("POST", `/v1/${model}:generateContent`, plain)
    const { body: pieces } = await server.call("POST", `/v1/${model}:streamGenerateContent`, plain)
    assert.include(unary.candidates[0].content.parts[0].text, "120 EUR")
    for (const each of [unary, ...pieces]) {
      assert.isUndefined(each.candidates[0].groundingMetadata)
      assert.isUndefined(each.candidates[0].citationMetadata)
    }
  })

  it("streams it as an array and as events", async () => {
    const unary = await server.call("POST", `/v1/${model}:generateContent`, question())
    const array = await server.call("POST", `/v1/${model}:streamGenerateContent`, question())
    const text = (chunks: ReadonlyArray<{ candidates: ReadonlyArray<{ content: { parts: ReadonlyArray<{ text: string }> } }> }>) =>
      chunks.map((chunk) => chunk.candidates[0]?.content.parts[0]?.text ?? "").join("")
    assert.strictEqual(text(array.body), unary.body.candidates[0].content.parts[0].text)
    assert.strictEqual(array.body.at(-1).candidates[0].finishReason, "STOP")
    const response = await fetch(`${server.url}/v1/${model}:streamGenerateContent?alt=sse`, {
      method: "POST",
      body: JSON.stringify(question())
    })
    assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
    const events = (await response.text()).split("\r\n\r\n").filter((event) => event !== "")
    assert.isTrue(events.every((event) => event.startsWith("data: {")))
    assert.strictEqual(text(events.map((event) => JSON.parse(event.slice(6)))), text(array.body))
  })

  it("keeps to whole cited lines and to stop sequences", async () => {
    const short = await server.call("POST", `/v1/${model}:generateContent`, question({ generationConfig: { maxOutputTokens: 3 } }))
    assert.strictEqual(short.body.candidates[0].finishReason, "MAX_TOKENS")
    assert.isUndefined(short.body.candidates[0].groundingMetadata)
    const stopped = await server.call("POST", `/v1/${model}:generateContent`, question({ generationConfig: { stopSequences: ["120"] } }))
    assert.strictEqual(stopped.body.candidates[0].content.parts[0].text, "The hotel limit in Osaka is ")
  })

  it("says which requests need a model", async () => {
    const beyond: ReadonlyArray<object> = [
      { tools: [{ functionDeclarations: [{ name: "f" }] }], toolConfig: { functionCallingConfig: { mode: "ANY" } } },
      question({ toolConfig: { functionCallingConfig: { mode: "VALIDATED" } } }),
      question({ generationConfig: { responseMimeType: "application/json", responseSchema: { type: "OBJECT" } } }),
      question({ generationConfig: { thinkingConfig: { thinkingBudget: 1024 } } }),
      question({ generationConfig: { candidateCount: 2 } }),
      {
        ...question(),
        contents: [{ role: "user", parts: [{ text: "what is this" }, { inlineData: { mimeType: "image/png", data: "AAAA" } }] }]
      }
    ]
    for (const body of beyond) {
      const { body: { error }, status } = await server.call("POST", `/v1beta1/${model}:generateContent`, { ...question(), ...body })
      assert.strictEqual(status, 400)
      assert.include(error.message, "--upstream")
    }
    const wrong = await server.call("POST", `/v1/${model}:streamGenerateContent`, question({ generationConfig: { temperature: 9 } }))
    assert.strictEqual(wrong.status, 400)
    assert.strictEqual(wrong.body[0].error.details[0].fieldViolations[0].field, "generation_config.temperature")
  })
})

describe("the form of answers", () => {
  it("follows the query", async () => {
    const corpus = await server.corpus("form", "v1beta1")
    const numbers = await server.call("GET", `/v1beta1/${corpus}?$alt=json;enum-encoding=int&fields=name&$prettyPrint=0`)
    assert.strictEqual(numbers.body.corpusStatus.state, 2)
    const pretty = await fetch(`${server.url}/v1beta1/${corpus}?prettyPrint=true`)
    assert.match(await pretty.text(), /^\{\n {2}"/)
    const unknown = await server.call("GET", `/v1/${corpus}?colour=red`)
    assert.strictEqual(unknown.status, 400)
  })

  it("is an error of the API where there is no method", async () => {
    for (
      const path of [
        "/v2/x",
        `/v1/${parent}/nothing`,
        `/v1/${parent}:unknownVerb`,
        `/v1/${parent}/ragCorpora/a%2Fb`,
        `/v1/${parent}/ragCorpora/a:b`
      ]
    ) {
      const { body, status } = await server.call("GET", path)
      assert.strictEqual(status, 404, path)
      assert.strictEqual(body.error.status, "NOT_FOUND")
    }
  })

  it("says who answers, at /", async () => {
    const { body } = await server.call("GET", "/")
    assert.strictEqual(body.engine, "embedded")
    assert.match(body.embedder, /hash/)
  })
})
