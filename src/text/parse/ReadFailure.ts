import type { DocumentProblem } from "../../domain/Errors.ts"

/** A package that reads a format cannot be loaded here. The installation is at fault, not a file. */
export class BrokenInstallation extends Error {}

/** Thrown by readers; becomes a DocumentError at the process boundary. */
export class ReadFailure extends Error {
  readonly problem: DocumentProblem
  /** How many of the file's pictures wait for text recognition. */
  readonly waits: number
  constructor(problem: DocumentProblem, message: string, waits = 1) {
    super(message)
    this.problem = problem
    this.waits = waits
  }
}

/** An archive where a document is expected. Its files are documents of their own, where archives are opened. */
export class ArchiveFound extends ReadFailure {
  /** The archive's kind: `ZIP archive`. */
  readonly kind: string
  constructor(kind: string) {
    super("unsupported", `${kind}; import.archives opens it`)
    this.kind = kind
  }
}
