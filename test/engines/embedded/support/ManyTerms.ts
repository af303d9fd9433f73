import type { CommandMessage } from "../../../../src/engines/embedded/store/Commands.ts"
import { textHash } from "../../../../src/engines/embedded/store/Hash.ts"
import { packVector } from "../../../../src/engines/embedded/store/Vector.ts"

/** The commands that put a file of corpus `c` with 200 words of its own, and its name among them. */
export const manyTerms = (name: string, id: number): ReadonlyArray<CommandMessage> => {
  const text = `${name} ${Array.from({ length: 200 }, (_, i) => `${name}x${i}`).join(" ")}`
  const hash = textHash(text)
  return [
    { id, kind: "putVectors", payload: { embedder: "none", vectors: [{ hash, vector: packVector(new Float32Array(8)) }], at: 0 } },
    {
      id: id + 1,
      kind: "putFile",
      payload: {
        corpus: "c",
        file: {
          name,
          displayName: name,
          sourceUri: name,
          sizeBytes: 1,
          tokens: 1,
          chunks: [{ text, headings: [], byteStart: 0, byteEnd: 1, tokens: 1, hash }]
        },
        at: 0
      }
    }
  ]
}
