import type { ChatRequest, ChatTurn } from "../domain/Chat.ts"

/** The question of a conversation, and the texts from which to answer it, nearest first. */
export interface Stuffed {
  readonly question: string
  readonly evidence: ReadonlyArray<string>
}

/**
 * Finds the question among the texts that a client has put into its prompt. It is what stands in tags or behind a label (`Question:`,
 * `## Query`, `<question>`) at the end of the last user turn or before its contexts, as the templates of RAG frameworks have it; else the last
 * paragraph, or its last sentence where there is no other text. The assistant's own turns are no evidence.
 */
export const questionOf = ({ system = "", turns }: ChatRequest): Stuffed => {
  const parts = turns.flatMap(({ parts, role }) => (role === "user" ? parts : []))
  const results = parts.flatMap((part) => (part.type === "toolResult" ? [part.text] : []))
  const texts = turns.filter(({ role }) => role === "user").map(textOf).filter(isText)
  const last = withoutAnswerCue(texts.pop() ?? "")
  const elsewhere = [...results, system, ...texts.toReversed()].filter(isText)
  const { question, rest } = tagged(last) ?? labelled(last) ?? beforeContexts(last) ?? closing(last, elsewhere.length === 0)
  return { question: question.trim(), evidence: [rest, ...elsewhere].map(withoutBounds).filter(isText) }
}

/** A question, and the rest of the text that it stood in. */
interface Found {
  readonly question: string
  readonly rest: string
}

const textOf = ({ parts }: ChatTurn): string => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n")

const isText = (text: string): boolean => text.trim() !== ""

const questionWords = "question|query|frage|pregunta|domanda|pergunta|vraag|pytanie|вопрос|soru|问题|問題|質問|질문"
const answerWords = "answer|response|antwort|réponse|respuesta|risposta|resposta|antwoord|odpowiedź|ответ|cevap|答案|回答|答え|답변"
const contextWords =
  "contexts?|documents?|sources?|passages?|articles?|excerpts?|information|results|kontext|contexte|contexto|contesto|контекст|上下文|コンテキスト"

/** Marks of headings, quotes, lists and bold type; bounded, as all of these patterns, so that no prompt takes long to read. */
const marks = String.raw`[ \t#>*_-]{0,12}`
const words = String.raw`(?:[\p{L}']{1,20} ){0,3}`

/** A line that only leads over to the answer: `Helpful Answer:`, `# Answer`. */
const answerCue = new RegExp(String.raw`\n${marks}${words}(?:${answerWords})[*_ \t]{0,12}[:\uff1a]?[*_\s]{0,12}$`, "iu")
/** What follows the question of a document that has answers too. */
const answerLabel = new RegExp(String.raw`(?:^|\n|[.?!\uff1f。]\s)${marks}${words}(?:${answerWords})[*_ \t]{0,12}[:\uff1a]`, "iu")
/** A label at the beginning of a line, or a sentence that ends with one: `Question:`, `Answer this question: …`. A heading has no colon. */
const questionLabel = new RegExp(
  String
    .raw`^(?:[^\n]{0,160}?(?<![\p{L}\p{N}])(?:${questionWords})[*_ \t]*[:\uff1a]|${marks}#${marks}${words}(?:${questionWords})[ \t]*$)[*_ \t]*`,
  "gimu"
)
/** Where contexts begin: `Context:`, `## Retrieved documents`, `<context>`. */
const contextLabel = new RegExp(
  String
    .raw`^(?:${marks}${words}(?:${contextWords})[*_ \t]*[:\uff1a]|${marks}#${marks}${words}(?:${contextWords})[ \t]*$|<(?:${contextWords})\b)`,
  "imu"
)
const tagWords = String.raw`\w{0,20}(?:context|doc|source|passage|chunk|article|result|excerpt|snippet|content|text)\w{0,20}`
/** A tag of contexts, at the beginning or the end of a line: `<document index="1">`, `</context>`. */
const contextTag = new RegExp(String.raw`^[ \t]*</?${tagWords}(?:\s[^<>\n]{0,200})?>|</${tagWords}>[ \t]*$`, "gimu")
const questionEnd = /<\/(\w{0,20}(?:question|query))>/giu

const withoutAnswerCue = (text: string): string => `\n${text.trimEnd()}`.replace(answerCue, "").slice(1)

/** Without what only sets contexts apart: their label and their tags. */
const withoutBounds = (text: string): string =>
  text.replace(contextLabel, (label) => (label.startsWith("<") ? label : "")).replaceAll(contextTag, "")

const tagged = (text: string): Found | undefined => {
  const closed = [...text.matchAll(questionEnd)].at(-1)
  const tag = `<${closed?.[1]}>`
  const start = closed === undefined ? -1 : text.lastIndexOf(tag, closed.index)
  if (closed === undefined || start === -1) return undefined
  const question = text.slice(start + tag.length, closed.index)
  return isText(question) ? without(text, start, closed.index + closed[0].length, question) : undefined
}

const labelled = (text: string): Found | undefined => {
  const labels = [...text.matchAll(questionLabel)]
  for (const [at, { 0: label, index }] of labels.entries()) {
    const start = index + label.length
    const paragraph = /^\s*[^\n]*(?:\n(?!\s*\n)[^\n]+)*/u.exec(text.slice(start, labels[at + 1]?.index))?.[0] ?? ""
    const question = paragraph.slice(0, contextLabel.exec(paragraph)?.index)
    const end = start + question.length
    const after = text.slice(end).trimStart()
    // Documents have such labels too, but answers below them, and not at the end of the prompt.
    if (isText(question) && !answerLabel.test(question) && (after === "" || startsContexts(after))) {
      return without(text, index, end, question)
    }
  }
  return undefined
}

/** A paragraph that asks, right before the contexts. */
const beforeContexts = (text: string): Found | undefined => {
  const context = contextLabel.exec(text)
  if (context === null) return undefined
  const before = text.slice(0, context.index).trimEnd()
  const start = before.lastIndexOf("\n\n") + 1
  return asks(before) && !asks(text) ? without(text, start, before.length, before.slice(start)) : undefined
}

/** The last paragraph, or its last line or sentence where it is too long for a question or `alone`, without any other text. */
const closing = (text: string, alone: boolean): Found => {
  const trimmed = text.trimEnd()
  const paragraph = trimmed.split(/\n[ \t]*\n/).at(-1) ?? ""
  const isAlone = alone && paragraph.length === trimmed.length
  const question = asks(paragraph) && (isAlone || paragraph.length > longestQuestion) ? lastSentence(paragraph) : paragraph
  return without(trimmed, trimmed.length - question.length, trimmed.length)
}

const lastSentence = (text: string): string => {
  const line = text.slice(text.lastIndexOf("\n") + 1)
  return line.length < text.length ? line : line.split(/(?<=[.!?])\s+|(?<=[。\uff1f])/u).at(-1) ?? ""
}

/** UTF-16 units. */
const longestQuestion = 500

const startsContexts = (text: string): boolean => contextLabel.test(text.split("\n", 1)[0] ?? "")

const asks = (text: string): boolean => /[?\uff1f\u061f]["'”»)\]]{0,3}$/u.test(text.trimEnd())

const without = (text: string, start: number, end: number, question = text.slice(start, end)): Found => ({
  question,
  rest: `${text.slice(0, start)}\n\n${text.slice(end)}`
})
