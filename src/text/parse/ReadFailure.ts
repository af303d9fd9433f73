import type { DocumentProblem } from "../../domain/Errors.ts"

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

/** An archive where a document is wanted: its files are documents of their own, where those are asked for. */
export class ArchiveFound extends ReadFailure {
  /** `ZIP archive` */
  readonly kind: string
  constructor(kind: string) {
    super("unsupported", `${kind}; import.archives opens it`)
    this.kind = kind
  }
}
