import { describe, expect, it } from "vitest"
import type { MessageEvent } from "../../src/domain/partner/PartnerChat.ts"
import { tally } from "../../src/domain/partner/PartnerEvents.ts"

const begin: MessageEvent = {
  type: "message_start",
  message: { id: "m", model: "claude", content: [], stopReason: null, stopSequence: null, usage: { inputTokens: 5, outputTokens: 1 } }
}
const delta = (delta: Extract<MessageEvent, { readonly type: "content_block_delta" }>["delta"]): MessageEvent => ({
  type: "content_block_delta",
  index: 0,
  delta
})
const told = (outputTokens: number): MessageEvent => ({ type: "message_delta", delta: {}, usage: { inputTokens: null, outputTokens } })

describe("the tally of a stream", () => {
  it("is what the model told last, and before that what it wrote: words, thoughts and arguments", () => {
    const spent = tally()
    const x = "x".repeat(35)
    const events: ReadonlyArray<MessageEvent> = [
      { type: "ping" },
      begin,
      delta({ type: "thinking_delta", thinking: x }),
      delta({ type: "signature_delta", signature: x }),
      delta({ type: "text_delta", text: x }),
      delta({ type: "input_json_delta", partialJson: x }),
      told(7),
      { type: "message_stop" }
    ]
    expect(events.map(spent).map((usage) => usage?.outputTokens)).toEqual([undefined, 1, 10, 10, 20, 30, 7, 7])
    expect(spent({ type: "ping" })).toEqual({ inputTokens: 5, outputTokens: 7 })
  })
})
