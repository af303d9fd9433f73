import { Effect, Predicate, Result, Schema } from "effect"
import { ServiceError } from "../src/domain/Errors.ts"

/** A name as one segment of a path: NFC, with its `/` escaped. */
export const partOf = (name: string): string => name.normalize("NFC").replaceAll("/", "%2F")

/** The path of a segment in a folder; the root folder is "". */
export const joined = (folder: string, part: string): string => folder === "" ? part : `${folder}/${part}`

/** The items of a list that could be read, and the names of the others. */
interface Each<A> {
  readonly good: ReadonlyArray<A>
  readonly odd: ReadonlyArray<string>
}

/** Decodes each item of a list separately: one of an unknown shape costs only itself. */
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

/** Confines a failure to one item, except where credentials are refused: then nothing else will work either. */
export const isolated = <A>(effect: Effect.Effect<A, ServiceError>): Effect.Effect<Result.Result<A, ServiceError>, ServiceError> =>
  Effect.map(effect, (value): Result.Result<A, ServiceError> => Result.succeed(value)).pipe(
    Effect.catchIf(({ code }) => code !== "UNAUTHENTICATED", (error) => Effect.succeed(Result.fail(error)))
  )

/** Most files that a cursor remembers, about a megabyte. */
const maxFiles = 10_000

/**
 * The files of a listing, `[id, path]`, as its cursor remembers them, because a change feed names what changed by id, not by path. Without
 * `files`, a feed can only show that nothing changed.
 */
export const KnownFiles = Schema.Array(Schema.Tuple([Schema.String, Schema.String]))

/** Paths of files by id, and ids by path. */
export interface Known {
  /** False once there were too many files, or from the start if they were not known. */
  readonly remembers: () => boolean
  readonly pathOf: (id: string) => string | undefined
  readonly idAt: (path: string) => string | undefined
  readonly add: (id: string, path: string) => void
  readonly remove: (id: string) => void
  /** Ids of the files in a folder and below it. */
  readonly under: (folder: string) => ReadonlyArray<string>
  /** The files for the cursor; absent where they are not remembered. */
  readonly entries: () => ReadonlyArray<readonly [id: string, path: string]> | undefined
}

/** `from` is what a cursor remembers. Where it is absent, nothing is known or will be remembered. */
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

/** The error for a cursor from which changes cannot be determined: the caller lists from the start, without a cursor. */
export const listFromStart = (why: string): ServiceError => ServiceError.invalid("cursor", why, "list from the start")
