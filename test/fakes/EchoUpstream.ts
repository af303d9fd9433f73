import type { Effect, Scope } from "effect"
import { type Fake, fakeOpenAi, sendChat, sendJson } from "./Openai.ts"

/** What `echoModel` does, as an OpenAI-compatible service. */
export const echoUpstream: Effect.Effect<Fake, never, Scope.Scope> = fakeOpenAi((request, response) => {
  const text = request.body.messages.filter(({ role }) => role === "user").map(({ content }) => content).join("")
  if (text.includes("wait")) return
  if (text.includes("refuse")) return sendJson(response, 400, { error: { message: "the text is refused", type: "invalid_request_error" } })
  sendChat(response, ["You said: ", text])
})
