import { Effect, Option, Stream } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { Permissions } from "../../src/domain/RagFile.ts"
import type { Names } from "./Mrkdwn.ts"
import { AuthTest, ChannelInfo, type Failure, GroupList, MemberList, type SlackApi, type User, UserInfo, UserList } from "./SlackApi.ts"

export interface ChannelFacts {
  readonly id: string
  /** The channel's name as `channelTitle` returns it: `#general`. */
  readonly name: string
  readonly permissions: Permissions
}

/** Looks up ids. People and names are requested once and cached; members are not, since permissions depend on them. */
export interface Directory {
  /** Address of the workspace, with a `/` at the end, and its id. */
  readonly workspace: Effect.Effect<{ readonly url: string; readonly teamId: string }, Failure>
  readonly channel: (id: string) => Effect.Effect<ChannelFacts, Failure>
  readonly userName: (id: string) => Effect.Effect<string, Failure>
  /** The names of all these ids; an unknown id is its own name. */
  readonly names: (ids: { readonly [K in "users" | "channels" | "groups"]: ReadonlySet<string> }) => Effect.Effect<Names, Failure>
}

/** How long people and names are cached. */
const ttl = "30 minutes"

export const makeDirectory = Effect.fnUntraced(function*(api: SlackApi): Effect.fn.Return<Directory> {
  const kept = <A>(ask: Effect.Effect<A, Failure>) =>
    Effect.map(Effect.cachedInvalidateWithTTL(ask, ttl), ([cached, forget]) => Effect.tapError(cached, () => forget))

  const workspace = yield* kept(Effect.map(api.call("auth.test", "", {}, AuthTest), ({ team_id, url }) => ({
    url: url.endsWith("/") ? url : `${url}/`,
    teamId: team_id
  })))

  const people = yield* kept(
    pages((cursor) => Effect.map(api.call("users.list", "", { limit: "500", cursor }, UserList), (page) => [page.members, page] as const))
      .pipe(
        Stream.runFold(() => new Map<string, Person>(), (map, user) => map.set(user.id, personOf(user)))
      )
  )

  // People of other workspaces are not in the list.
  const person = Effect.fnUntraced(function*(id: string) {
    const known = yield* people
    const found = known.get(id)
    if (found !== undefined) return found
    const asked = yield* orUndefined(api.call("users.info", id, { user: id }, UserInfo))
    const stranger = asked === undefined ? { name: id } : personOf(asked.user)
    known.set(id, stranger)
    return stranger
  })

  const info = (id: string) => Effect.map(api.call("conversations.info", id, { channel: id }, ChannelInfo), ({ channel }) => channel)

  const channelNames = new Map<string, string>()
  const channelName = Effect.fnUntraced(function*(id: string) {
    const known = channelNames.get(id)
    if (known !== undefined) return known
    const name = (yield* orUndefined(info(id)))?.name ?? id
    channelNames.set(id, name)
    return name
  })

  /** Names of groups of people; undefined for a token without the scope usergroups:read. */
  const groupNames = yield* kept(orUndefined(
    Effect.map(
      api.call("usergroups.list", "", { include_disabled: "true" }, GroupList),
      ({ usergroups }) => new Map(usergroups.map(({ handle, id, name }) => [id, handle || name || id]))
    )
  ))

  /** A person's principal: `user:` and the email address; without one, or without the scope to see it, Slack's own id. */
  const principal = (id: string, teamId: string) =>
    Effect.map(person(id), ({ email }) => (email === undefined ? `slack:${teamId}/${id}` : `user:${email}`).toLowerCase())

  const members = (id: string) =>
    pages((cursor) =>
      Effect.map(
        api.call("conversations.members", id, { channel: id, limit: "500", cursor }, MemberList),
        (page) => [page.members, page] as const
      )
    ).pipe(Stream.runCollect)

  return {
    workspace,
    channel: Effect.fn("slack.channel")(function*(id) {
      const channel = yield* info(id)
      const bare = channel.name ?? id
      channelNames.set(id, bare)
      const name = channelTitle(id, bare)
      if (channel.is_private !== true && channel.is_im !== true && channel.is_mpim !== true) {
        return { id, name, permissions: { public: true, principals: [] } }
      }
      const { teamId } = yield* workspace
      const principals = yield* Effect.forEach(yield* members(id), (member) => principal(member, teamId))
      return { id, name, permissions: { public: false, principals: principals.toSorted() } }
    }),
    userName: (id) => Effect.map(person(id), ({ name }) => name),
    names: Effect.fnUntraced(function*({ channels, groups, users }) {
      const userNames = new Map<string, string>()
      for (const id of users) userNames.set(id, (yield* person(id)).name)
      const ofChannels = new Map<string, string>()
      for (const id of channels) ofChannels.set(id, yield* channelName(id))
      const ofGroups = groups.size === 0 ? undefined : yield* groupNames
      return {
        user: (id) => userNames.get(id) ?? id,
        channel: (id) => ofChannels.get(id) ?? id,
        group: (id) => ofGroups?.get(id) ?? id
      }
    })
  }
})

/** The title of a channel, `#general`; for a conversation without a name, its id. */
export const channelTitle = (id: string, name: string): string => name === id ? id : `#${name}`

interface Person {
  readonly name: string
  readonly email?: string
}

const personOf = ({ id, name, profile, real_name }: User): Person => {
  const names = [profile?.display_name, profile?.real_name, real_name, name]
  const email = profile?.email?.toLowerCase() ?? ""
  return { name: names.find((each) => typeof each === "string" && each !== "") ?? id, ...(email === "" ? {} : { email }) }
}

/** The items of all pages of a list. */
const pages = <A>(
  ask: (cursor: string | undefined) => Effect.Effect<
    readonly [ReadonlyArray<A>, { readonly response_metadata?: { readonly next_cursor?: string | null } | null }],
    Failure
  >
): Stream.Stream<A, Failure> =>
  Stream.paginate<string | undefined, A, Failure>(undefined, (cursor) =>
    Effect.flatMap(ask(cursor), ([found, page]) => {
      const next = page.response_metadata?.next_cursor ?? ""
      if (next !== "" && next === cursor) return Effect.fail(ServiceError.internal("a list of Slack's goes round in circles"))
      return Effect.succeed([found, next === "" ? Option.none() : Option.some<string | undefined>(next)] as const)
    }))

/** Undefined where the item is unknown, or invisible to this token. */
const orUndefined = <A>(effect: Effect.Effect<A, Failure>): Effect.Effect<A | undefined, Failure> =>
  Effect.catchIf(
    effect,
    (error) =>
      error._tag === "ServiceError" &&
      (error.code === "NOT_FOUND" || error.code === "PERMISSION_DENIED" || error.code === "FAILED_PRECONDITION"),
    () => Effect.undefined
  )
