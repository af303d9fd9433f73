import { Effect } from "effect"
import type { Permissions } from "../../src/domain/RagFile.ts"
import { type Failure, type Holder, type Issue, type JiraApi, LevelMembers, PermissionScheme, type Person, Role } from "./JiraApi.ts"

/** The readers that an issue's permissions name, independent of the issue. */
interface Audience {
  readonly public: boolean
  readonly principals: ReadonlyArray<string>
  /** Whether the issue's own reporter is among them. */
  readonly reporter: boolean
  /** Whether the issue's own assignee is among them. */
  readonly assignee: boolean
}

interface Visibility {
  /** Who may read an issue; undefined when Jira does not show this account who may browse the project. */
  readonly of: (issue: Issue) => Effect.Effect<Permissions | undefined, Failure>
}

const pageSize = 100

/**
 * Permissions of issues: a security level's members, otherwise those whom the project's permission scheme lets browse. Most accounts may
 * see neither. A hidden level then becomes a principal (`jira-level:{id}`), since an issue with a level must not be readable by everyone.
 * Requested once for each project and level.
 */
export const makeVisibility = (api: JiraApi): Visibility => {
  const known = new Map<string, Audience | undefined>()
  const once = Effect.fnUntraced(function*(key: string, ask: Effect.Effect<Audience, Failure>) {
    if (known.has(key)) return known.get(key)
    const found = yield* Effect.catchIf(ask, isHidden, () => Effect.undefined)
    known.set(key, found)
    return found
  })

  const audienceOf = Effect.fnUntraced(function*(project: string, holders: ReadonlyArray<Holder>): Effect.fn.Return<Audience, Failure> {
    const principals = yield* Effect.forEach(holders, (holder) => principalsOf(project, holder))
    const types = new Set(holders.map(({ type }) => type))
    return {
      // An application role is everyone who uses the product.
      public: types.has("anyone") || types.has("applicationRole"),
      principals: [...new Set(principals.flat())],
      reporter: types.has("reporter"),
      assignee: types.has("assignee")
    }
  })

  const principalsOf = (project: string, { group, parameter, type, user }: Holder): Effect.Effect<ReadonlyArray<string>, Failure> => {
    switch (type) {
      case "user":
        return Effect.succeed([personPrincipal(user ?? { accountId: parameter ?? null })])
      case "group":
        return Effect.succeed([groupPrincipal(group?.name ?? parameter ?? "")])
      case "projectRole":
        return api.get(
          `role ${parameter} of ${project}`,
          `/rest/api/2/project/${encodeURIComponent(project)}/role/${encodeURIComponent(parameter ?? "")}`,
          {},
          Role
        ).pipe(
          Effect.map(({ actors }) =>
            (actors ?? []).map(({ actorGroup, actorUser, name, type }) =>
              /group/.test(type ?? "")
                ? groupPrincipal(actorGroup?.name ?? name ?? "")
                : personPrincipal(actorUser ?? { name: name ?? null })
            )
          ),
          Effect.catchIf(isHidden, () => Effect.succeed([]))
        )
      default:
        return Effect.succeed([])
    }
  }

  const browse = (project: string) =>
    once(
      `project ${project}`,
      Effect.gen(function*() {
        const path = `/rest/api/2/project/${encodeURIComponent(project)}/permissionscheme`
        const { permissions } = yield* api.get(`permissions of ${project}`, path, { expand: "all" }, PermissionScheme)
        return yield* audienceOf(
          project,
          (permissions ?? []).flatMap(({ holder, permission }) => permission === "BROWSE_PROJECTS" ? [holder] : [])
        )
      })
    )

  const members = (project: string, level: string) =>
    once(
      `level ${level} in ${project}`,
      Effect.gen(function*() {
        const holders: Array<Holder> = []
        for (let last = false; !last;) {
          const page = yield* api.get(`members of security level ${level}`, "/rest/api/3/issuesecurityschemes/level/member", {
            levelId: level,
            startAt: String(holders.length),
            maxResults: String(pageSize),
            expand: "all"
          }, LevelMembers)
          holders.push(...page.values.map(({ holder }) => holder))
          last = page.isLast !== false || page.values.length === 0
        }
        return yield* audienceOf(project, holders)
      })
    )

  return {
    of: Effect.fnUntraced(function*({ fields }) {
      const { assignee, project, reporter, security } = fields
      const level = security === null || security === undefined ? undefined : String(security.id)
      const audience = level === undefined ? yield* browse(project.key) : yield* members(project.key, level)
      if (audience === undefined) return level === undefined ? undefined : { public: false, principals: [`jira-level:${level}`] }
      const own = [audience.reporter ? reporter : undefined, audience.assignee ? assignee : undefined]
      return {
        public: audience.public,
        principals: [
          ...new Set([
            ...audience.principals,
            ...own.flatMap((person) => person === null || person === undefined ? [] : [personPrincipal(person)])
          ])
        ].toSorted()
      }
    })
  }
}

const groupPrincipal = (name: string): string => `group:${name.toLowerCase()}`

/** A person's principal: the email address where Jira shows it, otherwise Jira's own id. */
const personPrincipal = ({ accountId, emailAddress, name }: Person): string =>
  (typeof emailAddress === "string" && emailAddress !== "" ? `user:${emailAddress}` : `jira:${accountId ?? name ?? "unknown"}`)
    .toLowerCase()

/** Whether the error means that only administrators may see this. */
const isHidden = (error: Failure): boolean =>
  error._tag === "ServiceError" && (error.code === "PERMISSION_DENIED" || error.code === "NOT_FOUND" || error.code === "UNAUTHENTICATED")
