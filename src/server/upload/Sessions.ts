import { randomBytes } from "node:crypto"
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Deferred } from "effect"
import { DocumentError, ServiceError } from "../../domain/Errors.ts"
import type { RagFile, UploadRequest } from "../../domain/RagFile.ts"

/** What an upload came to. */
export type Outcome = RagFile | ServiceError | DocumentError

/** What is kept of a session besides its bytes. */
interface Kept {
  /** Everything of the upload but the bytes. */
  readonly request: Omit<UploadRequest, "content">
  /** RFC 3339: when the bytes were all there, and storing them began. */
  readonly storing?: string
  /** Answered again to whoever did not hear it. */
  readonly outcome?: Outcome
}

/** A resumable upload under way. */
export interface Session extends Kept {
  readonly id: string
  readonly received: number
  /** Grows when a connection takes over; what still comes on an older one is not listened to. */
  turn: number
  /** Where the file is being stored: the bytes are taken once, however often the end is asked for. */
  ending?: Deferred.Deferred<Outcome, ServiceError>
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

type Mutable<A> = { -readonly [K in keyof A]: A[K] }
type Held = Mutable<Session> & { touched: number }

/**
 * Resumable uploads, each two files of a folder: what arrived stays when a connection breaks, and when the server ends.
 * What is synchronous here writes to the disk's cache.
 */
export class Sessions {
  readonly #sessions = new Map<string, Held>()
  readonly #limits: SessionLimits
  readonly #folder: string

  /** Goes on with the sessions that an earlier server left in the folder. */
  constructor(folder: string, limits: SessionLimits) {
    this.#limits = limits
    this.#folder = folder
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(folder)) {
      const id = /^(.*)\.json$/.exec(name)?.[1]
      if (id !== undefined) this.#restore(id)
    }
  }

  /** @throws {ServiceError} when there are too many */
  open(request: Kept["request"], now: number): Session {
    this.#forget(now)
    if (this.#sessions.size >= this.#limits.sessions) throw this.#full()
    const session: Held = { id: randomBytes(24).toString("base64url"), request, received: 0, turn: 0, touched: now }
    this.#keep(session)
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
    for (const { outcome, received } of this.#sessions.values()) total += outcome === undefined ? received : 0
    if (total > this.#limits.total) throw this.#full()
    written(() => appendFileSync(this.#file(session.id, "bytes"), part, { mode: 0o600 }))
    this.#held(session).received += part.length
  }

  bytes(session: Session): Uint8Array {
    return session.received === 0 ? new Uint8Array() : new Uint8Array(readFileSync(this.#file(session.id, "bytes")))
  }

  /** Notes that storing begins: whoever finds the session without an outcome has to look whether it was stored. */
  store(session: Session, at: string): void {
    const held = this.#held(session)
    held.storing = at
    this.#keep(held)
  }

  /** The bytes are let go, the outcome is kept. */
  close(session: Session, outcome: Outcome): void {
    const held = this.#held(session)
    held.outcome = outcome
    this.#keep(held)
    rmSync(this.#file(session.id, "bytes"), { force: true })
  }

  cancel(session: Session): void {
    this.#sessions.delete(session.id)
    for (const kind of ["json", "bytes"] as const) rmSync(this.#file(session.id, kind), { force: true })
  }

  #held(session: Session): Held {
    // Every session was made here.
    return session as Held
  }

  #file(id: string, kind: "json" | "bytes"): string {
    return join(this.#folder, `${id}.${kind}`)
  }

  #keep({ id, outcome, request, storing }: Held): void {
    const kept = {
      request,
      storing,
      outcome: outcome === undefined ? undefined : (outcome instanceof Error ? { ...outcome, message: outcome.message } : outcome)
    }
    const file = this.#file(id, "json")
    written(() => {
      writeFileSync(`${file}.new`, JSON.stringify(kept), { mode: 0o600 })
      renameSync(`${file}.new`, file)
    })
  }

  #restore(id: string): void {
    const file = this.#file(id, "json")
    // Only `#keep` writes it, and whole.
    const { outcome, ...kept } = JSON.parse(readFileSync(file, "utf8")) as Kept
    const size = statSync(this.#file(id, "bytes"), { throwIfNoEntry: false })?.size ?? 0
    this.#sessions.set(id, {
      id,
      ...kept,
      ...(outcome === undefined ? {} : { outcome: revived(outcome) }),
      received: size,
      turn: 0,
      touched: statSync(file).mtimeMs
    })
  }

  #forget(now: number): void {
    for (const session of this.#sessions.values()) {
      if (now - session.touched > this.#limits.idle) this.cancel(session)
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

/** Errors are written as their fields. */
const revived = (outcome: Outcome): Outcome => {
  if (!("_tag" in outcome)) return outcome
  return outcome._tag === "DocumentError" ? new DocumentError(outcome) : new ServiceError(outcome)
}

/** A disk that takes nothing is the server's trouble, and for a while perhaps. @throws {ServiceError} */
const written = (write: () => void): void => {
  try {
    write()
  } catch (cause) {
    throw new ServiceError({ code: "UNAVAILABLE", message: "the upload cannot be kept: the server's disk refuses it", cause })
  }
}
