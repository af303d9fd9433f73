/**
 * A request to generate content. The names are those of the API's documentation, so that its examples can be written
 * here. Data are base64, durations are written `3.5s`. The rules are in `GenerationRules.ts`.
 */
export interface GenerationRequest {
  /** Contents: one for a single turn; the history, oldest first, and the latest request for several turns. */
  readonly contents: ReadonlyArray<Content>
  /** System instruction: text parts only, each a paragraph; the role is ignored. Only for models that support it. */
  readonly systemInstruction?: Content
  readonly tools?: ReadonlyArray<GenerationTool>
  readonly toolConfig?: ToolConfig
  readonly safetySettings?: ReadonlyArray<SafetySetting>
  readonly generationConfig?: GenerationConfig
  /** Cached content: `projects/{project}/locations/{location}/cachedContents/{cachedContent}`. */
  readonly cachedContent?: string
  /** Labels of the call, for billing. */
  readonly labels?: Readonly<Record<string, string>>
  readonly modelArmorConfig?: { readonly promptTemplateName?: string; readonly responseTemplateName?: string }
}

export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

export interface Content {
  /** Role: `user`, or `model` for the model's answers. Empty in a single turn. */
  readonly role?: string
  readonly parts?: ReadonlyArray<Part>
}

/** A part of a content: exactly one of the data members, and its details. */
export interface Part {
  readonly text?: string
  readonly inlineData?: Blob
  readonly fileData?: FileData
  readonly functionCall?: FunctionCall
  readonly functionResponse?: FunctionResponse
  readonly executableCode?: { readonly language?: string; readonly code?: string }
  readonly codeExecutionResult?: { readonly outcome?: string; readonly output?: string }
  /** Whether the text is the model's thinking. */
  readonly thought?: boolean
  readonly thoughtSignature?: string
  /** Clip and frame rate of a video; only with video in `inlineData` or `fileData`. */
  readonly videoMetadata?: { readonly startOffset?: string; readonly endOffset?: string; readonly fps?: number }
}

/** Inline data, at most 20 MB. */
export interface Blob {
  readonly mimeType?: string
  readonly data?: string
}

/** A file by address: in object storage, on the public web, or a video of the video site (one per request). */
export interface FileData {
  readonly mimeType?: string
  readonly fileUri?: string
}

export interface FunctionCall {
  readonly id?: string
  readonly name?: string
  readonly args?: JsonObject
}

export interface FunctionResponse {
  /** Id of the call that it answers. */
  readonly id?: string
  readonly name?: string
  readonly response?: JsonObject
}

export interface GenerationTool {
  readonly functionDeclarations?: ReadonlyArray<FunctionDeclaration>
  readonly googleSearch?: { readonly excludeDomains?: ReadonlyArray<string> }
  readonly codeExecution?: object
  readonly urlContext?: object
}

export interface FunctionDeclaration {
  readonly name?: string
  readonly description?: string
  /** Parameters of the function, an object schema. */
  readonly parameters?: OpenApiSchema
  /** Parameters as JSON Schema, instead of `parameters`. */
  readonly parametersJsonSchema?: Json
  readonly response?: OpenApiSchema
  readonly responseJsonSchema?: Json
}

export interface ToolConfig {
  readonly functionCallingConfig?: {
    /** Calling mode; `ANY`: a function must be called. Default `AUTO`. */
    readonly mode?: string
    /** With `ANY`, the functions that may be called. */
    readonly allowedFunctionNames?: ReadonlyArray<string>
  }
}

export const harmCategories = [
  "HARM_CATEGORY_UNSPECIFIED",
  "HARM_CATEGORY_HATE_SPEECH",
  "HARM_CATEGORY_DANGEROUS_CONTENT",
  "HARM_CATEGORY_HARASSMENT",
  "HARM_CATEGORY_SEXUALLY_EXPLICIT",
  "HARM_CATEGORY_CIVIC_INTEGRITY",
  "HARM_CATEGORY_JAILBREAK"
] as const

export const harmBlockThresholds = [
  "HARM_BLOCK_THRESHOLD_UNSPECIFIED",
  "BLOCK_LOW_AND_ABOVE",
  "BLOCK_MEDIUM_AND_ABOVE",
  "BLOCK_ONLY_HIGH",
  "BLOCK_NONE",
  "OFF"
] as const

export const harmBlockMethods = ["HARM_BLOCK_METHOD_UNSPECIFIED", "SEVERITY", "PROBABILITY"] as const

export interface SafetySetting {
  readonly category?: string
  readonly threshold?: string
  /** Whether to block by severity or probability. Default: by probability. */
  readonly method?: string
}

export interface GenerationConfig {
  /** Sampling temperature, 0 to 2. Default 1. */
  readonly temperature?: number
  /** Probability mass to sample from, 0 to 1. Default 0.95. */
  readonly topP?: number
  readonly topK?: number
  /** Number of answers, 1 to 8, and at most 1 when streaming. Default 1. */
  readonly candidateCount?: number
  /** Most tokens of the answer. */
  readonly maxOutputTokens?: number
  /** At most 5 stop sequences: the answer ends before the first one that occurs; case matters. */
  readonly stopSequences?: ReadonlyArray<string>
  /** Presence penalty, from -2 to below 2. */
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly seed?: number
  /** Form of the answer: `text/plain` (the default), `application/json`, or `text/x.enum`: one value of the schema's enum. */
  readonly responseMimeType?: string
  /** Schema of the answer; only with `responseMimeType`. */
  readonly responseSchema?: OpenApiSchema
  readonly responseJsonSchema?: Json
  /** Whether to return log probabilities; allowed once a day. */
  readonly responseLogprobs?: boolean
  /** Number of alternatives per token, 1 to 5; only with `responseLogprobs`. */
  readonly logprobs?: number
  readonly audioTimestamp?: boolean
  readonly responseModalities?: ReadonlyArray<string>
  readonly mediaResolution?: string
  readonly thinkingConfig?: {
    readonly includeThoughts?: boolean
    /** Tokens for thinking; 0 turns thinking off, -1 lets the model decide. */
    readonly thinkingBudget?: number
    /** Thinking level: `LOW`, `MEDIUM` or `HIGH`. */
    readonly thinkingLevel?: string
  }
}

/** The API's subset of an OpenAPI 3.0 schema: of a function's parameters, or of an answer. */
export interface OpenApiSchema {
  /** `STRING`, `NUMBER`, `INTEGER`, `BOOLEAN`, `ARRAY` or `OBJECT`. */
  readonly type?: string
  readonly format?: string
  readonly title?: string
  readonly description?: string
  readonly nullable?: boolean
  readonly default?: Json
  readonly items?: OpenApiSchema
  readonly minItems?: string
  readonly maxItems?: string
  readonly enum?: ReadonlyArray<string>
  readonly properties?: Readonly<Record<string, OpenApiSchema>>
  readonly propertyOrdering?: ReadonlyArray<string>
  readonly required?: ReadonlyArray<string>
  readonly minProperties?: string
  readonly maxProperties?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: string
  readonly maxLength?: string
  readonly pattern?: string
  readonly example?: Json
  readonly anyOf?: ReadonlyArray<OpenApiSchema>
  readonly additionalProperties?: Json
  readonly ref?: string
  readonly defs?: Readonly<Record<string, OpenApiSchema>>
}

/** An answer, or a piece of one: the last piece of a stream has the finish reason, and the usage of the whole answer. */
export interface GenerationResponse {
  readonly candidates?: ReadonlyArray<Candidate>
  readonly promptFeedback?: {
    readonly blockReason?: string
    readonly blockReasonMessage?: string
    readonly safetyRatings?: ReadonlyArray<SafetyRating>
  }
  readonly usageMetadata?: UsageMetadata
  /** The model that answered. */
  readonly modelVersion?: string
  readonly createTime?: string
  readonly responseId?: string
}

export interface Candidate {
  /** Index of the candidate, from 0. */
  readonly index?: number
  readonly content?: Content
  /** Reason it ended; absent: it has not ended. */
  readonly finishReason?: FinishReason
  readonly finishMessage?: string
  readonly safetyRatings?: ReadonlyArray<SafetyRating>
  readonly citationMetadata?: { readonly citations?: ReadonlyArray<GenerationCitation> }
  readonly groundingMetadata?: GroundingMetadata
  readonly avgLogprobs?: number
  readonly logprobsResult?: {
    readonly topCandidates?: ReadonlyArray<{ readonly candidates?: ReadonlyArray<Logprob> }>
    readonly chosenCandidates?: ReadonlyArray<Logprob>
  }
}

/** Finish reasons. Later additions are read as `OTHER`; the documentation's `FINISH_REASON_STOP` is `STOP`. */
export const finishReasons = [
  "FINISH_REASON_UNSPECIFIED",
  "STOP",
  "MAX_TOKENS",
  "SAFETY",
  "RECITATION",
  "OTHER",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "MALFORMED_FUNCTION_CALL",
  "MODEL_ARMOR"
] as const
export type FinishReason = typeof finishReasons[number]

export interface SafetyRating {
  readonly category?: string
  readonly probability?: string
  readonly probabilityScore?: number
  readonly severity?: string
  readonly severityScore?: number
  readonly blocked?: boolean
}

/** A source that the answer quotes. */
export interface GenerationCitation {
  readonly startIndex?: number
  readonly endIndex?: number
  readonly uri?: string
  readonly title?: string
  readonly license?: string
  /** Date of publication: a year, a month, or a day. */
  readonly publicationDate?: { readonly year?: number; readonly month?: number; readonly day?: number }
}

/** Sources of the answer, where a tool searched. */
export interface GroundingMetadata {
  readonly webSearchQueries?: ReadonlyArray<string>
  readonly retrievalQueries?: ReadonlyArray<string>
  readonly groundingChunks?: ReadonlyArray<{
    readonly web?: { readonly uri?: string; readonly title?: string }
    readonly retrievedContext?: { readonly uri?: string; readonly title?: string; readonly text?: string }
  }>
  readonly groundingSupports?: ReadonlyArray<{
    /** Segment of the answer, in UTF-8 bytes. */
    readonly segment?: { readonly partIndex?: number; readonly startIndex?: number; readonly endIndex?: number; readonly text?: string }
    readonly groundingChunkIndices?: ReadonlyArray<number>
    readonly confidenceScores?: ReadonlyArray<number>
  }>
}

export interface Logprob {
  readonly token?: string
  readonly tokenId?: number
  readonly logProbability?: number
}

/** Token counts. */
export interface UsageMetadata {
  readonly promptTokenCount?: number
  /** Tokens of all candidates. */
  readonly candidatesTokenCount?: number
  readonly thoughtsTokenCount?: number
  readonly totalTokenCount?: number
  readonly cachedContentTokenCount?: number
}

/** A request to count tokens. */
export type CountRequest = Pick<GenerationRequest, "contents" | "systemInstruction" | "tools" | "generationConfig">

/** Length of a request, counted before it is sent. */
export interface TokenCount {
  readonly totalTokens: number
  /** Number of characters that are not white space. */
  readonly totalBillableCharacters?: number
}
