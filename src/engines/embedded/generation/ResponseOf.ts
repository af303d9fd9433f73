import { Option, Predicate, Stream } from "effect"
import type { ChatEndReason, ChatEvent, ChatUsage, TokenLogprob } from "../../../domain/Chat.ts"
import { defined } from "../../../domain/Defined.ts"
import type { Candidate, FinishReason, GenerationResponse, JsonObject, Part, UsageMetadata } from "../../../domain/generation/Generation.ts"
import { enumProperty } from "./ChatOf.ts"

export interface Telling {
  /** The fields that every piece of an answer repeats. */
  readonly identity: Pick<GenerationResponse, "modelVersion" | "responseId" | "createTime">
  readonly thoughts: boolean
}

/** A chat model's answer as pieces of a response. The reasons for its end and the usage come together, in the last piece. */
export const responsesOf = <E>(
  events: Stream.Stream<ChatEvent, E>,
  { identity, thoughts }: Telling
): Stream.Stream<GenerationResponse, E> =>
  Stream.suspend(() => {
    const ends: Array<Candidate> = []
    let usage: ChatUsage | undefined
    return events.pipe(
      Stream.map((event): Candidate | undefined => {
        switch (event.type) {
          case "text":
            return candidateOf(event.candidate, { text: event.text }, event.logprobs)
          case "thinking":
            return thoughts
              ? candidateOf(event.candidate, defined({ text: event.text, thought: true, thoughtSignature: event.signature }))
              : undefined
          case "toolCall": {
            const { args, id, name } = event.call
            return candidateOf(event.candidate, { functionCall: { id, name, args: args as JsonObject } }) // it was read from JSON
          }
          case "end":
            ends.push({ ...candidateOf(event.candidate, { text: "" }), finishReason: finishReasons[event.reason] })
            return undefined
          case "usage":
            usage = event.usage
            return undefined
        }
      }),
      Stream.filter((candidate) => candidate !== undefined),
      Stream.map((candidate): GenerationResponse => ({ ...identity, candidates: [candidate] })),
      Stream.concat(Stream.suspend(() =>
        Stream.succeed<GenerationResponse>({
          ...identity,
          candidates: ends.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)),
          ...(usage === undefined ? {} : { usageMetadata: usageOf(usage) })
        })
      ))
    )
  })

/** The pieces of an answer as one response: texts of the same kind are joined, and probabilities concatenated. */
export const wholeOf = (pieces: ReadonlyArray<GenerationResponse>): GenerationResponse => {
  const all = pieces.flatMap(({ candidates = [] }) => candidates)
  const indices = [...new Set(all.map(({ index = 0 }) => index))].toSorted((a, b) => a - b)
  return { ...pieces.at(-1), candidates: indices.map((wanted) => joined(all.filter(({ index = 0 }) => index === wanted))) }
}

const joined = (pieces: ReadonlyArray<Candidate>): Candidate => {
  const parts: Array<Part> = []
  for (const part of pieces.flatMap(({ content }) => content?.parts ?? [])) {
    const last = parts.at(-1)
    if (part.text === "" && parts.length > 0) continue
    const goesOn = last?.text !== undefined && last.thought === part.thought && last.thoughtSignature === undefined
    if (goesOn && part.text !== undefined) parts[parts.length - 1] = { ...last, ...defined(part), text: last.text + part.text }
    else parts.push(part)
  }
  const chosen = pieces.flatMap(({ logprobsResult }) => logprobsResult?.chosenCandidates ?? [])
  const top = pieces.flatMap(({ logprobsResult }) => logprobsResult?.topCandidates ?? [])
  return {
    ...pieces.at(-1),
    // Nothing of a withheld answer is shown.
    content: { role: "model", parts: pieces.at(-1)?.finishReason === "SAFETY" ? undefined : parts },
    ...(chosen.length === 0 ? {} : {
      avgLogprobs: chosen.reduce((sum, { logProbability = 0 }) => sum + logProbability, 0) / chosen.length,
      logprobsResult: { chosenCandidates: chosen, topCandidates: top }
    })
  }
}

/** Replaces an enum's JSON, which has one property, by its bare value, once it is complete. */
export const bareEnum = <E>(events: Stream.Stream<ChatEvent, E>): Stream.Stream<ChatEvent, E> =>
  Stream.suspend(() => {
    const texts = new Map<number, string>()
    return Stream.flatMap(events, (event) => {
      if (event.type === "text") {
        texts.set(event.candidate, (texts.get(event.candidate) ?? "") + event.text)
        return Stream.empty
      }
      if (event.type !== "end") return Stream.succeed(event)
      const { candidate } = event
      const written = texts.get(candidate) ?? ""
      const text = Option.getOrElse(enumIn(written), () => written)
      return Stream.fromIterable<ChatEvent>(text === "" ? [event] : [{ type: "text", candidate, text }, event])
    })
  })

const enumIn = (text: string): Option.Option<string> =>
  Option.liftThrowable((text: string): unknown => JSON.parse(text))(text).pipe(
    Option.filter(Predicate.hasProperty(enumProperty)),
    Option.map((json) => String(json[enumProperty]))
  )

const candidateOf = (index: number, part: Part, logprobs: ReadonlyArray<TokenLogprob> = []): Candidate => ({
  index,
  content: { role: "model", parts: [part] },
  logprobsResult: logprobs.length === 0 ? undefined : {
    chosenCandidates: logprobs.map(({ logprob, token }) => ({ token, logProbability: logprob })),
    topCandidates: logprobs.map(({ top }) => ({ candidates: top.map(({ logprob, token }) => ({ token, logProbability: logprob })) }))
  }
})

const finishReasons: Readonly<Record<ChatEndReason, FinishReason>> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  toolCalls: "STOP",
  contentFilter: "SAFETY"
}

const usageOf = ({ inputTokens, outputTokens, thinkingTokens }: ChatUsage): UsageMetadata =>
  defined({
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens - (thinkingTokens ?? 0),
    thoughtsTokenCount: thinkingTokens,
    totalTokenCount: inputTokens + outputTokens
  })
