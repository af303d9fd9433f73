import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware } from "effect/http-api"
import { Counts, Report, SourceReport } from "../domain/Report.ts"
import { Metadata, Permissions } from "../domain/RagFile.ts"
import { Explanation } from "../domain/Retrieval.ts"

/**
 * What the inspector's page asks of its server, and what it is told. All of it is read: nothing here changes a corpus.
 * The page takes its types from here and nothing else.
 */

/** A corpus by which others of its kind are told apart. */
export const CorpusCard = Schema.Struct({
  /** In addresses. */
  id: Schema.String,
  title: Schema.String,
  description: Schema.optionalKey(Schema.String),
  /** The pipeline that fills it, where that is known. */
  pipeline: Schema.optionalKey(Schema.String),
  files: Schema.optionalKey(Schema.Int)
})
export type CorpusCard = typeof CorpusCard.Type

const { chunks, embedded, embeddedTokens, reasons, why } = Report.fields

/** What one run did. Of one that goes on, or that was killed, only the beginning is known. */
export const Run = Schema.Struct({
  /** RFC 3339. */
  started: Schema.String,
  /** Why it ended, as a report has it. */
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
  /** What the operator lets callers see; absent: all. */
  principal: Schema.optionalKey(Schema.String),
  where: Schema.optionalKey(Schema.String),
  /** Whether a pipeline's ledger is told of: states of files, runs, and why a file is not found. */
  accounted: Schema.Boolean,
  /** Files of the ledger by state. */
  states: Schema.Record(Schema.String, Schema.Int),
  /** Newest first. */
  runs: Schema.Array(Run)
})
export type CorpusView = typeof CorpusView.Type

/** A file as the ledger has it, or as the corpus has it where there is no ledger to tell of. */
export const FileRow = Schema.Struct({
  path: Schema.String,
  state: Schema.String,
  source: Schema.optionalKey(Schema.String),
  /** Of the document, where the corpus has one. */
  id: Schema.optionalKey(Schema.String),
  bytes: Schema.optionalKey(Schema.Int),
  reason: Schema.optionalKey(Schema.String),
  message: Schema.optionalKey(Schema.String)
})
export type FileRow = typeof FileRow.Type

export const FilesPage = Schema.Struct({
  files: Schema.Array(FileRow),
  /** Asks for the next page; absent at the end. */
  next: Schema.optionalKey(Schema.String)
})
export type FilesPage = typeof FilesPage.Type

export const DocumentFacts = Schema.Struct({
  id: Schema.String,
  path: Schema.String,
  /** Where the original is. */
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
  /** UTF-16 units at the beginning of `text` that the chunk before has too. */
  shared: Schema.Int,
  headings: Schema.Array(Schema.String),
  firstPage: Schema.optionalKey(Schema.Int),
  lastPage: Schema.optionalKey(Schema.Int),
  tokens: Schema.Int,
  /** UTF-8 bytes of the document's text. */
  byteStart: Schema.Int,
  byteEnd: Schema.Int,
  /** UTF-16 span of `text` that the address asks to be shown. */
  shown: Schema.optionalKey(Schema.Tuple([Schema.Int, Schema.Int]))
})
export type DocumentChunk = typeof DocumentChunk.Type

/** A file of a source in one generation of its pipeline's corpus. */
export const Version = Schema.Struct({
  /** Counts from 1. */
  generation: Schema.Int,
  /** What the generation is for: `live`, `candidate`, `kept`. */
  role: Schema.String,
  /** When the generation was begun, RFC 3339. */
  made: Schema.optionalKey(Schema.String),
  /** Of the last try to take it in. */
  state: Schema.String,
  /** The corpus and the document that readers of the generation see, which may be older than the last try. */
  corpus: Schema.String,
  document: Schema.optionalKey(Schema.String),
  bytes: Schema.optionalKey(Schema.Int),
  /** The source's own word for how new it is. */
  revision: Schema.String,
  /** The beginning of a hash of its content: versions that have the same are the same. */
  content: Schema.String,
  /** Why the last try failed. */
  message: Schema.optionalKey(Schema.String)
})
export type Version = typeof Version.Type

export const DocumentPage = Schema.Struct({
  document: DocumentFacts,
  /** Of its file, where a pipeline's ledger is told of: the newest generation first. */
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
  /** UTF-16 spans of words in `text` that the search looked for. */
  marks: Schema.Array(Span),
  score: Schema.Finite,
  explanation: Schema.optionalKey(Explanation)
})
export type Hit = typeof Hit.Type

/** A passage that would be among the first, were it not for what the question asks for besides. */
export const RemovedHit = Schema.Struct({
  document: Schema.String,
  path: Schema.String,
  headings: Schema.Array(Schema.String),
  /** Its place among all, from 1. */
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

/** A quote with the passage it stands in. */
export const Quoted = Schema.Struct({
  /** The number in brackets in the answer. */
  index: Schema.Int,
  document: Schema.String,
  path: Schema.String,
  headings: Schema.Array(Schema.String),
  page: Schema.optionalKey(Schema.Int),
  quote: Schema.String,
  /** The passage, and the UTF-16 span of the quote in it. */
  passage: Schema.optionalKey(Schema.Struct({ text: Schema.String, span: Span })),
  /** UTF-8 bytes of the quote in the document's text. */
  byteStart: Schema.optionalKey(Schema.Int),
  byteEnd: Schema.optionalKey(Schema.Int)
})
export type Quoted = typeof Quoted.Type

export const AnswerView = Schema.Struct({
  text: Schema.String,
  outcome: Schema.Literals(["answered", "unverified", "refused"]),
  /** What a model said that nothing in the corpus bears out. */
  unverified: Schema.optionalKey(Schema.String),
  model: Schema.String,
  confidence: Schema.optionalKey(Schema.Finite),
  /** Stretches of `text` (UTF-16) and the citations that bear them out. */
  supports: Schema.Array(Schema.Struct({ start: Schema.Int, end: Schema.Int, citations: Schema.Array(Schema.Int) })),
  citations: Schema.Array(Quoted),
  /** Of a refusal: what comes nearest. */
  nearest: Schema.Array(Quoted),
  /** Documents that were searched for it, best first, with their scores. */
  passages: Schema.Array(Schema.Struct({ document: Schema.String, path: Schema.String, score: Schema.Finite })),
  milliseconds: Schema.Finite
})
export type AnswerView = typeof AnswerView.Type

/** Keys with their values by how many files have them, and how many have none. */
export const FacetsView = Schema.Array(Schema.Struct({
  key: Schema.String,
  values: Schema.Array(Schema.Struct({ value: Schema.Union([Schema.String, Schema.Finite, Schema.Boolean]), files: Schema.Int })),
  others: Schema.optionalKey(Schema.Struct({ values: Schema.Int, files: Schema.Int })),
  without: Schema.Int
}))
export type FacetsView = typeof FacetsView.Type

/** Documents as points of a plane, near each other where their vectors are. */
export const MapView = Schema.Struct({
  points: Schema.Array(Schema.Struct({
    document: Schema.String,
    path: Schema.String,
    /** From 0 to 1. */
    x: Schema.Finite,
    y: Schema.Finite,
    /** Its place among `groups`. */
    group: Schema.Int
  })),
  /** Folders that the points are in, the largest first; the last may stand for all others. */
  groups: Schema.Array(Schema.Struct({ name: Schema.String, points: Schema.Int })),
  /** Documents there are, of which the points are some, spread over all. */
  of: Schema.Int,
  /** Documents that were chosen, and have no vector here. */
  without: Schema.Int,
  /** How much of what the vectors differ by the plane shows, 0 to 1. */
  seen: Schema.Finite
})
export type MapView = typeof MapView.Type

export const WhyView = Schema.Struct({ why: Schema.String })
export type WhyView = typeof WhyView.Type

/** A result of `sluice eval` that was saved. */
export const EvaluationCard = Schema.Struct({
  /** In addresses. */
  name: Schema.String,
  /** RFC 3339. */
  started: Schema.String,
  passed: Schema.Int,
  failed: Schema.Int,
  /** Means, 0 to 1, by what each measure is called. */
  measures: Schema.Record(Schema.String, Schema.Finite)
})
export type EvaluationCard = typeof EvaluationCard.Type

export const EvaluationView = Schema.Struct({
  ...EvaluationCard.fields,
  /** Milliseconds from question to answer: the median, and what 95% stay below. */
  p50: Schema.Finite,
  p95: Schema.Finite,
  /** Those that failed first. */
  results: Schema.Array(Schema.Struct({
    question: Schema.String,
    principal: Schema.optionalKey(Schema.String),
    passed: Schema.Boolean,
    /** What was expected, and what was found instead. */
    checks: Schema.Array(Schema.Struct({ expected: Schema.String, passed: Schema.Boolean, found: Schema.optionalKey(Schema.String) })),
    error: Schema.optionalKey(Schema.String),
    /** Whether the judge calls the answer right where the exact checks do not, or the other way round. */
    otherwise: Schema.optionalKey(Schema.Boolean)
  })),
  /** What a model as a judge said, where one was asked. */
  judge: Schema.optionalKey(Schema.Struct({
    model: Schema.String,
    right: Schema.Int,
    wrong: Schema.Int,
    /** Answers without a verdict. */
    without: Schema.Int,
    /** Of the answers that exact checks were held against too, those of which both say the same, and how many there are. */
    agreed: Schema.Int,
    of: Schema.Int
  })),
  /** Against the one saved before it. */
  drift: Schema.optionalKey(Schema.Struct({
    since: Schema.String,
    tests: Schema.Array(Schema.Struct({ id: Schema.String, change: Schema.String, documents: Schema.Array(Schema.String) })),
    measures: Schema.Array(Schema.Struct({
      measure: Schema.String,
      before: Schema.Finite,
      after: Schema.Finite,
      /** How likely such a difference is by chance, 0 to 1. */
      chance: Schema.Finite,
      significant: Schema.Boolean,
      worse: Schema.Boolean
    }))
  }))
})
export type EvaluationView = typeof EvaluationView.Type

/** What is told of a failure, whatever it was; the kinds are there for their HTTP status. */
const said = { message: Schema.String, fix: Schema.optionalKey(Schema.String) }
export class Invalid extends Schema.TaggedError<Invalid>()("Invalid", said, { httpApiStatus: 400 }) {}
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", said, { httpApiStatus: 403 }) {}
export class Missing extends Schema.TaggedError<Missing>()("Missing", said, { httpApiStatus: 404 }) {}
export class Unable extends Schema.TaggedError<Unable>()("Unable", said, { httpApiStatus: 502 }) {}
const errors = [Invalid, Forbidden, Missing, Unable] as const

/** Says which part of a request cannot be read. */
export class Readable extends HttpApiMiddleware.Service<Readable>()("sluice/ui/Readable", { error: Invalid }) {}

const Text = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(4_000))
const narrowing = { where: Schema.optionalKey(Text), as: Schema.optionalKey(Text) }
const corpus = { corpus: Text }
/** What every endpoint of one corpus is asked with, and how it fails. */
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
        /** Part of a path; only its beginning where there is no ledger. */
        path: Schema.optionalKey(Text),
        after: Schema.optionalKey(Text)
      },
      success: FilesPage
    }),
    HttpApiEndpoint.get("facets", "/corpora/:corpus/facets", {
      ...ofCorpus,
      query: {
        /** Metadata keys with commas between them. Default: all that people and rules wrote. */
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
        /** UTF-8 bytes of the document's text to be shown. */
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
