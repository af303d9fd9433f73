import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory"
import type { DocumentInterface } from "@langchain/core/documents"
import { readValue, writeValue } from "./values.ts"

/**
 * LangChain's in-memory store with the two features that its indexing API requires and the store lacks: ids given by the caller,
 * and deletion by id; and with a file, so that a later process finds the work of an earlier one. Of the stores that
 * LangChain.js offers without a server, LanceDB and HNSWLib cannot delete by id, libSQL does not keep the caller's ids,
 * and FAISS must be compiled or downloaded from outside npm.
 */
export class SavedMemoryStore extends MemoryVectorStore {
  override async addDocuments(documents: Array<DocumentInterface>, options?: { readonly ids?: Array<string> }): Promise<void> {
    const { ids } = options ?? {}
    await super.addDocuments(ids === undefined ? documents : documents.map((document, at) => ({ ...document, id: ids[at]! })))
  }

  override async delete({ ids }: { readonly ids: Array<string> }): Promise<void> {
    const gone = new Set(ids)
    this.memoryVectors = this.memoryVectors.filter(({ id }) => id === undefined || !gone.has(id))
  }

  load(path: string): void {
    this.memoryVectors = readValue(path) ?? []
  }

  save(path: string): void {
    writeValue(path, this.memoryVectors)
  }
}
