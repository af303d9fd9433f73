import * as fc from "fast-check"
import {
  type Blob,
  type Candidate,
  type Content,
  type FileData,
  finishReasons,
  type FunctionDeclaration,
  type GenerationConfig,
  type GenerationRequest,
  type GenerationResponse,
  type JsonObject,
  type OpenApiSchema,
  type Part,
  type UsageMetadata
} from "../../src/domain/generation/Generation.ts"
import { text, time, word } from "./Arbitraries.ts"

/** Any value of content generation that can meet the wire. */

const partial = { requiredKeys: [] as [] }
const base64 = fc.uint8Array({ minLength: 1, maxLength: 30 }).map((bytes) => Buffer.from(bytes).toString("base64"))
const count = fc.nat({ max: 1_000_000 })
const share = fc.double({ min: 0, max: 1, noNaN: true }).map(Math.fround)
const json = fc.dictionary(word, fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)), { maxKeys: 3 }) as fc.Arbitrary<JsonObject> // of JSON

const blob: fc.Arbitrary<Blob> = fc.record({ mimeType: fc.constantFrom("image/png", "text/plain"), data: base64 })
const file: fc.Arbitrary<FileData> = fc.record({ mimeType: fc.constant("video/mp4"), fileUri: fc.constant("gs://b/v.mp4") })
const offset = fc.tuple(count, fc.integer({ min: 0, max: 999 })).map(([s, ms]) => `${s}.${String(ms).padStart(3, "0")}s`)

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ text, thought: fc.boolean(), thoughtSignature: base64 }, { requiredKeys: ["text"] }),
  fc.record({ inlineData: blob }),
  fc.record({ fileData: file, videoMetadata: fc.record({ startOffset: offset, endOffset: offset }, partial) }, {
    requiredKeys: ["fileData"]
  }),
  fc.record({ functionCall: fc.record({ name: word, args: json }) }),
  fc.record({ functionResponse: fc.record({ name: word, response: json }) }),
  fc.record({ executableCode: fc.record({ language: fc.constant("PYTHON"), code: word }) }),
  fc.record({ codeExecutionResult: fc.record({ outcome: fc.constant("OUTCOME_OK"), output: text }) })
)
const content: fc.Arbitrary<Content> = fc.record({
  role: fc.constantFrom("user", "model"),
  parts: fc.array(part, { minLength: 1, maxLength: 3 })
})

const schema: fc.Arbitrary<OpenApiSchema> = fc.record({
  type: fc.constantFrom("STRING", "INTEGER", "OBJECT"),
  description: text,
  nullable: fc.boolean(),
  enum: fc.array(word, { maxLength: 3 }),
  minItems: count.map(String),
  minimum: share,
  properties: fc.dictionary(word, fc.record({ type: fc.constant("STRING") }), { maxKeys: 2 }),
  required: fc.array(word, { maxLength: 2 }),
  default: fc.oneof(text, fc.integer()),
  anyOf: fc.array(fc.record({ type: fc.constant("NUMBER") }), { maxLength: 2 })
}, partial)

const declaration: fc.Arbitrary<FunctionDeclaration> = fc.record(
  { name: word, description: text, parameters: schema, response: schema },
  { requiredKeys: ["name"] }
)

const config: fc.Arbitrary<GenerationConfig> = fc.record({
  temperature: share,
  topP: share,
  topK: share,
  candidateCount: fc.integer({ min: 1, max: 8 }),
  maxOutputTokens: count,
  stopSequences: fc.array(word, { maxLength: 5 }),
  presencePenalty: share,
  frequencyPenalty: share,
  seed: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  responseMimeType: fc.constantFrom("application/json", "text/x.enum"),
  responseSchema: schema,
  responseLogprobs: fc.boolean(),
  logprobs: fc.integer({ min: 1, max: 5 }),
  audioTimestamp: fc.boolean(),
  responseModalities: fc.constant(["TEXT"]),
  mediaResolution: fc.constant("MEDIA_RESOLUTION_LOW"),
  thinkingConfig: fc.record({ includeThoughts: fc.boolean(), thinkingBudget: count }, partial)
}, partial)

export const generationRequest: fc.Arbitrary<GenerationRequest> = fc.record({
  contents: fc.array(content, { minLength: 1, maxLength: 3 }),
  systemInstruction: fc.record({ parts: fc.array(fc.record({ text }), { minLength: 1, maxLength: 2 }) }),
  tools: fc.array(fc.record({ functionDeclarations: fc.array(declaration, { maxLength: 2 }) }), { maxLength: 2 }),
  toolConfig: fc.record({
    functionCallingConfig: fc.record({
      mode: fc.constantFrom("AUTO", "ANY", "NONE"),
      allowedFunctionNames: fc.array(word, { maxLength: 2 })
    }, partial)
  }),
  safetySettings: fc.array(
    fc.record({
      category: fc.constantFrom("HARM_CATEGORY_HARASSMENT", "HARM_CATEGORY_HATE_SPEECH"),
      threshold: fc.constantFrom("OFF", "BLOCK_NONE"),
      method: fc.constant("SEVERITY")
    }),
    { maxLength: 2 }
  ),
  generationConfig: config,
  cachedContent: fc.constant("projects/p/locations/l/cachedContents/c"),
  labels: fc.dictionary(word, text, { maxKeys: 2 })
}, { requiredKeys: ["contents"] })

const logprob = fc.record({ token: text, logProbability: share })

const candidate: fc.Arbitrary<Candidate> = fc.record({
  index: fc.nat({ max: 7 }),
  content,
  finishReason: fc.constantFrom(...finishReasons),
  avgLogprobs: share,
  logprobsResult: fc.record({
    chosenCandidates: fc.array(logprob, { maxLength: 2 }),
    topCandidates: fc.array(fc.record({ candidates: fc.array(logprob, { maxLength: 2 }) }), { maxLength: 2 })
  })
}, partial)

const usage: fc.Arbitrary<UsageMetadata> = fc.record(
  { promptTokenCount: count, candidatesTokenCount: count, thoughtsTokenCount: count, totalTokenCount: count },
  partial
)

export const generationResponse: fc.Arbitrary<GenerationResponse> = fc.record(
  { candidates: fc.array(candidate, { maxLength: 3 }), usageMetadata: usage, modelVersion: word, responseId: word, createTime: time },
  partial
)
