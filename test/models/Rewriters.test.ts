import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { Exchange } from "../../src/domain/Answer.ts"
import type { ChatEvent, ChatRequest } from "../../src/domain/Chat.ts"
import * as CarryOverRewriter from "../../src/models/CarryOverRewriter.ts"
import * as ChatRewriter from "../../src/models/ChatRewriter.ts"
import { completed } from "../../src/models/rewrite/Complete.ts"
import { isFollowUp } from "../../src/models/rewrite/FollowUp.ts"
import { ChatModel } from "../../src/ports/ChatModel.ts"

const exchange = (question: string, answer = "Five days."): Exchange => ({ question, standalone: question, answer })
const leave = "How many unused days of annual leave carry over into the next year?"

describe("questions that lean on earlier ones", () => {
  it("are told by what they lack or point at, in several languages", () => {
    for (
      const question of [
        "And in Japan?",
        "And what are the limits?",
        "And how long does the lamp on it last?",
        "What about hotels?",
        "Why?",
        "How long does it stay there?",
        "Und was ist mit Hotels?",
        "Et au Japon ?",
        "Gilt das auch für Teilzeitkräfte?",
        "¿Y en Japón?"
      ]
    ) {
      assert.isTrue(isFollowUp(question), question)
    }
    for (
      const question of [
        "And what is the default of the queue size?",
        "And what do hotels cost?",
        "Aber wann wird der Kran am Kai wieder gebaut?",
        leave,
        "Who signs off travel expenses above the limit?",
        "Wie viele Urlaubstage verfallen am Jahresende?",
        "What was decided about the warehouse in Leeds last autumn?"
      ]
    ) {
      assert.isFalse(isFollowUp(question), question)
    }
  })

  it.effect("are put after the last question that stood by itself", () =>
    Effect.gen(function*() {
      const { rewrite, searched } = CarryOverRewriter.make()
      const hotels = "Who signs off travel expenses above the limit?"
      assert.strictEqual(searched?.(leave, [exchange(hotels)]), `${hotels} ${leave}`)
      assert.strictEqual(searched?.(`${leave} And in Japan?`, [exchange(leave)]), `${leave} And in Japan?`)
      assert.strictEqual(searched?.(leave, []), leave)
      assert.strictEqual(yield* rewrite("And in Japan?", []), "And in Japan?")
      assert.strictEqual(yield* rewrite("And in Japan?", [exchange(leave)]), `${leave} And in Japan?`)
      assert.strictEqual(yield* rewrite("And in Germany?", [exchange(leave), exchange("And in Japan?")]), `${leave} And in Germany?`)
      assert.strictEqual(yield* rewrite(leave, [exchange("Who signs off travel expenses above the limit?")]), leave)
    }))

  it("take the place of what they differ from", () => {
    const all = [
      ["How long is probation in Sweden?", "And in Japan?", "How long is probation in Japan?"],
      ["How many paid days for the death of a parent?", "What about for a grandparent?", "How many paid days for a grandparent?"],
      ["How long is the warranty for Rill?", "And the gateway?", "How long is the warranty for the gateway?"],
      ["Where may confidential data be?", "and secret data?", "Where may secret data be?"],
      ["How much do I get on day 20?", "And after day 90?", "How much do I get after day 90?"],
      ["What is the salary of L3 in Hamburg?", "And L5?", "What is the salary of L5 in Hamburg?"],
      ["Who leads the Osaka office?", "And Nairobi?", "Who leads the Nairobi office?"],
      ["How do I report a lost laptop?", "And a lost card?", "How do I report a lost card?"],
      ["Wie lange dauert die Probezeit in Schweden?", "Und in Japan?", "Wie lange dauert die Probezeit in Japan?"],
      ["Combien de jours en Suède ?", "Et en France ?", "Combien de jours en France ?"]
    ] as const
    for (const [question, followUp, whole] of all) assert.strictEqual(completed(question, followUp), whole)
    for (
      const [question, followUp] of [
        [leave, "And in Japan?"],
        ["When are backups made?", "How long are they kept?"],
        ["When can I fly premium economy?", "And business class?"],
        ["Wann ist das Büro in Hamburg geöffnet?", "Und der Empfang?"]
      ] as const
    ) assert.isUndefined(completed(question, followUp), followUp)
  })

  it.effect("follow one another", () =>
    Effect.gen(function*() {
      const { rewrite } = CarryOverRewriter.make()
      const history = [exchange("How long is probation for managers in Sweden?"), exchange("And in Japan?")]
      assert.strictEqual(yield* rewrite("And for trainees?", history), "How long is probation for trainees in Japan?")
    }))
})

const model = (answer: string, seen: Array<ChatRequest>) =>
  ChatModel.of({
    model: "scripted",
    stream: (request) => {
      seen.push(request)
      return Stream.fromIterable<ChatEvent>([
        { type: "text", candidate: 0, text: answer.slice(0, 3) },
        { type: "text", candidate: 0, text: answer.slice(3) },
        { type: "end", candidate: 0, reason: "stop" }
      ])
    }
  })

describe("a model that rewrites", () => {
  it.effect("is shown the conversation, and not asked about its first question", () =>
    Effect.gen(function*() {
      const seen: Array<ChatRequest> = []
      const { rewrite } = ChatRewriter.make(model("How many days carry over in Japan?\n", seen))
      assert.strictEqual(yield* rewrite(leave, []), leave)
      assert.lengthOf(seen, 0)
      assert.strictEqual(yield* rewrite("And in Japan?", [exchange(leave, "x".repeat(5_000))]), "How many days carry over in Japan?")
      const [part] = seen[0]?.turns[0]?.parts ?? []
      assert.isTrue(part?.type === "text" && part.text.includes(leave) && part.text.endsWith("Last question: And in Japan?"))
      assert.isTrue(part?.type === "text" && part.text.length < 3_000, "long answers are cut")
    }))

  it.effect("writes queries, a line each, as many as are asked for and however it numbers them", () =>
    Effect.gen(function*() {
      const written =
        "<think>\nLeave it is.</think>\n1. carry-over of annual leave\n\n2) unused vacation\n- 5 days of leave\nlapse of leave"
      assert.deepStrictEqual(yield* ChatRewriter.make(model(written, [])).queries!(leave, 3), [
        "carry-over of annual leave",
        "unused vacation",
        "5 days of leave"
      ])
    }))

  it.effect("that answers with nothing, or with an essay, has not rewritten anything", () =>
    Effect.gen(function*() {
      for (const useless of ["", " \n ", "word ".repeat(500)]) {
        assert.strictEqual(yield* ChatRewriter.make(model(useless, [])).rewrite("And in Japan?", [exchange(leave)]), "And in Japan?")
        assert.deepStrictEqual(yield* ChatRewriter.make(model(useless, [])).queries!(leave, 3), [])
      }
    }))
})
