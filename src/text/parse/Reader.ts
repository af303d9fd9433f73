import type { ParsedDocument } from "../../domain/Document.ts"
import type { DocumentProblem } from "../../domain/Errors.ts"
import type { Limits } from "../Prepared.ts"
import type { InnerFiles } from "./InnerFiles.ts"

/** A reader of one family of formats: bytes to text and blocks. Pure but for time and memory; may be async. */
export type Reader = (input: {
  readonly bytes: Uint8Array
  readonly name: string
  readonly format: string
  readonly limits: Limits
  /** Reads what is attached or packed inside. */
  readonly inner: InnerFiles
}) => ParsedDocument | Promise<ParsedDocument>

/** A package that reads a format cannot be loaded here. The installation's fault: no file is to blame for it. */
export class BrokenInstallation extends Error {}

/** Thrown by readers; becomes a DocumentError at the process boundary. */
export class ReadFailure extends Error {
  readonly problem: DocumentProblem
  /** Of `pictures`: how many wait for text recognition. */
  readonly waits: number
  constructor(problem: DocumentProblem, message: string, waits = 1) {
    super(message)
    this.problem = problem
    this.waits = waits
  }
}
