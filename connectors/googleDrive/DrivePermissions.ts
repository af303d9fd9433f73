import { Clock, Effect } from "effect"
import type { ServiceError } from "../../src/domain/Errors.ts"
import type { Permissions } from "../../src/domain/RagFile.ts"
import type { DriveApi } from "./DriveApi.ts"
import type { DriveFile, DrivePermission } from "./DriveFile.ts"

/**
 * Who may read files. Shared drives name grants by id only; each grant is looked up once, with all of the first file
 * that has it. What the account may not know grants nobody but the owners.
 */
export const permissionReader = (api: DriveApi) => {
  const grants = new Map<string, DrivePermission>()

  const grantsOf = Effect.fnUntraced(function*(file: DriveFile): Effect.fn.Return<ReadonlyArray<DrivePermission>, ServiceError> {
    if (file.permissions !== undefined) return file.permissions
    const ids = file.permissionIds ?? []
    const known = ids.flatMap((id) => grants.get(id) ?? [])
    if (known.length === ids.length && ids.length > 0) return known
    const found = yield* api.permissions(file.id).pipe(
      Effect.catchIf(({ code }) => code === "PERMISSION_DENIED" || code === "NOT_FOUND", () => Effect.succeed(known))
    )
    for (const permission of found) if (permission.expirationTime === undefined) grants.set(permission.id, permission)
    return found
  })

  return Effect.fnUntraced(function*(file: DriveFile): Effect.fn.Return<Permissions, ServiceError> {
    const now = yield* Clock.currentTimeMillis
    const valid = (yield* grantsOf(file)).filter(({ deleted, expirationTime, view }) =>
      deleted !== true && view === undefined && !(expirationTime !== undefined && Date.parse(expirationTime) <= now)
    )
    const principals = new Set([
      ...valid.flatMap(principalOf),
      ...(file.owners ?? []).flatMap(({ emailAddress }) => emailAddress === undefined ? [] : [`user:${emailAddress.toLowerCase()}`])
    ])
    return { public: valid.some(({ type }) => type === "anyone"), principals: [...principals].toSorted() }
  })
}

const principalOf = ({ domain, emailAddress, type }: DrivePermission): ReadonlyArray<string> => {
  if ((type === "user" || type === "group") && emailAddress !== undefined) return [`${type}:${emailAddress.toLowerCase()}`]
  return type === "domain" && domain !== undefined ? [`domain:${domain.toLowerCase()}`] : []
}
