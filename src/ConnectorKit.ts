/**
 * Everything to write a connector, a parser or a chunker with: definitions and settings, paged listings, HTTP calls,
 * conversion of pages to Markdown, and the test suites that each of them must pass. Sluice's own `git` and `web`
 * connectors are written with this module alone.
 *
 * @example
 * ```ts
 * import { defineConnector, HttpUrl, httpCaller, paged } from "sluice/connector-kit"
 * ```
 */
export { Code, DocumentError, SecretError, ServiceError } from "./domain/Errors.ts"
export type { Metadata, Permissions } from "./domain/RagFile.ts"
export { SecretVersion } from "./domain/Secret.ts"
export { Endpoint, HttpUrl, SecretName } from "./domain/settings/Names.ts"
export { Amount, ByteSize, DurationText } from "./domain/settings/Quantities.ts"
export { atLeastOne, atMostOne, exactlyOne, integer, text, withDefault } from "./domain/settings/Rules.ts"
export {
  bodyOf,
  collect,
  discard,
  httpCaller,
  type HttpCaller,
  type HttpCallerOptions,
  type HttpRequestOptions,
  rateLimit,
  type RateLimitOptions
} from "./kit/HttpCaller.ts"
export { markdownFromHtml } from "./kit/Markdown.ts"
export { atMost, cursorRefused, cursors, lazyConnector, type ListedPage, paged } from "./kit/Paged.ts"
export type { SettingsOf } from "./domain/sources/BuiltInSources.ts"
export { globs, pathFilter } from "./kit/Settings.ts"
export { type ChunkerFixture, chunkerSuite } from "./kit/ChunkerSuite.ts"
export { type ParserFixture, parserSuite } from "./kit/ParserSuite.ts"
export { connectorSuite, type ConnectorFixture, type SuiteOptions, type TestRunner } from "./kit/Suite.ts"
export { type FaultInPlace, faultsOf, type SourceFault, testServer, type TestRequest, type TestServer } from "./kit/TestServer.ts"
export { isPublic } from "./net/PublicAddress.ts"
export { redactText, redactUrl } from "./domain/Redact.ts"
export { retry, type RetryOptions } from "./net/Retry.ts"
export type { Connector, Hint, Listed, SkipReason, SourceItem } from "./ports/Connector.ts"
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
export type { Secrets } from "./ports/Secrets.ts"
export { type ConnectorContext, type ConnectorDefinition, defineConnector, type Source } from "./ports/Source.ts"
