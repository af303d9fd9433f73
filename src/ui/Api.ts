import { Schema, SchemaTransformation } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware } from "effect/http-api"
import { askerFrom, askerText } from "../domain/Asker.ts"
import { Counts, Report, SourceReport } from "../domain/Report.ts"
import { Metadata, Permissions } from "../domain/RagFile.ts"
import { Explanation } from "../domain/Retrieval.ts"

/**
 * The API between the inspector's page and its server. All of it is read-only: nothing here changes a corpus. The page imports
 * its types from here, and nothing else.
 */

/** A corpus in a list. */
export const CorpusCard = Schema.Struct({
  /** Id in addresses. */
  id: Schema.String,
  title: Schema.String,
  description: Schema.optionalKey(Schema.String),
  /** Name of the pipeline that fills it, where it is known. */
  pipeline: Schema.optionalKey(Schema.String),
  files: Schema.optionalKey(Schema.Int)
})
export type CorpusCard = typeof CorpusCard.Type

const { chunks, embedded, embeddedTokens, reasons, why } = Report.fields

/** A run and its results. For a run that is still going on, or was killed, only the start is known. */
export const Run = Schema.Struct({
  /** Start of the run, in RFC 3339. */
  started: Schema.String,
  /** How the run ended, as in its report. */
  ended: Schema.optionalKey(Schema.String),
  why,
  seconds: Schema.optionalKey(Schema.Finite),
  totals: Schema.optionalKey(Counts),
  sources: Schema.optionalKey(Schema.Array(SourceReport)),
  chunks,
  embedded,
  embeddedTokens,
  reasons
})
export type Run = typeof Run.Type

export const CorpusView = Schema.Struct({
  ...CorpusCard.fields,
  /** Principal whose permissions apply to all callers, or several separated by `;`. Absent: everything is shown. */
  principal: Schema.optionalKey(Schema.String),
  where: Schema.optionalKey(Schema.String),
  /** Whether a pipeline's ledger is shown: states of files, runs, and why a file is not found. */
  accounted: Schema.Boolean,
  /** Numbers of the ledger's files by state. */
  states: Schema.Record(Schema.String, Schema.Int),
  /** Runs, newest first. */
  runs: Schema.Array(Run)
})
export type CorpusView = typeof CorpusView.Type

/** A file of the ledger, or of the corpus where no ledger is shown. */
export const FileRow = Schema.Struct({
  path: Schema.String,
  state: Schema.String,
  source: Schema.optionalKey(Schema.String),
  /** Id of the document, where the corpus has one. */
  id: Schema.optionalKey(Schema.String),
  bytes: Schema.optionalKey(Schema.Int),
  reason: Schema.optionalKey(Schema.String),
  message: Schema.optionalKey(Schema.String)
})
export type FileRow = typeof FileRow.Type

export const FilesPage = Schema.Struct({
  files: Schema.Array(FileRow),
  /** Cursor of the next page; absent at the end. */
  next: Schema.optionalKey(Schema.String)
})
export type FilesPage = typeof FilesPage.Type

export const DocumentFacts = Schema.Struct({
  id: Schema.String,
  path: Schema.String,
  /** Address of the original. */
  address: Schema.String,
  bytes: Schema.optionalKey(Schema.Int),
  chunks: Schema.optionalKey(Schema.Int),
  tokens: Schema.optionalKey(Schema.Int),
  pages: Schema.optionalKey(Schema.Int),
  created: Schema.String,
  updated: Schema.String,
  metadata: Schema.optionalKey(Metadata),
  permissions: Schema.optionalKey(Permissions)
})
export type DocumentFacts = typeof DocumentFacts.Type

export const DocumentChunk = Schema.Struct({
  ordinal: Schema.Int,
  text: Schema.String,
  /** Number of UTF-16 code units at the start of `text` that overlap with the chunk before. */
  shared: Schema.Int,
  headings: Schema.Array(Schema.String),
  firstPage: Schema.optionalKey(Schema.Int),
  lastPage: Schema.optionalKey(Schema.Int),
  tokens: Schema.Int,
  /** Start of the chunk in the document's text, in bytes of UTF-8. */
  byteStart: Schema.Int,
  byteEnd: Schema.Int,
  /** Span of `text` that the address highlights, in UTF-16 code units. */
  shown: Schema.optionalKey(Schema.Tuple([Schema.Int, Schema.Int]))
})
export type DocumentChunk = typeof DocumentChunk.Type

/** A file of a source in one generation of its pipeline's corpus. */
export const Version = Schema.Struct({
  /** Number of the generation, from 1. */
  generation: Schema.Int,
  /** Role of the generation: `live`, `candidate`, `kept`. */
  role: Schema.String,
  /** Start of the generation, in RFC 3339. */
  made: Schema.optionalKey(Schema.String),
  /** State after the last attempt to store the file. */
  state: Schema.String,
  /** Corpus that readers of the generation see. Its document may be older than the last attempt. */
  corpus: Schema.String,
  document: Schema.optionalKey(Schema.String),
  bytes: Schema.optionalKey(Schema.Int),
  /** Revision of the file, in the source's terms. */
  revision: Schema.String,
  /** Start of a hash of the content: versions with equal hashes have equal content. */
  content: Schema.String,
  /** Why the last attempt failed. */
  message: Schema.optionalKey(Schema.String)
})
export type Version = typeof Version.Type

export const DocumentPage = Schema.Struct({
  document: DocumentFacts,
  /** Versions of its file, newest generation first. Empty where no ledger is shown. */
  versions: Schema.Array(Version),
  chunks: Schema.Array(DocumentChunk),
  /** Ordinal of the first chunk of the next page; absent at the end. */
  next: Schema.optionalKey(Schema.Int)
})
export type DocumentPage = typeof DocumentPage.Type

const Span = Schema.Tuple([Schema.Int, Schema.Int])

export const Hit = Schema.Struct({
  document: Schema.String,
  path: Schema.String,
  headings: Schema.Array(Schema.String),
  firstPage: Schema.optionalKey(Schema.Int),
  lastPage: Schema.optionalKey(Schema.Int),
  byteStart: Schema.optionalKey(Schema.Int),
  byteEnd: Schema.optionalKey(Schema.Int),
  text: Schema.String,
  /** Spans of words in `text` that the search looked for, in UTF-16 code units. */
  marks: Schema.Array(Span),
  score: Schema.Finite,
  explanation: Schema.optionalKey(Explanation)
})
export type Hit = typeof Hit.Type

/** A passage that would be among the first without the restrictions of the question. */
export const RemovedHit = Schema.Struct({
  document: Schema.String,
  path: Schema.String,
  headings: Schema.Array(Schema.String),
  /** Its rank without the restrictions, from 1. */
  place: Schema.Int,
  score: Schema.Finite,
  by: Schema.Literals(["where", "as", "order"])
})
export type RemovedHit = typeof RemovedHit.Type

export const SearchView = Schema.Struct({
  hits: Schema.Array(Hit),
  removed: Schema.Array(RemovedHit),
  milliseconds: Schema.Finite
})
export type SearchView = typeof SearchView.Type

/** A quote, with the passage that contains it. */
export const Quoted = Schema.Struct({
  /** The number in brackets in the answer. */
  index: Schema.Int,
  document: Schema.String,
  path: Schema.String,
  headings: Schema.Array(Schema.String),
  page: Schema.optionalKey(Schema.Int),
  quote: Schema.String,
  /** The passage, and the span of the quote in it, in UTF-16 code units. */
  passage: Schema.optionalKey(Schema.Struct({ text: Schema.String, span: Span })),
  /** Start of the quote in the document's text, in bytes of UTF-8. */
  byteStart: Schema.optionalKey(Schema.Int),
  byteEnd: Schema.optionalKey(Schema.Int)
})
export type Quoted = typeof Quoted.Type

export const AnswerView = Schema.Struct({
  text: Schema.String,
  outcome: Schema.Literals(["answered", "unverified", "refused"]),
  /** Text of a model that nothing in the corpus supports. */
  unverified: Schema.optionalKey(Schema.String),
  model: Schema.String,
  confidence: Schema.optionalKey(Schema.Finite),
  /** Stretches of `text`, in UTF-16 code units, and the citations that support them. */
  supports: Schema.Array(Schema.Struct({ start: Schema.Int, end: Schema.Int, citations: Schema.Array(Schema.Int) })),
  citations: Schema.Array(Quoted),
  /** Where the question is not answered: the nearest quotes. */
  nearest: Schema.Array(Quoted),
  /** Documents that were found for the question, best first, with their scores. */
  passages: Schema.Array(Schema.Struct({ document: Schema.String, path: Schema.String, score: Schema.Finite })),
  milliseconds: Schema.Finite
})
export type AnswerView = typeof AnswerView.Type

/** Metadata keys, with the number of files for each value, and of files without the key. */
export const FacetsView = Schema.Array(Schema.Struct({
  key: Schema.String,
  values: Schema.Array(Schema.Struct({ value: Schema.Union([Schema.String, Schema.Finite, Schema.Boolean]), files: Schema.Int })),
  others: Schema.optionalKey(Schema.Struct({ values: Schema.Int, files: Schema.Int })),
  without: Schema.Int
}))
export type FacetsView = typeof FacetsView.Type

/** Documents as points of a plane: documents with similar vectors are near each other. */
export const MapView = Schema.Struct({
  points: Schema.Array(Schema.Struct({
    document: Schema.String,
    path: Schema.String,
    /** Position from left to right, from 0 to 1. */
    x: Schema.Finite,
    y: Schema.Finite,
    /** Index of its group in `groups`. */
    group: Schema.Int
  })),
  /** Folders of the points, largest first. The last may stand for all others. */
  groups: Schema.Array(Schema.Struct({ name: Schema.String, points: Schema.Int })),
  /** Number of all documents, of which the points are a sample. */
  of: Schema.Int,
  /** Number of sampled documents without a vector in the engine's database. */
  without: Schema.Int,
  /** Share of the vectors' variance that the plane shows, from 0 to 1. */
  seen: Schema.Finite
})
export type MapView = typeof MapView.Type

export const WhyView = Schema.Struct({ why: Schema.String })
export type WhyView = typeof WhyView.Type

/** A saved result of `sluice eval`. */
export const EvaluationCard = Schema.Struct({
  /** Name in addresses. */
  name: Schema.String,
  /** Start of the evaluation, in RFC 3339. */
  started: Schema.String,
  passed: Schema.Int,
  failed: Schema.Int,
  /** Means by the name of their measure, from 0 to 1. */
  measures: Schema.Record(Schema.String, Schema.Finite)
})
export type EvaluationCard = typeof EvaluationCard.Type

export const EvaluationView = Schema.Struct({
  ...EvaluationCard.fields,
  /** Median of the milliseconds from question to answer. */
  p50: Schema.Finite,
  /** Milliseconds that 95% of the answers stay below. */
  p95: Schema.Finite,
  /** Results, failed ones first. */
  results: Schema.Array(Schema.Struct({
    question: Schema.String,
    /** Who asked; several principals are separated by `;`, as in the parameter `as`. */
    principal: Schema.optionalKey(Schema.String),
    passed: Schema.Boolean,
    /** Checks with what was expected and, where they failed, what was found instead. */
    checks: Schema.Array(Schema.Struct({ expected: Schema.String, passed: Schema.Boolean, found: Schema.optionalKey(Schema.String) })),
    error: Schema.optionalKey(Schema.String),
    /** The judge's verdict where it differs from that of the exact checks. True: the judge calls the answer right. */
    otherwise: Schema.optionalKey(Schema.Boolean)
  })),
  /** Verdicts of a model as a judge, where one was used. */
  judge: Schema.optionalKey(Schema.Struct({
    model: Schema.String,
    right: Schema.Int,
    wrong: Schema.Int,
    /** Number of answers without a verdict. */
    without: Schema.Int,
    /** Number of answers on which the judge and the exact checks agree. */
    agreed: Schema.Int,
    /** Number of answers that have both a verdict and exact checks. */
    of: Schema.Int
  })),
  /** Changes since the result saved before this one. */
  drift: Schema.optionalKey(Schema.Struct({
    since: Schema.String,
    tests: Schema.Array(Schema.Struct({ id: Schema.String, change: Schema.String, documents: Schema.Array(Schema.String) })),
    measures: Schema.Array(Schema.Struct({
      measure: Schema.String,
      before: Schema.Finite,
      after: Schema.Finite,
      /** Probability that such a difference is due to chance, from 0 to 1. */
      chance: Schema.Finite,
      significant: Schema.Boolean,
      worse: Schema.Boolean
    }))
  }))
})
export type EvaluationView = typeof EvaluationView.Type

/** Fields of every failure. The kinds differ only by their HTTP status. */
const said = { message: Schema.String, fix: Schema.optionalKey(Schema.String) }
export class Invalid extends Schema.TaggedError<Invalid>()("Invalid", said, { httpApiStatus: 400 }) {}
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", said, { httpApiStatus: 403 }) {}
export class Missing extends Schema.TaggedError<Missing>()("Missing", said, { httpApiStatus: 404 }) {}
export class Unable extends Schema.TaggedError<Unable>()("Unable", said, { httpApiStatus: 502 }) {}
const errors = [Invalid, Forbidden, Missing, Unable] as const

/** Reports which part of a request cannot be decoded. */
export class Readable extends HttpApiMiddleware.Service<Readable>()("sluice/ui/Readable", { error: Invalid }) {}

const Text = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(4_000))
/** A principal, or several separated by `;`. */
const Asking = Text.pipe(
  Schema.decodeTo(
    Schema.Union([Schema.String, Schema.Array(Schema.String)]),
    SchemaTransformation.transform({ decode: askerFrom, encode: askerText })
  )
)
const narrowing = { where: Schema.optionalKey(Text), as: Schema.optionalKey(Asking) }
const corpus = { corpus: Text }
/** Parameters and errors of every endpoint of a corpus. */
const ofCorpus = { params: corpus, error: errors } as const
const Ordinal = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

const group = HttpApiGroup.make("read")
  .add(
    HttpApiEndpoint.get("corpora", "/corpora", { success: Schema.Array(CorpusCard), error: errors }),
    HttpApiEndpoint.get("corpus", "/corpora/:corpus", { ...ofCorpus, success: CorpusView }),
    HttpApiEndpoint.get("files", "/corpora/:corpus/files", {
      ...ofCorpus,
      query: {
        state: Schema.optionalKey(Text),
        /** Part of a path. Without a ledger only the start of paths is matched. */
        path: Schema.optionalKey(Text),
        after: Schema.optionalKey(Text)
      },
      success: FilesPage
    }),
    HttpApiEndpoint.get("facets", "/corpora/:corpus/facets", {
      ...ofCorpus,
      query: {
        /** Metadata keys, separated by commas. Default: all keys that people and rules wrote. */
        keys: Schema.optionalKey(Text),
        ...narrowing
      },
      success: FacetsView
    }),
    HttpApiEndpoint.get("map", "/corpora/:corpus/map", { ...ofCorpus, success: MapView }),
    HttpApiEndpoint.get("document", "/corpora/:corpus/documents/:document", {
      params: { ...corpus, document: Text },
      query: {
        chunk: Schema.optionalKey(Ordinal),
        /** Start of the highlighted text in the document, in bytes of UTF-8. */
        from: Schema.optionalKey(Ordinal),
        to: Schema.optionalKey(Ordinal)
      },
      success: DocumentPage,
      error: errors
    }),
    HttpApiEndpoint.get("search", "/corpora/:corpus/search", {
      ...ofCorpus,
      query: {
        q: Text,
        k: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 }))),
        alpha: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))),
        ...narrowing
      },
      success: SearchView
    }),
    HttpApiEndpoint.get("why", "/corpora/:corpus/why", {
      ...ofCorpus,
      query: { q: Text, path: Text, ...narrowing },
      success: WhyView
    }),
    HttpApiEndpoint.get("answer", "/corpora/:corpus/answer", {
      ...ofCorpus,
      query: { q: Text, ...narrowing },
      success: AnswerView
    })
  )
  .add(
    HttpApiEndpoint.get("evaluations", "/corpora/:corpus/evaluations", {
      ...ofCorpus,
      success: Schema.Array(EvaluationCard)
    }),
    HttpApiEndpoint.get("evaluation", "/corpora/:corpus/evaluations/:evaluation", {
      params: { ...corpus, evaluation: Text },
      success: EvaluationView,
      error: errors
    })
  )

/** The routes under `/ui/api`. */
export const Api = HttpApi.make("inspector").add(group).middleware(Readable).prefix("/ui/api")
