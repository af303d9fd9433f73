import { Effect, Predicate, Result, Schema } from "effect"
import { ServiceError } from "../src/domain/Errors.ts"

/** One part of a path: NFC, and no `/` of its own. */
export const partOf = (name: string): string => name.normalize("NFC").replaceAll("/", "%2F")

/** A part under a folder; the root is "". */
export const joined = (folder: string, part: string): string => folder === "" ? part : `${folder}/${part}`

/** What of a list could be read, and what the rest is called. */
interface Each<A> {
  readonly good: ReadonlyArray<A>
  readonly odd: ReadonlyArray<string>
}

/** Reads each of a list by itself: one in a shape that nobody knows costs only itself. */
export const eachOf = <A>(schema: Schema.Decoder<A>): (list: ReadonlyArray<unknown>) => Each<A> => {
  const decode = Schema.decodeUnknownResult(schema)
  return (list) => {
    const good: Array<A> = []
    const odd: Array<string> = []
    for (const one of list) {
      const decoded = decode(one)
      if (Result.isSuccess(decoded)) good.push(decoded.success)
      else odd.push(nameOf(one))
    }
    return { good, odd }
  }
}

const nameOf = (one: unknown): string => {
  const texts = ["name", "fileId", "id"].map((key) => Predicate.isObject(one) ? Reflect.get(one, key) : undefined)
  return texts.find((text): text is string => typeof text === "string" && text !== "")?.slice(0, 200) ?? "an entry"
}

/** One thing's failure is its own, but without credentials nothing will do. */
export const isolated = <A>(effect: Effect.Effect<A, ServiceError>): Effect.Effect<Result.Result<A, ServiceError>, ServiceError> =>
  Effect.map(effect, (value): Result.Result<A, ServiceError> => Result.succeed(value)).pipe(
    Effect.catchIf(({ code }) => code !== "UNAUTHENTICATED", (error) => Effect.succeed(Result.fail(error)))
  )

/** More files than this, and a cursor does not remember them: about a megabyte. */
const maxFiles = 10_000

/**
 * What a listing found, as its cursor remembers it, because a change feed names what changed by id and not by where
 * it was: `[id, path]`. Without `files`, only "nothing changed" can be told from a feed.
 */
export const KnownFiles = Schema.Array(Schema.Tuple([Schema.String, Schema.String]))

/** Paths of files by id, and back. */
export interface Known {
  /** False once there were too many, or from the start if they were not known. */
  readonly remembers: () => boolean
  readonly pathOf: (id: string) => string | undefined
  readonly idAt: (path: string) => string | undefined
  readonly add: (id: string, path: string) => void
  readonly remove: (id: string) => void
  /** Ids of the files in a folder and below. */
  readonly under: (folder: string) => ReadonlyArray<string>
  /** For the cursor; absent where nothing is remembered. */
  readonly entries: () => ReadonlyArray<readonly [id: string, path: string]> | undefined
}

/** `from` is what a cursor remembers; absent, nothing is known and nothing will be. */
export const makeKnown = (from: ReadonlyArray<readonly [string, string]> | undefined): Known => {
  let paths = from === undefined ? undefined : new Map(from)
  let ids = paths === undefined ? undefined : new Map([...paths].map(([id, path]) => [path, id]))
  return {
    remembers: () => paths !== undefined,
    pathOf: (id) => paths?.get(id),
    idAt: (path) => ids?.get(path),
    add: (id, path) => {
      paths?.set(id, path)
      ids?.set(path, id)
      if (paths !== undefined && paths.size > maxFiles) paths = ids = undefined
    },
    remove: (id) => {
      const path = paths?.get(id)
      if (path === undefined) return
      paths?.delete(id)
      if (ids?.get(path) === id) ids.delete(path)
    },
    under: (folder) => [...paths ?? []].flatMap(([id, path]) => path.startsWith(`${folder}/`) ? [id] : []),
    entries: () => paths === undefined ? undefined : [...paths]
  }
}

/** The answer to a cursor from which changes cannot be told: whoever gave it lists from the start, without one. */
export const listFromStart = (why: string): ServiceError => ServiceError.invalid("cursor", why, "List from the start.")
