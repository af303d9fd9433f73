/**
 * LangChain.js with its own parts: directory loader, Markdown splitter, indexing API with its record manager, BM25 and ensemble
 * retrievers. See `program.ts`.
 */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { DirectoryLoader } from "@langchain/classic/document_loaders/fs/directory"
import { TextLoader } from "@langchain/classic/document_loaders/fs/text"
import { EnsembleRetriever } from "@langchain/classic/retrievers/ensemble"
import { InMemoryRecordManager } from "@langchain/community/indexes/memory"
import { BM25Retriever } from "@langchain/community/retrievers/bm25"
import { Document } from "@langchain/core/documents"
import { index } from "@langchain/core/indexing"
import { RecursiveCharacterTextSplitter } from "@langchain/textsplitters"
import { textEndings } from "../lib/RealText.ts"
import { HashedEmbeddings } from "./HashedEmbeddings.ts"
import { run, topK } from "./program.ts"
import { SavedMemoryStore } from "./SavedMemoryStore.ts"
import { readValue, writeValue } from "./values.ts"

const ingest = async (docs: string, folder: string, chunkSize: number, chunkOverlap: number) => {
  mkdirSync(folder, { recursive: true })
  // Kept in a file like the vectors: LangChain's own durable record managers need a server or a compiler.
  const recordManager = new InMemoryRecordManager()
  recordManager.records = readValue(join(folder, "records")) ?? recordManager.records
  const embeddings = new HashedEmbeddings()
  const vectorStore = new SavedMemoryStore(embeddings)
  vectorStore.load(join(folder, "vectors"))
  const pages = await new DirectoryLoader(docs, Object.fromEntries(textEndings.map((ending) => [ending, (path: string) => new TextLoader(path)]))).load()
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

const open = async (folder: string) => {
  const store = new SavedMemoryStore(new HashedEmbeddings())
  store.load(join(folder, "vectors"))
  if (store.memoryVectors.length === 0) throw new Error(`${folder} holds no vectors: run ingest first`)
  const docs = store.memoryVectors.map(({ content, metadata }) => new Document({ pageContent: content, metadata }))
  const sparse = BM25Retriever.fromDocuments(docs, { k: topK, includeScore: false })
  const hybrid = new EnsembleRetriever({ retrievers: [sparse, store.asRetriever(topK)], weights: [0.5, 0.5] })
  return {
    sparse: (text: string) => sparse.invoke(text),
    dense: (text: string) => store.similaritySearch(text, topK),
    hybrid: (text: string) => hybrid.invoke(text)
  }
}

await run({ ingest, open })
