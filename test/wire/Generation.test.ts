import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { refusedGeneration } from "../../src/domain/generation/GenerationRules.ts"
import {
  generationFromWire,
  generationResponseFromWire,
  generationResponseToWire,
  generationToWire
} from "../../src/wire/generation/Generations.ts"
import { completionFromWire } from "../../src/wire/openai/OpenAiRequests.ts"
import { encodeRequest, encodeResponse, routes } from "../../src/wire/Routes.ts"
import { readBody } from "../../src/wire/tolerant/Request.ts"
import { generationRequest, generationResponse } from "./GenerationArbitraries.ts"
import { answered, sent } from "./OverTheWire.ts"

const ok = Result.getOrThrow
const { generateContent } = routes

// Zeros that mean nothing are not written, so that what is read is compared as it would be written.
const written = (request: Parameters<typeof generationToWire>[0]) =>
  ok(encodeRequest(generateContent, "v1beta1", generationToWire(request)))
const told = (response: Parameters<typeof generationResponseToWire>[0]) =>
  encodeResponse(generateContent, generationResponseToWire(response), { version: "v1beta1" })

describe("content generation over the wire", () => {
  it("what the client sends is what the server reads", () =>
    fc.assert(
      fc.property(generationRequest, (request) => {
        expect(written(generationFromWire(ok(sent(generateContent, generationToWire(request)))))).toEqual(written(request))
      }),
      { numRuns: 150 }
    ))

  it("what the server answers is what the client reads, enums as words or as numbers", () =>
    fc.assert(
      fc.property(generationResponse, fc.boolean(), (response, numbers) => {
        const read = ok(answered(generateContent, generationResponseToWire(response), "v1beta1", numbers))
        expect(told(generationResponseFromWire(read))).toEqual(told(response))
      }),
      { numRuns: 150 }
    ))

  it("is read as the documentation writes it", () => {
    const body = `{
      contents: { role: 'user', parts: [
        { text: 'What is said?' },
        { file_data: { mime_type: 'video/mp4', file_uri: 'gs://b/v.mp4' }, video_metadata: { start_offset: { seconds: 1, nanos: 500000000 }, end_offset: { seconds: 3 } } },
      ] },
      system_instruction: { role: 'system', parts: { text: 'Be brief.' } },
      tools: { function_declarations: { name: 'f', parameters: { type: 'object', properties: { a: { type: 6 } } } } },
      safety_settings: { category: 'HARM_CATEGORY_HARASSMENT', threshold: 5 },
      generation_config: { temperature: '0.5', top_k: 3, stop_sequences: 'END', candidate_count: 1 },
    }`
    const request = generationFromWire(ok(readBody(generateContent, body, { version: "v1" })))
    expect(request).toEqual({
      contents: [{
        role: "user",
        parts: [
          { text: "What is said?" },
          { fileData: { mimeType: "video/mp4", fileUri: "gs://b/v.mp4" }, videoMetadata: { startOffset: "1.500s", endOffset: "3s" } }
        ]
      }],
      systemInstruction: { role: "system", parts: [{ text: "Be brief." }] },
      tools: [{ functionDeclarations: [{ name: "f", parameters: { type: "OBJECT", properties: { a: { type: "OBJECT" } } } }] }],
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }],
      generationConfig: { temperature: 0.5, topK: 3, stopSequences: ["END"], candidateCount: 1 }
    })
    expect(refusedGeneration({ model: "gemini-2.0-flash-001" }, request)).toBeUndefined()
  })
})

describe("chat completions over the wire", () => {
  it("never throw, and refuse by field, whatever comes", () => {
    const value = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom(null, true, "", "user", "assistant", "tool", "text", "image_url", "data:image/png;base64,AAAA", -1, 0, 1e9),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(
          fc.constantFrom(
            "role",
            "content",
            "type",
            "text",
            "image_url",
            "url",
            "tool_calls",
            "tool_call_id",
            "id",
            "function",
            "name",
            "arguments"
          ),
          tie("value")
        )
      )
    })).value
    const field = fc.constantFrom(
      "model",
      "messages",
      "stream",
      "tools",
      "tool_choice",
      "response_format",
      "stop",
      "n",
      "temperature",
      "logprobs",
      "top_logprobs"
    )
    const body = fc.oneof(
      fc.dictionary(field, value),
      fc.record({
        model: fc.constant("google/gemini"),
        messages: fc.array(fc.record({ role: fc.constantFrom("user", "assistant", "system"), content: value }))
      })
    )
    fc.assert(
      fc.property(body, (body) => {
        const read = completionFromWire(Buffer.from(JSON.stringify(body)))
        if (Result.isFailure(read)) {
          expect(read.failure.code).toBe("INVALID_ARGUMENT")
          expect(read.failure.violations?.length).toBeGreaterThan(0)
        }
      }),
      { numRuns: 500 }
    )
    for (const bytes of ["", "{", "[]", "null", "\u0000"]) expect(Result.isFailure(completionFromWire(Buffer.from(bytes)))).toBe(true)
  })
})
