import { Effect, Layer, Predicate, Redacted } from "effect"
import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { SecretError } from "../domain/Errors.ts"
import type { SecretVersion } from "../domain/Secret.ts"
import { Secrets } from "../ports/Secrets.ts"
import { chain, type SecretResolver } from "./Resolver.ts"
import { partsOf } from "./SecretName.ts"

const maxBytes = 64 * 1024
/** Opening a named pipe must not wait for a writer. Windows has no such flag. */
const openFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/**
 * Reads secrets from files, one secret per file: `{directory}/my-key` contains the secret `my-key`,
 * `{directory}/my-key.3` its version 3, which takes precedence when that version is requested. One line end at the end of
 * the file is not part of the secret. Like ssh with keys, it refuses a file that other users of the machine can read or
 * write. At most 64 KiB.
 *
 * Messages name the directory `shown`: its own path, unless they go to someone who need not know it.
 */
export const fileResolver = (directory: string, shown = directory): SecretResolver => ({
  look: Effect.fnUntraced(function*(version: SecretVersion) {
    const { secret, number } = partsOf(version)
    // The pattern of version names allows no dots or slashes, so these names cannot leave the directory.
    const names = number === "latest" ? [secret] : [`${secret}.${number}`, secret]
    const files = names.map((name) => join(shown, name))
    for (const [at, name] of names.entries()) {
      const value = yield* readSecret(version, join(directory, name), files[at] ?? name)
      if (value !== undefined) return { value: Redacted.make(value, { label: secret }), places: files.map(place) }
    }
    return { places: files.map(place) }
  })
})

const place = (file: string): string => `file ${file}`

/** The file's text; undefined when there is no such file, or it is empty. */
const readSecret = Effect.fnUntraced(function*(version: SecretVersion, path: string, file: string) {
  const read = yield* Effect.tryPromise({
    try: () => readPrivate(path, file),
    catch: (cause) =>
      new SecretError({
        version,
        message: `the secret file ${file} cannot be read (${codeOf(cause)})`,
        fix: `make ${file} a file that you own and can read`
      })
  })
  if (read._tag === "refused") {
    return yield* new SecretError({ version, message: `the secret file ${file} ${read.why}`, fix: read.fix })
  }
  return read.text === "" ? undefined : read.text
})

type Read =
  | { readonly _tag: "text"; readonly text: string }
  | { readonly _tag: "refused"; readonly why: string; readonly fix: string }

/** Checks the open file rather than its name, so that it cannot be exchanged in between. */
const readPrivate = async (path: string, file: string): Promise<Read> => {
  const handle = await open(path, openFlags).catch((cause: unknown) => {
    if (codeOf(cause) === "ENOENT" || codeOf(cause) === "ENOTDIR") return undefined
    throw cause
  })
  if (handle === undefined) return { _tag: "text", text: "" }
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) return { _tag: "refused", why: "is not a file", fix: `put a file at ${file}` }
    if (stat.size > maxBytes) return { _tag: "refused", why: `is larger than ${maxBytes} bytes`, fix: "keep one secret per file" }
    // Windows has no such bits: there the folder's access list decides.
    if (process.platform !== "win32" && (stat.mode & 0o077) !== 0) {
      const mode = (stat.mode & 0o777).toString(8).padStart(4, "0")
      return { _tag: "refused", why: `is open to other users (mode ${mode})`, fix: `chmod 600 ${file}` }
    }
    return { _tag: "text", text: (await handle.readFile("utf8")).replace(/\r?\n$/, "") }
  } finally {
    await handle.close()
  }
}

const codeOf = (cause: unknown): string =>
  Predicate.isObject(cause) && "code" in cause && typeof cause.code === "string" ? cause.code : "unknown error"

export const layer = (directory: string): Layer.Layer<Secrets> => Layer.succeed(Secrets, chain([fileResolver(directory)]))
