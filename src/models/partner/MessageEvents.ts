import { randomUUID } from "node:crypto"
import { Stream } from "effect"
import type { ChatEndReason, ChatEvent, ChatUsage, DocumentCitation, JsonRecord } from "../../domain/Chat.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { AnswerBlock, BlockDelta, MessageEvent } from "../../domain/partner/PartnerChat.ts"

export interface Answering {
  /** Name of the model in the request. */
  readonly model: string
  /** Tokens of the request by our own count: the model's count comes at the end, but the first event states one. */
  readonly inputTokens: number
  /** Whether at most one tool call is passed on. */
  readonly oneCall: boolean
  readonly countTokens: (text: string) => number
}

/**
 * Converts any model's events to those of the partner's API. The first event is sent with the model's first, so that a refused request
 * sends none.
 */
export const messageEvents = (
  said: Stream.Stream<ChatEvent, ServiceError>,
  answering: Answering
): Stream.Stream<MessageEvent, ServiceError> =>
  Stream.suspend(() => {
    const answer = writing(answering)
    return said.pipe(
      Stream.flatMap((event) => Stream.fromIterable(answer.take(event))),
      Stream.concat(Stream.suspend(() => answer.finish()))
    )
  })

const reasons: Readonly<Record<ChatEndReason, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  toolCalls: "tool_use",
  contentFilter: "refusal"
}

type Start = AnswerBlock & { readonly type: "text" | "thinking" | "tool_use" }

const writing = ({ countTokens, inputTokens, model, oneCall }: Answering) => {
  let started = false
  let open: Start["type"] | undefined
  let index = 0
  let calls = 0
  let generated = 0
  let end: Extract<ChatEvent, { readonly type: "end" }> | undefined
  let usage: ChatUsage | undefined

  const close = (): ReadonlyArray<MessageEvent> => {
    if (open === undefined) return []
    open = undefined
    return [{ type: "content_block_stop", index: index++ }]
  }

  /** Continues the open block, where it is of the same kind; otherwise starts a new one. */
  const block = (start: Start, deltas: ReadonlyArray<BlockDelta>): ReadonlyArray<MessageEvent> => {
    const opening: ReadonlyArray<MessageEvent> = open === start.type
      ? []
      : [...close(), { type: "content_block_start", index, contentBlock: start }]
    open = start.type
    return [...opening, ...deltas.map((delta): MessageEvent => ({ type: "content_block_delta", index, delta }))]
  }

  const contentOf = (event: ChatEvent): ReadonlyArray<MessageEvent> => {
    switch (event.type) {
      case "text":
        generated += countTokens(event.text)
        if (event.citations !== undefined) {
          const cited = event.citations.map((citation): BlockDelta => ({ type: "citations_delta", citation: placeOf(citation) }))
          return [...close(), ...block({ type: "text", text: "", citations: [] }, [...cited, { type: "text_delta", text: event.text }])]
        }
        return event.text === "" ? [] : block({ type: "text", text: "" }, [{ type: "text_delta", text: event.text }])
      case "thinking": {
        generated += countTokens(event.text)
        return block({ type: "thinking", thinking: "", signature: "" }, [
          ...(event.text === "" ? [] : [{ type: "thinking_delta" as const, thinking: event.text }]),
          ...(event.signature === undefined ? [] : [{ type: "signature_delta" as const, signature: event.signature }])
        ])
      }
      case "toolCall": {
        const { args, name } = event.call
        const partialJson = JSON.stringify(args)
        generated += countTokens(name) + countTokens(partialJson)
        if (oneCall && ++calls > 1) return []
        return [
          ...close(),
          ...block({ type: "tool_use", id: `toolu_vrtx_${newId()}`, name, input: {} }, [{ type: "input_json_delta", partialJson }]),
          ...close()
        ]
      }
      case "end":
        end = event
        return close()
      case "usage":
        usage = event.usage
        return []
    }
  }

  return {
    take: (event: ChatEvent): ReadonlyArray<MessageEvent> => {
      const content = contentOf(event)
      if (started) return content
      started = true
      return [{ type: "message_start", message: beginning(model, inputTokens) }, ...content]
    },
    finish: (): Stream.Stream<MessageEvent, ServiceError> => {
      if (end === undefined) return Stream.fail(ServiceError.internal("the model's answer has no end"))
      const { reason, stopSequence } = end
      return Stream.fromIterable<MessageEvent>([
        {
          type: "message_delta",
          delta: {
            stopReason: reason === "stop" && stopSequence !== undefined ? "stop_sequence" : reasons[reason],
            stopSequence: stopSequence ?? null
          },
          usage: { inputTokens: usage?.inputTokens ?? inputTokens, outputTokens: usage?.outputTokens ?? generated }
        },
        { type: "message_stop" }
      ])
    }
  }
}

/** A citation as the API has it: of characters, or of blocks, the end of each being what is no longer of it. */
const placeOf = ({ blockEnds, end, index, quote, source, start, title: given }: DocumentCitation): JsonRecord => {
  const title = given ?? null
  const blocks = blockEnds === undefined ? {} : {
    start_block_index: blockEnds.findIndex((blockEnd) => blockEnd > start),
    end_block_index: blockEnds.findIndex((blockEnd) => blockEnd >= end) + 1
  }
  if (source !== undefined) {
    return { type: "search_result_location", cited_text: quote, source, title, search_result_index: index, ...blocks }
  }
  const document = { cited_text: quote, document_index: index, document_title: title, file_id: null }
  return blockEnds === undefined
    ? { type: "char_location", ...document, start_char_index: start, end_char_index: end }
    : { type: "content_block_location", ...document, ...blocks }
}

const beginning = (model: string, inputTokens: number) => ({
  id: `msg_vrtx_${newId()}`,
  model: model.replace("@", "-"),
  content: [],
  stopReason: null,
  stopSequence: null,
  usage: { inputTokens, outputTokens: 0, cacheCreationInputTokens: 0, cacheReadInputTokens: 0 }
})

const newId = (): string => randomUUID().replaceAll("-", "")
