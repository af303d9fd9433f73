import { Schema, SchemaTransformation } from "effect"
import { type Chunking, defaultChunking, defaultOverlap } from "../../domain/Chunking.ts"
import { resultSinkForm } from "../../domain/rag/Forms.ts"
import { chunkSizeLimits, overlapRule } from "../../domain/rag/RagRules.ts"
import { Processor } from "../../domain/settings/Names.ts"
import { oneOf, type OwnCases } from "../../domain/settings/OneOf.ts"
import { Amount, ByteSize, DeleteLimit, DurationText } from "../../domain/settings/Quantities.ts"
import { earlyRule, hasForm, integer, positive, rule, text, withDefault } from "../../domain/settings/Rules.ts"
import { chunkerChoice, type OwnChunker } from "./ParserSettings.ts"

/** Decodes to the domain's `Chunking`, and a custom chunker beside it. */
export const chunkingSettings = (own: OwnCases) =>
  Schema.Struct({
    strategy: withDefault(
      Schema.Literals(["fixed", "structure"]).annotate({
        description:
          "fixed: windows of size tokens. structure: whole headings, paragraphs, table rows and code fences packed up to size; embedded engine only.",
        default: defaultChunking.strategy
      }),
      defaultChunking.strategy
    ),
    size: withDefault(
      integer(...chunkSizeLimits).annotate({ description: "Tokens in a chunk.", default: defaultChunking.size }),
      defaultChunking.size
    ),
    overlap: Schema.optionalKey(
      integer(0, chunkSizeLimits[1] - 1).annotate({
        description:
          "Tokens a chunk shares with the one before it; less than size. Unset: 200; a fifth of size where that is 200 or less; 0 with a chunker."
      })
    ),
    chunker: Schema.optionalKey(
      chunkerChoice(own).annotate({
        description:
          "A custom chunker instead of strategy, by the kind that a module under use exports, with its settings; embedded engine only. size and overlap apply to it too."
      })
    )
  }).check(earlyRule((chunking) => {
    const { overlap, size = defaultChunking.size }: { overlap?: unknown; size?: unknown } = chunking
    return typeof overlap !== "number" || typeof size !== "number" || overlap < size
      ? []
      : [{ path: ["overlap"], issue: overlapRule(size).rule }]
  })).annotate({ description: "How documents are cut." }).pipe(Schema.decodeTo(
    Schema.declare(isChunking),
    SchemaTransformation.transform<ChunkingSettings, Omit<ChunkingSettings, "overlap"> & { readonly overlap?: number }>({
      decode: ({ overlap, ...chunking }) => ({
        ...chunking,
        overlap: overlap ?? (chunking.chunker === undefined ? defaultOverlap(chunking.size) : 0)
      }),
      encode: (chunking) => chunking
    })
  ))

/** How documents are cut: what holds of `strategy` holds of `chunker` in its place. */
interface ChunkingSettings extends Chunking {
  readonly chunker?: OwnChunker
}

/** Only what was decoded above comes by here. */
const isChunking = (u: unknown): u is ChunkingSettings => typeof u === "object" && u !== null && "overlap" in u

/** Decodes to the domain's `Parsing`. */
export const ParsingChoice = oneOf({
  bare: ["default"],
  description: "Which parser reads the files: default (the engine's own parsers), or exactly one hosted parser.",
  cases: {
    layout: Schema.Struct({
      processor: Processor,
      maxRequestsPerMinute: withDefault(
        positive.annotate({ description: "Requests per minute to the processor, per job.", default: 120 }),
        120
      )
    }).annotate({ description: "A Document AI layout processor." }),
    llm: Schema.Struct({
      model: text.annotate({ description: "The model that reads the documents." }),
      prompt: Schema.optionalKey(text.annotate({ description: "The prompt for the model. Unset: the service's own prompt." })),
      maxRequestsPerMinute: withDefault(
        positive.annotate({ description: "Requests per minute to the model, per job.", default: 5000 }),
        5000
      )
    }).annotate({ description: "A language model reads the documents." })
  }
})

const Budget = Schema.Struct({
  embeddedTokens: Schema.optionalKey(Amount.pipe(
    Schema.annotateEncoded({
      description: "Most tokens to embed in one run, for example 5M; embedded engine only. The rest stays pending."
    })
  )),
  requests: Schema.optionalKey(Amount.pipe(
    Schema.annotateEncoded({
      description: "Most embedding requests in one run, retries included; embedded engine only. The rest stays pending."
    })
  ))
}).annotate({ description: "Budget of one run; the run stops there, and the next one continues." })

/**
 * Limits of one file and of the processes that read files; embedded engine only. A file over a limit is skipped or fails,
 * and the run continues.
 */
const FileLimits = Schema.Struct({
  maxBytes: Schema.optionalKey(ByteSize.pipe(Schema.annotateEncoded({ description: "Most bytes of a file. Unset: 100MiB." }))),
  maxPages: Schema.optionalKey(integer(1, 1_000_000).annotate({ description: "Most pages, slides or sheets of a file. Unset: 5000." })),
  maxCharacters: Schema.optionalKey(
    Amount.pipe(Schema.annotateEncoded({ description: "Most characters of text read from a file. Unset: 120M." }))
  ),
  maxSeconds: Schema.optionalKey(
    integer(1, 3_600).annotate({
      description: "Most seconds of processor time to read and cut a file; a file that takes longer is retried once, alone. Unset: 60."
    })
  ),
  maxParts: Schema.optionalKey(
    integer(1, 1_000_000).annotate({ description: "Most files taken out of one mail or archive. Unset: 50000." })
  ),
  maxUnpackedBytes: Schema.optionalKey(
    ByteSize.pipe(
      Schema.annotateEncoded({
        description: "Most bytes of all files taken out of one mail or archive, or of the parts of an Office document. Unset: 512MiB."
      })
    )
  ),
  memory: Schema.optionalKey(
    ByteSize.check(rule<number>((bytes) => bytes >= 2 ** 28, { rule: "must be 256MiB or more", fix: "leave it out, or give more" })).pipe(
      Schema.annotateEncoded({ description: "Memory of all processes that read files, in total, 256MiB or more. Unset: 1536MiB." })
    )
  )
}).annotate({
  description: "Limits of one file; embedded engine only. A file over a limit is skipped and reported by name, and the run continues."
})

export const ImportSettings = Schema.Struct({
  maxEmbeddingRequestsPerMinute: withDefault(
    positive.annotate({
      description: "Requests per minute to the embedding model while documents are stored, retries included.",
      default: 1000
    }),
    1000
  ),
  pricePerMillionTokens: Schema.optionalKey(
    Schema.Finite.check(rule<number>((price) => price > 0, { rule: "must be more than 0" }, { exclusiveMinimum: 0 }))
      .annotate({ description: "Price of embedding a million tokens, in any currency: plan then shows what a run costs." })
  ),
  resultSink: Schema.optionalKey(
    hasForm(resultSinkForm).annotate({
      description: "Where the hosted service writes one row per file: gs://bucket/path.ndjson or bq://project.dataset.table."
    })
  ),
  maxDelete: withDefault(DeleteLimit, "10%"),
  budget: withDefault(Budget, {}),
  onFileError: withDefault(
    Schema.Literals(["continue", "stop"]).annotate({
      description: "After a file fails: continue with the others, or stop the run.",
      default: "continue"
    }),
    "continue"
  ),
  keepEmbeddings: Schema.optionalKey(DurationText.pipe(Schema.annotateEncoded({
    description: "How long an embedding that no file uses any more is kept, in case its text comes back; embedded engine only. Unset: 24h."
  }))),
  archives: withDefault(
    Schema.Boolean.annotate({
      description:
        "Open ZIP, tar, gzip and Zstandard archives and mailboxes: each file or message in them is a separate document, beneath the archive's path. If off, archives are skipped and reported by name, and a mailbox is one document.",
      default: false
    }),
    false
  ),
  limits: Schema.optionalKey(FileLimits),
  textRecognition: Schema.optionalKey(text.annotate({
    description:
      "The language in which text in pictures and scanned pages is recognised, by the names of npm's @tesseract.js-data packages: eng, deu; embedded engine only. Needs tesseract.js and that package to be installed; a page takes seconds. Unset: off, and the report counts the files that need it."
  })),
  concurrency: Schema.optionalKey(
    integer(1, 64).annotate({ description: "Files processed concurrently. Unset: the engine's own number." })
  ),
  retries: withDefault(
    integer(0, 20).annotate({
      description: "How often a failed call to the embedding server, or to the hosted service, is retried if it may succeed later.",
      default: 5
    }),
    5
  )
}).annotate({ description: "How documents are stored in the corpus." })
export type ImportSettings = typeof ImportSettings.Type
