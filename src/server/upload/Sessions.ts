import { randomBytes } from "node:crypto"
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Deferred } from "effect"
import { DocumentError, ServiceError } from "../../domain/Errors.ts"
import type { RagFile, UploadRequest } from "../../domain/RagFile.ts"

/** Outcome of an upload: the file, or why it was not stored. */
export type Outcome = RagFile | ServiceError | DocumentError

/** The stored state of a session besides its bytes. */
interface Kept {
  /** Everything of the upload but the bytes. */
  readonly request: Omit<UploadRequest, "content">
  /** Time, in RFC 3339, at which all bytes were there and storing them started. */
  readonly storing?: string
  /** Outcome, to be returned again to a client that did not receive it. */
  readonly outcome?: Outcome
}

/** A resumable upload in progress. */
export interface Session extends Kept {
  readonly id: string
  readonly received: number
  /** Number of the current connection. It grows when a connection takes over; bytes from older ones are ignored. */
  turn: number
  /** Set while the file is being stored: it is stored once, even if the client finalizes several times. */
  ending?: Deferred.Deferred<Outcome, ServiceError>
}

export interface SessionLimits {
  /** Most bytes of one upload. */
  readonly upload: number
  /** Most bytes of all unfinished uploads together. */
  readonly total: number
  readonly sessions: number
  /** Milliseconds after which an unused session is deleted. */
  readonly idle: number
}

type Mutable<A> = { -readonly [K in keyof A]: A[K] }
type Held = Mutable<Session> & { touched: number }

/**
 * Resumable uploads, each in two files of a folder: received bytes survive a broken connection and the end of the server. The
 * synchronous writes only reach the operating system's cache.
 */
export class Sessions {
  readonly #sessions = new Map<string, Held>()
  readonly #limits: SessionLimits
  readonly #folder: string

  /** Opens the folder with the sessions that an earlier server left in it. */
  constructor(folder: string, limits: SessionLimits) {
    this.#limits = limits
    this.#folder = folder
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(folder)) {
      const id = /^(.*)\.json$/.exec(name)?.[1]
      if (id !== undefined) this.#restore(id)
    }
  }

  /** Starts a session. @throws {ServiceError} when there are too many */
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

  /** Adds bytes from the current connection. @throws {ServiceError} */
  append(session: Session, turn: number, part: Uint8Array): void {
    if (session.turn !== turn) throw new ServiceError({ code: "ABORTED", message: "the upload continues over another connection" })
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

  /** Records that storing has started. A server that finds the session without an outcome then has to check whether the file was stored. */
  store(session: Session, at: string): void {
    const held = this.#held(session)
    held.storing = at
    this.#keep(held)
  }

  /** Ends a session: deletes its bytes, and keeps its outcome. */
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
    // Only `#keep` writes it, atomically.
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
      message: "too many uploads are in progress",
      fix: "finish or cancel some of them"
    })
  }
}

export const tooLarge = (limit: number): ServiceError =>
  new ServiceError({ code: "INVALID_ARGUMENT", message: `File is larger than the limit of ${limit} bytes.` })

/** The outcome of parsed JSON, in which errors are stored by their fields. */
const revived = (outcome: Outcome): Outcome => {
  if (!("_tag" in outcome)) return outcome
  return outcome._tag === "DocumentError" ? new DocumentError(outcome) : new ServiceError(outcome)
}

/** Writes to the disk. A failure is the server's, perhaps temporary. @throws {ServiceError} */
const written = (write: () => void): void => {
  try {
    write()
  } catch (cause) {
    throw new ServiceError({ code: "UNAVAILABLE", message: "the upload cannot be stored: writing to the server's disk failed", cause })
  }
}
