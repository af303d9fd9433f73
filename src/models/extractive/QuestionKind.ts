import {
  asksDate,
  asksDefinition,
  asksHowTo,
  asksNumber,
  asksPerson,
  asksWhy,
  asksYesNo,
  beforeAsking,
  clauseFirst,
  interrogative,
  namesTask,
  verbFirst
} from "./Cues.ts"

/** What an answer must contain, by the question's form: a number, a date or the name of a person; `other` demands none of them. */
export type AnswerType = "number" | "date" | "person" | "other"

/** The form of a question: the type of its answer, or how it asks for text where the type is `other`. */
export type QuestionKind = AnswerType | "howTo" | "why" | "yesNo" | "definition"

/** The first that matches decides. */
const kinds: ReadonlyArray<readonly [QuestionKind, RegExp]> = [
  ["howTo", asksHowTo],
  ["why", asksWhy],
  ["definition", asksDefinition],
  ["yesNo", asksYesNo]
]

const types: ReadonlyArray<readonly [AnswerType, RegExp]> = [
  ["date", asksDate],
  ["number", asksNumber],
  ["person", asksPerson]
]

/** Whether a text names a task and asks nothing: "Throw when the exit code is not zero" is not about a time. */
export const isTask = (text: string): boolean => namesTask.test(text) && !/[?？]\s*$/u.test(text)

export const kindOf = (text: string, type: AnswerType): QuestionKind =>
  type !== "other"
    ? type
    : kinds.find(([, cue]) => cue.test(text))?.[0] ?? (isTask(text) ? "howTo" : "other")

/** By the question word that comes first: "Who do I call when …" is not about a time, nor is "What happens when …". */
export const typeOf = (text: string): AnswerType => {
  const asked = interrogative.exec(text)?.index ?? Infinity
  let first: { readonly type: AnswerType; readonly at: number } | undefined
  for (const [type, cue] of types) {
    const at = text.search(cue)
    if (at !== -1 && at <= asked && at < (first?.at ?? Infinity) && !joins(text, at)) first = { type, at }
  }
  return first?.type ?? "other"
}

/** Whether the word at an offset is a "when" or "who" that asks nothing, as in "Is it paid when I leave?" and "people who travel". */
const joins = (text: string, at: number): boolean => {
  const [before, from] = [text.slice(0, at), text.slice(at)]
  if (!/^(?:when|who|whom|whose)\b/iu.test(from)) return false
  return clauseFirst.test(from) || !(beforeAsking.test(before) || (/,\s*$/u.test(before) && verbFirst.test(from)))
}
