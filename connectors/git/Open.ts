import { Effect, Schema, Stream } from "effect"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import {
  atMost,
  type Connector,
  type ConnectorContext,
  cursorRefused,
  cursors,
  type Listed,
  pathFilter,
  type SecretError,
  ServiceError,
  type SourceItem
} from "../../src/ConnectorKit.ts"
import type { SettingsOf } from "../../src/ConnectorKit.ts"
import { objectsOfCall, openRepository, type TreeEntry } from "./Repository.ts"

const Commit = Schema.String.check(Schema.isPattern(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/))

/** Position of a listing. `base`: everything up to this commit was listed. `at`: a listing of `commit` has come as far as `after`. */
const Position = Schema.Struct({
  base: Schema.optionalKey(Commit),
  at: Schema.optionalKey(Schema.Struct({ commit: Commit, after: Schema.String }))
})

const blobModes = new Set(["100644", "100755", "100664"])

/** Bytes below which a file may be a Git LFS pointer (the specification's bound). */
const maxPointer = 1024
/** Start of a Git LFS pointer. */
const pointer = Buffer.from("version https://git-lfs.github.com/spec/")
const minPointer = pointer.length

/** The connector behind `git`, with everything that it loads. */
export const open = (config: SettingsOf<"git">, context: Partial<ConnectorContext>): Omit<Connector, "kind"> => {
  const repository = openRepository(config, context)
  const takes = pathFilter({ include: config.paths, exclude: config.exclude })
  const cursor = cursors([config.url, config.path, config.ref, config.paths, config.exclude, config.maxFileSize], Position)
  const uriOf = addresses(config)

  /** The events of some entries, in order. */
  const eventsOf = Effect.fnUntraced(
    function*(commit: string, changes: ReadonlyArray<{ readonly path: string; readonly entry?: TreeEntry }>) {
      const unsized = changes.flatMap(({ entry }) =>
        entry !== undefined && entry.size === undefined && blobModes.has(entry.mode) ? [entry.id] : []
      )
      const sizes = unsized.length === 0 ? new Map<string, number>() : yield* repository.sizes([...new Set(unsized)])
      const sizeOf = (entry: TreeEntry): number => entry.size ?? sizes.get(entry.id) ?? 0
      const small = changes.flatMap(({ entry }) =>
        entry !== undefined && blobModes.has(entry.mode) && sizeOf(entry) >= minPointer && sizeOf(entry) < maxPointer ? [entry.id] : []
      )
      const contents = small.length === 0 ? new Map<string, Buffer>() : yield* repository.contents([...new Set(small)])
      return changes.map(({ entry, path: written }): Listed => {
        const path = written.normalize("NFC")
        if (entry === undefined) return { _tag: "deleted", path }
        const skipped = (reason: "link" | "special" | "limit", detail: string): Listed => ({ _tag: "skipped", path, reason, detail })
        if (entry.mode === "120000") return skipped("link", "a symbolic link")
        if (entry.mode === "160000") return skipped("special", "a submodule: make it a source of its own")
        if (!blobModes.has(entry.mode)) return skipped("special", `an object of mode ${entry.mode}`)
        if (contents.get(entry.id)?.subarray(0, minPointer).equals(pointer) === true) {
          return skipped("special", "a pointer of Git LFS: the file itself is not in the repository")
        }
        const size = sizeOf(entry)
        if (config.maxFileSize !== undefined && size > config.maxFileSize) {
          return skipped("limit", `${size} bytes; maxFileSize is ${config.maxFileSize}`)
        }
        const item: SourceItem = { path, uri: uriOf(commit, written), displayName: path, revision: entry.id, size }
        return { _tag: "item", item }
      })
    }
  )

  const listing = Effect.fnUntraced(
    function*(given: string | undefined): Effect.fn.Return<Stream.Stream<Listed, ServiceError | SecretError>, ServiceError | SecretError> {
      const { at, base } = given === undefined ? {} : yield* cursor.decode(given)
      const commit = at?.commit ?? (yield* repository.head)
      for (const needed of [base, at?.commit]) {
        if (needed !== undefined && !(yield* repository.has(needed))) return yield* cursorRefused()
      }
      const complete: Listed = { _tag: "complete", cursor: cursor.encode({ base: commit }) }
      if (base === commit) return Stream.succeed(complete)
      const changes = base === undefined
        ? Stream.map(repository.tree(commit), (entry) => ({ path: entry.path, entry }))
        : repository.changes(base, commit)
      return changes.pipe(
        // Git lists paths in the order of their bytes.
        Stream.filter(({ path }) => takes(path) && (at === undefined || Buffer.compare(Buffer.from(path), Buffer.from(at.after)) > 0)),
        Stream.grouped(objectsOfCall),
        Stream.mapEffect((some) =>
          Effect.map(eventsOf(commit, some), (events): ReadonlyArray<Listed> => [
            ...events,
            {
              _tag: "checkpoint",
              cursor: cursor.encode({ ...(base === undefined ? {} : { base }), at: { commit, after: some.at(-1)?.path ?? "" } })
            }
          ])
        ),
        Stream.flatMap(Stream.fromIterable),
        Stream.concat(Stream.succeed(complete))
      )
    }
  )

  return {
    check: repository.check,
    list: (given) => Stream.unwrap(listing(given)),
    // Read by the id of the listed blob: whatever was committed since, this is its content.
    read: (item, maxBytes) =>
      (item.size ?? 0) > maxBytes
        ? Stream.fail(new ServiceError({ code: "OUT_OF_RANGE", message: `${item.path} is larger than ${maxBytes} bytes` }))
        : atMost(maxBytes, item.path)(Stream.mapError(repository.blob(item.revision), (error) =>
          error._tag === "ServiceError" && error.code === "NOT_FOUND" ? ServiceError.notFound(item.path) : error))
  }
}

/** Where a person reads a file: on the host's own pages where they are known, otherwise in the folder. */
const addresses = ({ path = ".", ref = "HEAD", url }: SettingsOf<"git">): (commit: string, file: string) => string => {
  if (url === undefined) {
    const folder = resolve(path)
    return (_, file) => pathToFileURL(join(folder, file)).href
  }
  const { host, pathname } = new URL(url)
  const site = `https://${host}${pathname.replace(/\/+$/, "").replace(/\.git$/, "")}`
  const pages = pagesOfHosts.find(([pattern]) => pattern.test(host))?.[1] ?? "blob"
  const at = encodeURI(ref)
  return (_, file) => `${site}/${pages}/${at}/${file.split("/").map(encodeURIComponent).join("/")}`
}

/** How each host addresses the page of a file; unknown hosts use GitHub's form. */
const pagesOfHosts: ReadonlyArray<readonly [host: RegExp, page: string]> = [
  [/(?:^|\.)gitlab\./, "-/blob"],
  [/(?:^|\.)bitbucket\.org$/, "src"],
  [/(?:^|\.)(?:codeberg\.org|gitea\.com)$/, "src"]
]
