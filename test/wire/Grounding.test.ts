import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { CorpusName } from "../../src/domain/Corpus.ts"
import { answerEndToWire, answerFromWire, answerPieceToWire, answerToWire, joinResponses } from "../../src/wire/rag/Grounding.ts"
import { byteOffset, unitOffset } from "../../src/wire/Utf8.ts"
import * as any from "./Arbitraries.ts"

const corpus = CorpusName.make("projects/p/locations/l/ragCorpora/1")
const read = (wire: Parameters<typeof answerFromWire>[2]) => Result.getOrThrow(answerFromWire(corpus, "m", wire))

/** As the service answers: no marks in the text, offsets in bytes of a part. */
const fromService = {
  candidates: [{
    content: { role: "model", parts: [{ text: "thinking", thought: true }, { text: "Größe 😀 zählt. Farbe nicht." }] },
    finishReason: "STOP",
    groundingMetadata: {
      groundingChunks: [
        { web: { uri: "https://example.com" } },
        {
          retrievedContext: {
            uri: "gs://b/a.md",
            title: "a.md",
            text: "Die Größe zählt.",
            ragChunk: { fileId: "7", chunkId: "c1", pageSpan: { firstPage: 2, lastPage: 3 } }
          }
        },
        { retrievedContext: { title: "b.md", text: "Farbe zählt nicht." } }
      ],
      groundingSupports: [
        { segment: { partIndex: 1, endIndex: 20, text: "Größe 😀 zählt." }, groundingChunkIndices: [1, 2], confidenceScores: [0.9, 0.7] },
        { segment: { partIndex: 1, startIndex: 21, endIndex: 33 }, groundingChunkIndices: [2] },
        { segment: { partIndex: 1, startIndex: 21, endIndex: 33 }, groundingChunkIndices: [0] }
      ]
    }
  }],
  modelVersion: "gemini-2.0-flash-001",
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 7, totalTokenCount: 12 }
}

describe("an answer of the service", () => {
  it("gets marks after each supported stretch, and offsets in UTF-16", () => {
    const answer = read(fromService)
    expect(answer.text).toBe("Größe 😀 zählt. [1][2] Farbe nicht. [2]")
    expect(answer.supports.map(({ end, start }) => answer.text.slice(start, end))).toEqual(["Größe 😀 zählt.", "Farbe nicht."])
    expect(answer.supports.map(({ citations, confidence }) => ({ citations, confidence }))).toEqual([
      { citations: [1, 2], confidence: 0.9 },
      { citations: [2], confidence: undefined }
    ])
    expect(answer).toMatchObject({
      grounded: true,
      model: "gemini-2.0-flash-001",
      usage: { promptTokens: 5, answerTokens: 7, totalTokens: 12 }
    })
  })

  it("cites the corpus's files only", () => {
    const { citations } = read(fromService)
    expect(citations).toMatchObject([
      {
        index: 1,
        file: `${corpus}/ragFiles/7`,
        chunkId: "c1",
        sourceUri: "gs://b/a.md",
        quote: "Die Größe zählt.",
        firstPage: 2,
        lastPage: 3
      },
      { index: 2, file: `${corpus}/ragFiles/-`, sourceUri: "b.md", sourceDisplayName: "b.md" }
    ])
  })

  it("that was blocked is an error with the reason", () => {
    for (const wire of [{ promptFeedback: { blockReason: "SAFETY" } }, { candidates: [{ finishReason: "SAFETY" }] }]) {
      const answer = answerFromWire(corpus, "m", wire)
      expect(Result.isFailure(answer) && answer.failure).toMatchObject({ code: "FAILED_PRECONDITION", reason: "SAFETY" })
    }
  })

  it("without grounding is not grounded", () => {
    expect(read({ candidates: [{ content: { parts: [{ text: "Hello." }] } }] })).toEqual({
      text: "Hello.",
      grounded: false,
      citations: [],
      supports: [],
      model: "m"
    })
  })
})

it("a stream of pieces is the answer", () =>
  fc.assert(fc.property(any.answerOf(corpus), fc.nat(), (answer, n) => {
    const cut = answer.text.length === 0 ? 0 : n % answer.text.length
    const chunks = [answer.text.slice(0, cut), answer.text.slice(cut)].map((piece) => answerPieceToWire(piece, { model: answer.model }))
    expect(read(joinResponses([...chunks, answerEndToWire(answer)]))).toEqual(answer)
    expect(read(joinResponses([answerToWire(answer)]))).toEqual(answer)
  })))

it("a stream whose text was not its first part keeps what supports it", () => {
  const [candidate] = fromService.candidates
  const pieces = candidate?.content.parts.map((part) => ({ candidates: [{ content: { role: "model", parts: [part] } }] })) ?? []
  const end = { ...fromService, candidates: [{ ...candidate, content: { role: "model", parts: [{ text: "" }] } }] }
  expect(read(joinResponses([...pieces, end]))).toEqual(read(fromService))
})

it("offsets in bytes are those of UTF-8", () =>
  fc.assert(fc.property(fc.string({ unit: "binary" }), fc.nat(), (text, n) => {
    const points = [...text]
    const unit = points.slice(0, points.length === 0 ? 0 : n % (points.length + 1)).join("").length
    expect(byteOffset(text, unit)).toBe(Buffer.byteLength(text.slice(0, unit)))
    expect(unitOffset(text, byteOffset(text, unit))).toBe(unit)
  })))
