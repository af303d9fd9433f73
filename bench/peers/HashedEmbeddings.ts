import { Embeddings } from "@langchain/core/embeddings"

const dimensions = 256

/**
 * Embeddings of hashed words. They are deterministic and nearly free, so that the framework is measured, not a model. Counts the
 * embedded texts.
 */
export class HashedEmbeddings extends Embeddings {
  embedded = 0

  constructor() {
    super({})
  }

  override async embedDocuments(texts: Array<string>): Promise<Array<Array<number>>> {
    this.embedded += texts.length
    return texts.map(hashed)
  }

  override async embedQuery(text: string): Promise<Array<number>> {
    return hashed(text)
  }
}

const hashed = (text: string): Array<number> => {
  const vector = new Array<number>(dimensions).fill(0)
  let hash = 0x811c9dc5
  let length = 0
  for (let i = 0; i <= text.length; i++) {
    const unit = i < text.length ? text.charCodeAt(i) | 32 : 32
    if (unit > 32) {
      hash = Math.imul(hash ^ unit, 0x01000193)
      length++
    } else if (length > 0) {
      vector[(hash >>> 0) % dimensions]! += hash & 0x1000000 ? 1 : -1
      hash = 0x811c9dc5
      length = 0
    }
  }
  const norm = Math.hypot(...vector)
  return norm === 0 ? vector : vector.map((value) => value / norm)
}
