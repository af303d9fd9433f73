import { assert, describe, it } from "@effect/vitest"
import type { ChatTurn } from "../../src/domain/Chat.ts"
import { questionOf } from "../../src/models/StuffedPrompt.ts"

const user = (text: string): ChatTurn => ({ role: "user", parts: [{ type: "text", text }] })
const question = "How many days of leave do employees have?"
const one = "Employees have 28 days of leave a year.\nRequests go to the line manager."
const two = "Question: Who is on call?\nAnswer: the rotation decides."

/** Prompts as the templates of RAG frameworks and chat programs stuff them. */
const stuffed: Readonly<Record<string, string>> = {
  "texts, then the question": `${one}\n\n${two}\n\n${question}`,
  "a label, and a cue for the answer":
    `Answer from the pieces of context below.\n\n${one}\n\n${two}\n\nQuestion: ${question}\nHelpful Answer:`,
  "the question first, by labels": `Use the retrieved context.\nQuestion: ${question} \nContext: ${one}\n\n${two} \nAnswer:`,
  "rules around the contexts":
    `Context information is below.\n-----\n${one}\n\n${two}\n-----\nWithout prior knowledge.\nQuery: ${question}\nAnswer: `,
  "tags for the contexts": `<documents>\n<document>\n${one}\n</document>\n<document>\n${two}\n</document>\n</documents>\n\n${question}`,
  "tags around each text": `<doc id="1">${one}</doc>\n<doc id="2">${two}</doc>\n\n${question}`,
  "tags for the question": `<context>\n${one}\n\n${two}\n</context>\n\n<user_query>\n${question}\n</user_query>\n\nUse the context only.`,
  "labels on lines of their own": `Context: ${one}\n${two}\nQuestion: ${question}`,
  "a question, then its contexts": `${question}\n\nContext:\n${one}\n\n${two}`,
  "a sentence that ends in a label": `From the documents, answer this question: ${question}\n\nDocuments:\n1. ${one}\n2. ${two}`,
  "headings": `# Context\n\n${one}\n\n${two}\n\n# Question\n\n${question}\n\n# Answer\n`,
  "bold labels": `**Passages:**\n\n- ${one}\n- ${two}\n\n**Question:** ${question}\n\n**Answer:**`,
  "lines without a blank one": `${one}\n${two}\n${question}`,
  "one line": `Employees have 28 days of leave a year. Requests go to the line manager. ${two.replace("\n", " ")} ${question}`,
  "Chinese labels": `上下文\uff1a${one}\n\n${two}\n\n问题\uff1a${question}\n回答\uff1a`
}

describe("StuffedPrompt", () => {
  for (const [name, text] of Object.entries(stuffed)) {
    it(`finds the question among ${name}`, () => {
      const found = questionOf({ turns: [user(text)] })
      assert.strictEqual(found.question, question)
      const evidence = found.evidence.join("\n")
      for (const part of ["28 days of leave a year", "Requests go to the line manager.", "the rotation decides"]) {
        assert.include(evidence, part)
      }
      assert.notInclude(evidence, question)
      assert.notMatch(evidence, /context\s*[::]|<\/?doc/iu)
    })
  }

  it("finds the last sentence of a Chinese prompt", () => {
    const found = questionOf({ turns: [user("员工有28天年假。年假有多少天\uff1f")] })
    assert.deepStrictEqual(found, { question: "年假有多少天\uff1f", evidence: ["员工有28天年假。\n\n"] })
  })

  it("takes the last paragraph where nothing shows the question, and other turns as evidence", () => {
    const turns = [
      user(one),
      { role: "assistant", parts: [{ type: "text", text: "Leave is 40 days." }] } as const,
      user("List the\nrules of leave.")
    ]
    assert.deepStrictEqual(questionOf({ system: "Be brief.", turns }), {
      question: "List the\nrules of leave.",
      evidence: ["Be brief.", one]
    })
    assert.deepStrictEqual(questionOf({ turns: [user("hi")] }), { question: "hi", evidence: [] })
    assert.deepStrictEqual(questionOf({ turns: [] }), { question: "", evidence: [] })
  })

  it("reads long prompts in time that grows with their length alone", () => {
    const started = performance.now()
    for (const piece of ["#", "<question>", "</question>", "Question: a\n\n", "Context: a\n", "a b c d\n", "A b. ", "\n", "Answer:*"]) {
      questionOf({ turns: [user(piece.repeat(Math.ceil(400_000 / piece.length)))] })
    }
    assert.isBelow(performance.now() - started, 2_000)
  })
})
