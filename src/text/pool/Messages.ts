import type { DocumentProblem } from "../../domain/Errors.ts"
import type { Limits, Located, Locating, Opened, Opening, Pictured, Picturing, Prepared, Raw } from "../Prepared.ts"

/** A request about a file: to parse and chunk it, to open it, to find quotes in it, or to draw its pages. */
export type Task = Raw | Opening | Locating | Picturing

export type Result = Prepared | Opened | Located | Pictured

/** Files that the pool sends a worker process, to be handled in this order. Sent by structured clone. */
export interface Request {
  readonly limits: Limits
  readonly files: ReadonlyArray<Asked>
}

export interface Asked {
  readonly id: number
  readonly raw: Task
  /** Its answer, and all answers before it, are sent without delay: if the process ends, this file is known to be the cause. */
  readonly atOnce: boolean
}

/** Most answers in one message: a message can take longer than a small file, on either side. */
export const mostKept = 8

/** Why a file was not read, in words for a person: never a stack trace or a piece of the document. */
export interface Refusal {
  readonly problem: DocumentProblem
  readonly message: string
}

/** A file that could not be attempted, since a package is missing; says which. */
export interface Broken {
  readonly broken: string
}

export interface Answer {
  readonly id: number
  readonly result: Result | Refusal | Broken
}

/** Outcomes of files in the order of the request. A worker keeps back fewer than {@link mostKept}. */
export interface Reply {
  readonly answers: ReadonlyArray<Answer>
  /** Milliseconds of processor time that the worker has used since it started; absent where it has not just measured it. */
  readonly processor?: number
  /** The worker has done its share: it finishes the files it has, and should be sent no more. */
  readonly spent: boolean
}

export const isRefusal = (result: Result | Refusal): result is Refusal => "problem" in result

/** The worker has loaded what it needs. */
export interface Ready {
  readonly ready: true
}
