import { Effect, Layer } from "effect"
import { Embedder } from "../ports/Embedder.ts"
import { embedHashed, embedHashedSparse, embedWeighed } from "../text/hashed/EmbedHashed.ts"
import { dimensions } from "../text/hashed/Features.ts"

/**
 * The offline embedder: words and parts of words hashed into 2048 dimensions. Nothing is downloaded, and nothing is learnt from the corpus,
 * so a text's vector never changes. It matches other forms of a word, parts of compounds and misspellings; it knows no synonyms. It embeds
 * about 25 MB of text a second on one core; questions and documents are embedded alike.
 */
export const hashEmbedder: Embedder["Service"] = {
  /** Increase the version whenever any text's numbers change. */
  id: `hashed-ngrams-${dimensions}-v2`,
  hashed: true,
  dimensions,
  embed: (texts, task) => Effect.sync(() => texts.map((text) => embedHashed(text, task))),
  embedWeighed,
  embedSparse: (texts, task) => Effect.sync(() => texts.map((text) => embedHashedSparse(text, task)))
}

/** {@link hashEmbedder} as the embedder of an engine. */
export const HashEmbedder: Layer.Layer<Embedder> = Layer.succeed(Embedder, hashEmbedder)
