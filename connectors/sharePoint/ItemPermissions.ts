import { Array as Arr, Clock, Effect, Result, Schema } from "effect"
import type { ServiceError } from "../../src/domain/Errors.ts"
import type { Permissions } from "../../src/domain/RagFile.ts"
import { isolated } from "../tree/Isolated.ts"
import { batchSize, type Graph } from "./Graph.ts"

const key = Schema.optionalKey
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

/** Batches on their way at once. */
const concurrency = 4

/** What permissions are asked of. */
export interface Target {
  /** For messages. */
  readonly name: string
  /** In Graph: `/drives/…/items/…`. */
  readonly at: string
}

/**
 * Who may read each target, in their order; a failure is that target's own. Whoever may not be known grants nobody:
 * where the app may not see the permissions, the item is for no principal.
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
  const answers = yield* isolated(graph.batch(`the permissions of ${targets.length} items`, targets.map(({ at }) => `${at}/permissions`), Answer))
  if (Result.isFailure(answers)) return targets.map(() => Result.fail(answers.failure))
  return yield* Effect.forEach(targets, ({ at, name }, index) => {
    const answer = answers.success[index]
    // One that failed, or has more pages, is asked for by itself, which waits and tries again as is due.
    const found = answer !== undefined && answer["@odata.nextLink"] === undefined
      ? Effect.succeed(answer.value)
      : graph.all(`the permissions of ${name}`, `${at}/permissions`, Permission).pipe(
        Effect.catchIf(({ code }) => code === "PERMISSION_DENIED", () => Effect.succeed([]))
      )
    return isolated(Effect.map(found, (permissions) => readersOf(permissions, tenantId, now)))
  })
})

const readersOf = (permissions: ReadonlyArray<typeof Permission.Type>, tenantId: string, now: number): Permissions => {
  const valid = permissions.filter(({ expirationDateTime }) => !(typeof expirationDateTime === "string" && Date.parse(expirationDateTime) <= now))
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
  const [kind, identity] = group != null ? ["group", group] as const
    : user != null ? ["user", user] as const
    : siteGroup != null ? ["group", siteGroup] as const
    : siteUser != null ? [login.startsWith("c:0") ? "group" : "user", siteUser] as const
    : []
  const name = identity === undefined ? undefined : nameOf(identity, kind === "group" && siteGroup === identity)
  return name === undefined ? [] : [`${kind}:${name.toLowerCase()}`]
}

/** The address where there is one; a site's own groups have names only. */
const nameOf = ({ displayName, email, id, loginName, userPrincipalName }: Identity, byName: boolean): string | undefined => {
  const candidates = [email, userPrincipalName, byName ? displayName : undefined, /\|([^|\s]+@[^|\s]+)$/.exec(loginName ?? "")?.[1], id]
  return candidates.find((candidate) => typeof candidate === "string" && candidate !== "") ?? undefined
}
