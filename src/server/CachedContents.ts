import { randomBytes } from "node:crypto"
import type { DatabaseSync } from "node:sqlite"
import { Clock, Context, DateTime, Effect, Layer } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import { isSamePlace } from "../domain/Locations.ts"
import type { Page, PageRequest } from "../ports/Paging.ts"
import type { CachedContent } from "../wire/messages/CachedContent.ts"
import type { GenerateContentRequest } from "../wire/messages/GenerateContent.ts"

/** The part of a cached content that is put in front of a request. */
export type CachedPrefix = Pick<GenerateContentRequest, "contents" | "systemInstruction" | "tools" | "toolConfig">

type About = Pick<CachedContent, "displayName" | "model" | "createTime" | "updateTime" | "usageMetadata">

interface NewCachedContent {
  /** `projects/{project}/locations/{location}` */
  readonly place: string
  /** Milliseconds since the epoch. */
  readonly expires: number
  readonly about: Pick<About, "displayName" | "model" | "usageMetadata">
  readonly prefix: CachedPrefix
}

/** Most cached contents, of all places together. */
const most = 1_000
const defaultPage = 100
const largestPage = 1_000

/**
 * Contents that generation requests refer to, kept in the state database until they expire. A content that has expired, or
 * belongs to another project or location than its name says, is `NOT_FOUND`.
 */
export class CachedContents extends Context.Service<CachedContents, {
  readonly create: (content: NewCachedContent) => Effect.Effect<CachedContent, ServiceError>
  readonly get: (name: string) => Effect.Effect<CachedContent, ServiceError>
  /** Newest first. */
  readonly list: (place: string, page: PageRequest) => Effect.Effect<Page<CachedContent>, ServiceError>
  readonly setExpiry: (name: string, expires: number) => Effect.Effect<CachedContent, ServiceError>
  readonly remove: (name: string) => Effect.Effect<void, ServiceError>
  /** The stored prefix, with the resource that describes it. */
  readonly prefix: (name: string) => Effect.Effect<{ readonly about: CachedContent; readonly prefix: CachedPrefix }, ServiceError>
}>()("sluice/server/CachedContents") {
  /** The database stays open as long as the layer. */
  static readonly layer = (database: DatabaseSync): Layer.Layer<CachedContents> => Layer.sync(CachedContents, () => make(database))
}

const columns = "sequence, id, place, expires, about"

const make = (db: DatabaseSync): CachedContents["Service"] => {
  const insert = db.prepare("INSERT INTO cached_contents (id, place, expires, about, prefix) VALUES (?, ?, ?, ?, ?)")
  const prune = db.prepare("DELETE FROM cached_contents WHERE expires <= ?")
  const count = db.prepare("SELECT count(*) AS n FROM cached_contents")
  const find = db.prepare(`SELECT ${columns} FROM cached_contents WHERE id = ? AND expires > ?`)
  const prefixOf = db.prepare("SELECT prefix FROM cached_contents WHERE sequence = ?")
  const update = db.prepare("UPDATE cached_contents SET expires = ?, about = ? WHERE sequence = ?")
  const remove = db.prepare("DELETE FROM cached_contents WHERE sequence = ?")
  const list = db.prepare(`SELECT ${columns} FROM cached_contents WHERE expires > ? AND sequence < ? ORDER BY sequence DESC`)

  const found = Effect.fnUntraced(function*(name: string) {
    const [, place = "", id = ""] = /^(.+)\/cachedContents\/([^/]+)$/.exec(name) ?? []
    const row = find.get(id, yield* Clock.currentTimeMillis)
    return row === undefined || !isSamePlace(String(row["place"]), place)
      ? yield* ServiceError.notFound(`cached content ${name}`)
      : { row: rowOf(row), place }
  })

  return {
    create: Effect.fnUntraced(function*({ about, expires, place, prefix }) {
      prune.run(yield* Clock.currentTimeMillis)
      if (Number(count.get()?.["n"]) >= most) {
        return yield* new ServiceError({
          code: "RESOURCE_EXHAUSTED",
          message: `there are ${most} cached contents already`,
          fix: "delete some, or let them expire sooner"
        })
      }
      const id = randomBytes(8).readBigUInt64BE().toString()
      const createTime = DateTime.formatIso(yield* DateTime.now)
      const stored: About = { ...about, createTime, updateTime: createTime }
      insert.run(id, place, expires, JSON.stringify(stored), JSON.stringify(prefix))
      return shownOf({ id, expires, about: stored }, place)
    }),
    get: (name) => Effect.map(found(name), ({ place, row }) => shownOf(row, place)),
    list: Effect.fnUntraced(function*(place, { size = defaultPage, token = "" }) {
      const before = token === ""
        ? Number.MAX_SAFE_INTEGER
        : Number(/^before:(\d{1,15})$/.exec(Buffer.from(token, "base64url").toString("utf8"))?.[1])
      if (size < 0) return yield* ServiceError.invalid("page_size", "must not be negative")
      if (Number.isNaN(before)) return yield* ServiceError.invalid("page_token", "is not one that a listing gave")
      const limit = Math.min(size, largestPage)
      const page: Array<Row> = []
      for (const columns of list.iterate(yield* Clock.currentTimeMillis, before)) {
        const row = rowOf(columns)
        if (!isSamePlace(row.place, place)) continue
        if (page.length === limit) {
          return {
            items: page.map((row) => shownOf(row, place)),
            nextToken: Buffer.from(`before:${page.at(-1)?.sequence}`).toString("base64url")
          }
        }
        page.push(row)
      }
      return { items: page.map((row) => shownOf(row, place)) }
    }),
    setExpiry: Effect.fnUntraced(function*(name, expires) {
      const { place, row } = yield* found(name)
      const about = { ...row.about, updateTime: DateTime.formatIso(yield* DateTime.now) }
      update.run(expires, JSON.stringify(about), row.sequence)
      return shownOf({ ...row, about, expires }, place)
    }),
    remove: (name) => Effect.map(found(name), ({ row }) => void remove.run(row.sequence)),
    prefix: (name) =>
      Effect.map(found(name), ({ place, row }) => ({
        about: shownOf(row, place),
        // Only this file writes the column.
        prefix: JSON.parse(String(prefixOf.get(row.sequence)?.["prefix"])) as CachedPrefix
      }))
  }
}

interface Row {
  readonly sequence: number
  readonly id: string
  readonly place: string
  readonly expires: number
  readonly about: About
}

const rowOf = (row: Record<string, unknown>): Row => ({
  sequence: Number(row["sequence"]),
  id: String(row["id"]),
  place: String(row["place"]),
  expires: Number(row["expires"]),
  // Only this file writes the column.
  about: JSON.parse(String(row["about"])) as About
})

/** The resource under the name that the client used: a project's id and its number are equivalent. */
const shownOf = ({ about, expires, id }: Pick<Row, "about" | "expires" | "id">, place: string): CachedContent => ({
  ...about,
  name: `${place}/cachedContents/${id}`,
  expireTime: new Date(expires).toISOString()
})
