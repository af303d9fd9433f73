import { Array as Arr, Clock, Effect, Result, Schema } from "effect"
import type { ServiceError } from "../../src/domain/Errors.ts"
import type { Permissions } from "../../src/domain/RagFile.ts"
import type { Listed } from "../../src/ports/Connector.ts"
import { isolated } from "../Tree.ts"
import { batchSize, type Graph } from "./Graph.ts"

const key = Schema.optionalKey
const Person = Schema.Struct({ displayName: key(Schema.String), email: key(Schema.String) })
export const Identities = Schema.Struct({ user: key(Person) })
const Facet = key(Schema.Struct({}))

/** The requested fields of a library's item. */
export const DriveItem = Schema.Struct({
  id: Schema.String,
  name: key(Schema.String),
  size: key(Schema.Finite),
  file: key(Schema.Struct({ mimeType: key(Schema.String) })),
  folder: Facet,
  /** A OneNote notebook. */
  package: Facet,
  root: Facet,
  deleted: Facet,
  malware: Facet,
  remoteItem: Facet,
  parentReference: key(Schema.Struct({ id: key(Schema.String) })),
  eTag: key(Schema.String),
  cTag: key(Schema.String),
  webUrl: key(Schema.String),
  createdDateTime: key(Schema.String),
  lastModifiedDateTime: key(Schema.String),
  createdBy: key(Identities),
  lastModifiedBy: key(Identities)
})
export type DriveItem = typeof DriveItem.Type

export const itemFields =
  "id,name,size,file,folder,package,root,deleted,malware,remoteItem,parentReference,eTag,cTag,webUrl,createdDateTime,lastModifiedDateTime,createdBy,lastModifiedBy"

interface Tags {
  /** Changes with the content but not with the name. Deltas of SharePoint's libraries omit it, single items have it. */
  readonly cTag?: string
  /** Changes with the whole item. */
  readonly eTag?: string
}

export const revisionOf = ({ cTag, eTag }: Tags): string => cTag ?? eTag ?? "unknown"

/** Whether an item is still the one that was listed with this revision, whichever of its tags that is. */
export const hasRevision = ({ cTag, eTag }: Tags, revision: string): boolean => revision === cTag || revision === eTag

/** The event with which an item is skipped; undefined for one that is offered. */
export const skipOf = (item: DriveItem, path: string, maxFileSize: number | undefined): Listed | undefined => {
  if (item.remoteItem !== undefined) return { _tag: "skipped", path, reason: "link", detail: "it lies in another library" }
  if (item.package !== undefined || item.file === undefined) {
    return { _tag: "skipped", path, reason: "unsupported", detail: "notebooks and packages are not read" }
  }
  if (item.malware !== undefined) return { _tag: "skipped", path, reason: "special", detail: "SharePoint found malware in it" }
  return maxFileSize !== undefined && item.size !== undefined && item.size > maxFileSize
    ? { _tag: "skipped", path, reason: "limit", detail: `${item.size} bytes; maxFileSize is ${maxFileSize}` }
    : undefined
}

/** The event that offers a file. */
export const offered = (item: DriveItem, path: string, driveId: string, permissions: Permissions): Listed => {
  const name = item.name ?? path
  const mimeType = item.file?.mimeType
  const revision = revisionOf(item)
  return {
    _tag: "item",
    item: {
      path,
      uri: item.webUrl ?? `https://graph.microsoft.com/v1.0/drives/${driveId}/items/${item.id}`,
      displayName: name,
      revision,
      ...(revision === "unknown" ? { unsettled: true } : {}),
      ...(item.size === undefined ? {} : { size: item.size }),
      ...(mimeType === undefined ? {} : { mimeType }),
      metadata: { title: name, ...factsOf(item), driveId, itemId: item.id },
      permissions
    }
  }
}

/** Author and times of a file or page, as metadata. */
export const factsOf = (
  { createdBy, createdDateTime, lastModifiedBy, lastModifiedDateTime }: Pick<
    DriveItem,
    "createdBy" | "createdDateTime" | "lastModifiedBy" | "lastModifiedDateTime"
  >
): Record<string, string> => {
  const author = createdBy?.user?.displayName ?? createdBy?.user?.email ?? lastModifiedBy?.user?.displayName
  return {
    ...(author === undefined ? {} : { author }),
    ...(createdDateTime === undefined ? {} : { createdTime: createdDateTime }),
    ...(lastModifiedDateTime === undefined ? {} : { modifiedTime: lastModifiedDateTime })
  }
}

const optional = <S extends Schema.Top>(schema: S) => key(Schema.NullOr(schema))
const Identity = Schema.Struct({
  id: optional(Schema.String),
  displayName: optional(Schema.String),
  email: optional(Schema.String),
  userPrincipalName: optional(Schema.String),
  loginName: optional(Schema.String)
})
type Identity = typeof Identity.Type
const Grantee = Schema.Struct({
  user: optional(Identity),
  group: optional(Identity),
  siteUser: optional(Identity),
  siteGroup: optional(Identity)
})
type Grantee = typeof Grantee.Type

const Permission = Schema.Struct({
  grantedToV2: optional(Grantee),
  grantedToIdentitiesV2: optional(Schema.Array(Grantee)),
  link: optional(Schema.Struct({ scope: optional(Schema.String) })),
  hasPassword: optional(Schema.Boolean),
  expirationDateTime: optional(Schema.String)
})

const Answer = Schema.Struct({ value: Schema.Array(Permission), "@odata.nextLink": key(Schema.String) })

/** Most batches requested at the same time. */
const concurrency = 4

/** An item whose permissions are requested. */
interface Target {
  /** Name of the item in messages. */
  readonly name: string
  /** Path of the item in Graph: `/drives/…/items/…`. */
  readonly at: string
}

/**
 * Who may read each target, in order; a failure affects only its target. Readers who cannot be determined are not granted access: where the
 * app may not see the permissions, the item is for no principal.
 */
export const permissionsOf = (
  graph: Graph,
  targets: ReadonlyArray<Target>,
  tenantId: string
): Effect.Effect<ReadonlyArray<Result.Result<Permissions, ServiceError>>, ServiceError> =>
  Effect.map(
    Effect.forEach(Arr.chunksOf(targets, batchSize), (chunk) => permissionsOfBatch(graph, chunk, tenantId), { concurrency }),
    (results) => results.flat()
  )

const permissionsOfBatch = Effect.fnUntraced(function*(graph: Graph, targets: ReadonlyArray<Target>, tenantId: string) {
  const now = yield* Clock.currentTimeMillis
  const answers = yield* isolated(
    graph.batch(`the permissions of ${targets.length} items`, targets.map(({ at }) => `${at}/permissions`), Answer)
  )
  if (Result.isFailure(answers)) return targets.map(() => Result.fail(answers.failure))
  return yield* Effect.forEach(targets, ({ at, name }, index) => {
    const answer = answers.success[index]
    // One that failed, or has more pages, is requested separately, with the usual waits and retries.
    const found = answer !== undefined && answer["@odata.nextLink"] === undefined
      ? Effect.succeed(answer.value)
      : graph.all(`the permissions of ${name}`, `${at}/permissions`, Permission).pipe(
        Effect.catchIf(({ code }) => code === "PERMISSION_DENIED", () => Effect.succeed([]))
      )
    return isolated(Effect.map(found, (permissions) => readersOf(permissions, tenantId, now)))
  })
})

const readersOf = (permissions: ReadonlyArray<typeof Permission.Type>, tenantId: string, now: number): Permissions => {
  const valid = permissions.filter(({ expirationDateTime }) =>
    !(typeof expirationDateTime === "string" && Date.parse(expirationDateTime) <= now)
  )
  const principals = new Set(valid.flatMap(({ grantedToIdentitiesV2, grantedToV2, link }) => [
    ...(link?.scope === "organization" ? [`domain:${tenantId.toLowerCase()}`] : []),
    ...[grantedToV2, ...grantedToIdentitiesV2 ?? []].flatMap((grantee) => principalOf(grantee ?? {}, tenantId))
  ]))
  return {
    public: valid.some(({ hasPassword, link }) => link?.scope === "anonymous" && hasPassword !== true),
    principals: [...principals].toSorted()
  }
}

const principalOf = ({ group, siteGroup, siteUser, user }: Grantee, tenantId: string): ReadonlyArray<string> => {
  const login = siteUser?.loginName?.toLowerCase() ?? ""
  // SharePoint's "Everyone except external users" and "Everyone".
  if (login.includes("spo-grid-all-users") || login.startsWith("c:0(.s|true")) return [`domain:${tenantId.toLowerCase()}`]
  const [kind, identity] = group != null ?
    ["group", group] as const
    : user != null ?
    ["user", user] as const
    : siteGroup != null ?
    ["group", siteGroup] as const
    : siteUser != null ?
    [login.startsWith("c:0") ? "group" : "user", siteUser] as const
    : []
  const name = identity === undefined ? undefined : nameOf(identity, kind === "group" && siteGroup === identity)
  return name === undefined ? [] : [`${kind}:${name.toLowerCase()}`]
}

/**
 * The email address where there is one; otherwise, with `byName`, the display name, since a site's own groups have no other; otherwise an
 * address in the login name, or the id.
 */
const nameOf = ({ displayName, email, id, loginName, userPrincipalName }: Identity, byName: boolean): string | undefined => {
  const candidates = [email, userPrincipalName, byName ? displayName : undefined, /\|([^|\s]+@[^|\s]+)$/.exec(loginName ?? "")?.[1], id]
  return candidates.find((candidate) => typeof candidate === "string" && candidate !== "") ?? undefined
}
