/**
 * Sluice: RAG pipelines as typed effects.
 *
 * `Pipeline.make` describes a pipeline, or `Pipeline.load` reads one from a file; `Embedded.layer` or `Vertex.layer`
 * provides the engine that runs it: `run`, `ask`, `stream`, `chat`, `watch`, `plan`, `diff`. Stages are functions that
 * `compose` chains; `defineConnector`, `defineParser`, `defineChunker` and `defineStage` make custom sources, parsers,
 * chunkers and stages. The ports are exported so that any part can be replaced.
 */
export * as Pipeline from "./pipeline/Pipeline.ts"
export * as Embedded from "./compose/EmbeddedEntry.ts"
export * as Vertex from "./compose/VertexEntry.ts"
export { runMain } from "./compose/RunMain.ts"
export type { TextPool } from "./text/TextPool.ts"
export { parse, type ReadBlock, type ReadDocument, type ReadDocumentRequest } from "./text/ReadDocument.ts"
export { Host, HostedModels } from "./pipeline/Host.ts"
export { batchServices, type BatchOptions } from "./compose/Batch.ts"
export {
  defineParser,
  type FileToParse,
  type ParsedMarkdown,
  type ParseFile,
  type Parser,
  type ParserContext,
  type ParserDefinition
} from "./ports/Parser.ts"
export { type Chunker, type ChunkerDefinition, type CutText, defineChunker } from "./ports/Chunker.ts"
export type { TextSpan, TextToCut } from "./domain/Chunking.ts"
export { type ConnectorContext, type ConnectorDefinition, defineConnector, type Source } from "./ports/Source.ts"
export { modelGarden } from "./compose/ModelGarden.ts"
export { Answer, type AnswerPart, Citation, type ContextsPart, type Exchange, type StreamPart, Support } from "./domain/Answer.ts"
export type { ChatEvent, ChatRequest, ChatTurn } from "./domain/Chat.ts"
export { BatchJob, BatchJobName, BatchSpec, BatchState } from "./domain/batch/BatchPrediction.ts"
export { Chunking, defaultChunking } from "./domain/Chunking.ts"
export { Corpus, CorpusName, CorpusOptions, CorpusSpec, VectorDb } from "./domain/Corpus.ts"
export type { Block, BlockKind, Chunk, FileChunk, ParsedDocument, Remark } from "./domain/Document.ts"
export { Code, DocumentError, ExitCode, SecretError, ServiceError, StateError } from "./domain/Errors.ts"
export {
  Endpoint,
  type EndpointChange,
  EndpointName,
  type EndpointSpec,
  Model,
  ModelName,
  type ModelSpec
} from "./domain/models/Endpoint.ts"
export type { GenerationRequest, GenerationResponse, TokenCount } from "./domain/generation/Generation.ts"
export { CatalogModel, type CatalogQuery, type DeployRequest } from "./domain/models/ModelCatalog.ts"
export type { DataSchema, FileMetadata, NewDataSchema, NewFileMetadata } from "./domain/FileMetadata.ts"
export type { FileMetadataSpec, MetadataValue } from "./domain/MetadataValue.ts"
export { Operation, OperationName } from "./domain/Operation.ts"
export { Parsing } from "./domain/Parsing.ts"
export { Metadata, Permissions, RagFile, RagFileName, type UploadRequest, type UploadResult } from "./domain/RagFile.ts"
export type { MessageEvent, MessageRequest, PartnerMessage } from "./domain/partner/PartnerChat.ts"
export { addsUp, Counts, FileOutcome, Outcome, Report, SourceReport, type SyncEvent } from "./domain/Report.ts"
export { Context, Explanation, Ranking, type RetrievalRequest } from "./domain/Retrieval.ts"
export { SecretVersion } from "./domain/Secret.ts"
export { BatchEngine, type BatchServices } from "./pipeline/batch/BatchEngine.ts"
export { checkBatch, submitBatch } from "./pipeline/batch/SubmitBatch.ts"
export { type ChangedTest, compare, type Comparison, dropped, type MeasureChange } from "./pipeline/eval/Comparison.ts"
export { type Check, type EvaluateOptions, type Evaluation, type TestResult } from "./pipeline/eval/Evaluation.ts"
export type { Judgement, Judging } from "./pipeline/eval/Judging.ts"
export { type Measure, type Measures } from "./pipeline/eval/Measures.ts"
export type { Estimate } from "./pipeline/eval/Statistics.ts"
export type { EvaluationTest } from "./pipeline/definition/TestSettings.ts"
export { PipelineInvalid } from "./pipeline/definition/PipelineInvalid.ts"
export { printPipeline } from "./pipeline/definition/Print.ts"
export { chat, type ChatOptions } from "./pipeline/stages/Chat.ts"
export { condense, type FollowUp } from "./pipeline/stages/Condense.ts"
export { type Answered, type AnswerOptions, generate, generateBy, generateFromCorpus } from "./pipeline/stages/Generate.ts"
export { diversify, type DiversifyOptions } from "./pipeline/stages/Diversify.ts"
export { expand, type ExpandOptions } from "./pipeline/stages/Expand.ts"
export { rank, rankBy, type ScoreContexts } from "./pipeline/stages/Rank.ts"
export {
  CorpusInUse,
  type Question,
  retrieve,
  type Retrieved,
  type RetrieveOptions,
  type Unanswered,
  type Unretrieved
} from "./pipeline/stages/Retrieve.ts"
export { queriesBy, type Queries, retrieveEach, type RetrieveEachOptions } from "./pipeline/stages/RetrieveEach.ts"
export { compose, defineStage, type Stage, type StageDefinition } from "./pipeline/stages/Stage.ts"
export { diff, type Diff, type Difference } from "./pipeline/sync/Diff.ts"
export { plan, type Plan, type PlanItem, type PlanOptions } from "./pipeline/sync/Plan.ts"
export { sync } from "./pipeline/sync/Sync.ts"
export { defaultTiming, type Timing } from "./pipeline/watch/Agenda.ts"
export { watch, type WatchOptions } from "./pipeline/watch/Watch.ts"
export type { WatchEvent } from "./pipeline/watch/WatchEvent.ts"
export type { SyncOptions, SyncSpec } from "./pipeline/sync/Session.ts"
export { BatchPrediction } from "./ports/BatchPrediction.ts"
export type { Connector, Hint, Listed, SkipReason, SourceItem } from "./ports/Connector.ts"
export { ChatModel } from "./ports/ChatModel.ts"
export { Corpora } from "./ports/Corpora.ts"
export { Embedder, type EmbeddingTask } from "./ports/Embedder.ts"
export { Endpoints, type Prediction } from "./ports/Endpoints.ts"
export { Engine } from "./ports/Engine.ts"
export { FileMetadataStore } from "./ports/FileMetadataStore.ts"
export { Files } from "./ports/Files.ts"
export { Generation } from "./ports/Generation.ts"
export { Generator, type GroundedRequest } from "./ports/Generator.ts"
export { Ledger } from "./ports/Ledger.ts"
export { ModelCatalog } from "./ports/ModelCatalog.ts"
export { ObjectStore } from "./ports/ObjectStore.ts"
export { Operations } from "./ports/Operations.ts"
export { type Page, type PageRequest, pages } from "./ports/Paging.ts"
export { PartnerChat } from "./ports/PartnerChat.ts"
export { QueryRewriter } from "./ports/QueryRewriter.ts"
export { Ranker, Rankers } from "./ports/Ranker.ts"
export { Retrieval } from "./ports/Retrieval.ts"
export { TableStore } from "./ports/TableStore.ts"
export { Secrets } from "./ports/Secrets.ts"
export { type BatchAnswered, type BatchQuestion } from "./pipeline/BatchPipeline.ts"
export type { ConversationTurn } from "./pipeline/ChatPipeline.ts"
export { type Definition as PipelineDefinition, type PipelineFile } from "./pipeline/definition/Definition.ts"
export { Models, type Services } from "./pipeline/Services.ts"
export { definePipeline, type PipelineInput } from "./pipeline/definition/DefinePipeline.ts"
