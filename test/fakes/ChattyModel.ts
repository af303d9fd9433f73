import type { ServerResponse } from "node:http"
import { delta, type Received, sendChunks, sendJson, startChat } from "./Openai.ts"

const usage = { usage: { prompt_tokens: 20, completion_tokens: 7 }, choices: [] }
const end = (reason: string) => delta({}, { finish_reason: reason })

/**
 * A model behind an OpenAI-compatible address that does what its last message says: calls a tool, thinks, goes on from
 * where the answer begins, is cut off, says a stop sequence and does not stop, fails, or never ends.
 */
export const chattyModel = ({ body }: Received, response: ServerResponse): void => {
  const last = body.messages.at(-1)
  const said = typeof last?.content === "string" ? last.content : JSON.stringify(last?.content)
  const send = (chunks: ReadonlyArray<object>) => sendChunks(response, [...chunks, usage])
  if (last?.role === "assistant") return send([delta({ content: " went on." }), end("stop")])
  if (last?.role === "tool") return send([delta({ content: `The tool says ${said}` }), end("stop")])
  if (said.includes("fail")) return sendJson(response, 400, { error: { message: "the model cannot" } })
  if (said.includes("break")) {
    return sendChunks(response, [delta({ content: "So " }), { error: { message: "worn out", code: 503 } }])
  }
  if (said.includes("forever")) return startChat(response, ["On ", "and "])
  if (said.includes("long")) return send([delta({ content: "word word" }), end("length")])
  if (said.includes("halt")) return startChat(response, ["one E", "N", "D and on and on"])
  if (body["tools"] !== undefined && body["tool_choice"] !== "none") {
    const call = (index: number, city: string) => [
      delta({ tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name: "weather", arguments: "{\"city\"" } }] }),
      delta({ tool_calls: [{ index, function: { arguments: `:"${city}"}` } }] })
    ]
    return send([delta({ content: "Let me look." }), ...call(0, "Osaka"), ...call(1, "Kyoto"), end("tool_calls")])
  }
  if (body["reasoning_effort"] !== undefined) {
    return send([delta({ reasoning_content: "Hm. " }), delta({ reasoning_content: "Yes." }), delta({ content: "42" }), end("stop")])
  }
  return send([delta({ role: "assistant", content: "" }), delta({ content: "Hello " }), delta({ content: "there" }), end("stop")])
}
