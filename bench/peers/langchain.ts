/**
 * LangChain.js doing the bench's work with its own parts: directory loader, Markdown splitter, indexing API with its
 * record manager, BM25 and ensemble retrievers. Prints one line of JSON.
 *
 *     node langchain.ts ingest DOCS STORE CHARACTERS OVERLAP
 *     node langchain.ts query STORE SECONDS < queries.json
 */
import { mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { DirectoryLoader } from "@langchain/classic/document_loaders/fs/directory"
import { TextLoader } from "@langchain/classic/document_loaders/fs/text"
import { EnsembleRetriever } from "@langchain/classic/retrievers/ensemble"
import { InMemoryRecordManager } from "@langchain/community/indexes/memory"
import { BM25Retriever } from "@langchain/community/retrievers/bm25"
import { Document } from "@langchain/core/documents"
import { index } from "@langchain/core/indexing"
import { RecursiveCharacterTextSplitter } from "@langchain/textsplitters"
import { latencies } from "../lib/Statistics.ts"
import { HashedEmbeddings } from "./HashedEmbeddings.ts"
import { SavedMemoryStore } from "./SavedMemoryStore.ts"
import { readValue, writeValue } from "./values.ts"

const topK = 10

const ingest = async (docs: string, folder: string, chunkSize: number, chunkOverlap: number) => {
  mkdirSync(folder, { recursive: true })
  // Kept in a file like the vectors: LangChain's own durable record managers need a server or a compiler.
  const recordManager = new InMemoryRecordManager()
  recordManager.records = readValue(join(folder, "records")) ?? recordManager.records
  const embeddings = new HashedEmbeddings()
  const vectorStore = new SavedMemoryStore(embeddings)
  vectorStore.load(join(folder, "vectors"))
  const pages = await new DirectoryLoader(docs, { ".md": (path) => new TextLoader(path) }).load()
  const splitter = RecursiveCharacterTextSplitter.fromLanguage("markdown", { chunkSize, chunkOverlap })
  const docsSource = await splitter.splitDocuments(pages)
  const { numAdded, numDeleted } = await index({
    docsSource,
    recordManager,
    vectorStore,
    options: { cleanup: "full", sourceIdKey: "source", batchSize: 500 }
  })
  if (numAdded + numDeleted > 0) vectorStore.save(join(folder, "vectors"))
  writeValue(join(folder, "records"), recordManager.records)
  return { chunks: docsSource.length, embedded: embeddings.embedded }
}

const query = async (folder: string, maxSeconds: number) => {
  const queries: Array<string> = JSON.parse(readFileSync(0, "utf8"))
  const started = performance.now()
  const store = new SavedMemoryStore(new HashedEmbeddings())
  store.load(join(folder, "vectors"))
  if (store.memoryVectors.length === 0) throw new Error(`${folder} holds no vectors: run ingest first`)
  const docs = store.memoryVectors.map(({ content, metadata }) => new Document({ pageContent: content, metadata }))
  const sparse = BM25Retriever.fromDocuments(docs, { k: topK, includeScore: false })
  const hybrid = new EnsembleRetriever({ retrievers: [sparse, store.asRetriever(topK)], weights: [0.5, 0.5] })
  await store.similaritySearch(queries[0] ?? "", topK)
  const reopenSeconds = (performance.now() - started) / 1000
  const limits = { maxSeconds, warmUp: 1 }
  return {
    reopenSeconds,
    sparse: await latencies(queries, (text) => sparse.invoke(text), limits),
    hybrid: await latencies(queries, (text) => hybrid.invoke(text), limits)
  }
}

const [command, ...args] = process.argv.slice(2)
const result = command === "ingest"
  ? await ingest(args[0]!, args[1]!, Number(args[2]), Number(args[3]))
  : await query(args[0]!, Number(args[1]))
process.stdout.write(`${JSON.stringify(result)}\n`)
