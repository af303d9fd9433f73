import { randomBytes } from "node:crypto"
import { type DocumentError, ServiceError } from "../../domain/Errors.ts"
import type { RagFile, UploadRequest } from "../../domain/RagFile.ts"

/** What an upload came to. */
export type Outcome = RagFile | ServiceError | DocumentError

/** A resumable upload under way. */
export interface Session {
  readonly id: string
  /** Everything of the upload but the bytes. */
  readonly request: Omit<UploadRequest, "content">
  readonly parts: Array<Uint8Array>
  received: number
  /** Grows when a connection takes over; what still comes on an older one is not listened to. */
  turn: number
  /** Answered again to whoever did not hear it. */
  outcome?: Outcome
  /** Milliseconds since the epoch. */
  touched: number
}

export interface SessionLimits {
  /** Bytes of one upload. */
  readonly upload: number
  /** Bytes of all uploads that are not finished. */
  readonly total: number
  readonly sessions: number
  /** Milliseconds after which a session nobody touched is forgotten. */
  readonly idle: number
}

/** Resumable uploads: what arrived stays when a connection breaks, and is gone when the server ends. */
export class Sessions {
  readonly #sessions = new Map<string, Session>()
  readonly #limits: SessionLimits

  constructor(limits: SessionLimits) {
    this.#limits = limits
  }

  /** @throws {ServiceError} when there are too many */
  open(request: Omit<UploadRequest, "content">, now: number): Session {
    this.#forget(now)
    if (this.#sessions.size >= this.#limits.sessions) throw this.#full()
    const session: Session = { id: randomBytes(24).toString("base64url"), request, parts: [], received: 0, turn: 0, touched: now }
    this.#sessions.set(session.id, session)
    return session
  }

  find(id: string, now: number): Session | undefined {
    this.#forget(now)
    const session = this.#sessions.get(id)
    if (session !== undefined) session.touched = now
    return session
  }

  /** Adds what came on the connection whose turn it is. @throws {ServiceError} */
  append(session: Session, turn: number, part: Uint8Array): void {
    if (session.turn !== turn) throw new ServiceError({ code: "ABORTED", message: "the upload goes on over another connection" })
    if (session.received + part.length > this.#limits.upload) throw tooLarge(this.#limits.upload)
    let total = part.length
    for (const { received } of this.#sessions.values()) total += received
    if (total > this.#limits.total) throw this.#full()
    session.parts.push(part)
    session.received += part.length
  }

  /** The bytes are let go, the outcome is kept. */
  close(session: Session, outcome: Outcome): void {
    session.outcome = outcome
    session.parts.length = 0
  }

  cancel(session: Session): void {
    this.#sessions.delete(session.id)
  }

  #forget(now: number): void {
    for (const session of this.#sessions.values()) {
      if (now - session.touched > this.#limits.idle) this.#sessions.delete(session.id)
    }
  }

  #full(): ServiceError {
    return new ServiceError({
      code: "RESOURCE_EXHAUSTED",
      message: "too many uploads are under way",
      fix: "finish or cancel some of them"
    })
  }
}

export const tooLarge = (limit: number): ServiceError =>
  new ServiceError({ code: "INVALID_ARGUMENT", message: `File is larger than the limit of ${limit} bytes.` })
