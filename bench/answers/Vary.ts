/** One constant of the extractive generator, by several values: what each is worth, corpus by corpus. */
import type { Answer } from "../../src/domain/Answer.ts"
import type { Context } from "../../src/domain/Retrieval.ts"
import { type Constants, constants } from "../../src/models/extractive/Answer.ts"
import { leaveOneOut } from "../lib/LeaveOneOut.ts"
import type { Answerer } from "./Answerers.ts"
import { type Asked, isOf } from "./Questions.ts"

/** @throws where NAME=VALUE,VALUE… names no constant, or no numbers */
export const variedBy = (vary: string, extractive: (name: string, by: Constants) => Answerer): ReadonlyArray<Answerer> => {
  const [name = "", ...values] = vary.split(/[=,]/)
  const isConstant = (name: string): name is keyof Constants => Object.hasOwn(constants, name)
  if (!isConstant(name) || values.length === 0 || values.some((value) => value === "" || !Number.isFinite(Number(value)))) {
    throw new Error(`--vary must be NAME=NUMBER,NUMBER…; NAME is one of ${Object.keys(constants).join(", ")}`)
  }
  return values.map((value) => extractive(`${name} ${value}`, { ...constants, [name]: Number(value) }))
}

export interface Outcome {
  readonly asked: Asked
  readonly contexts: ReadonlyArray<Context>
  readonly answer: Answer
  readonly milliseconds: number
}

export const isRight = ({ answer, asked }: Outcome): boolean =>
  answer.grounded && answer.citations.some((citation) => isOf(asked, citation))
export const isFirst = ({ answer, asked }: Outcome): boolean =>
  answer.grounded && answer.citations.slice(0, 1).some((citation) => isOf(asked, citation))

/** Right of those that have an answer, refused of those that have none. */
const isWell = (outcome: Outcome): boolean => (outcome.asked.gold === undefined ? !outcome.answer.grounded : isRight(outcome))

/** For each corpus its outcomes by the value that has the most questions end well, and the most right by the first citation, over the other corpora. */
export const leftOut = (ways: ReadonlyArray<ReadonlyArray<Outcome>>): ReadonlyArray<Outcome> => {
  const corpora = [...new Set(ways.flatMap((outcomes) => outcomes.map(({ asked }) => asked.corpus)))]
  const rows = corpora.map((corpus) => ways.map((outcomes) => outcomes.filter(({ asked }) => asked.corpus === corpus)))
  return leaveOneOut(rows, (outcomes) => outcomes.filter(isWell).length + outcomes.filter(isFirst).length).flat()
}
