import { Schema } from "effect"

/** Jira leaves out or nulls what does not apply, as fields differ by project. */
const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const text = maybe(Schema.String)
const Named = Schema.Struct({ name: Schema.String })
/** Numbers on some servers, strings on most. */
const Id = Schema.Union([Schema.String, Schema.Finite])

export const Person = Schema.Struct({ displayName: text, emailAddress: text, accountId: text, name: text })
export type Person = typeof Person.Type

export const Comment = Schema.Struct({
  id: Schema.String,
  author: maybe(Person),
  /** ADF on Cloud, wiki markup on Server. */
  body: maybe(Schema.Unknown),
  created: text,
  updated: text
})
export type Comment = typeof Comment.Type

export const Attachment = Schema.Struct({
  id: Schema.String,
  filename: Schema.String,
  size: maybe(Schema.Finite),
  mimeType: text,
  created: text,
  author: maybe(Person)
})
export type Attachment = typeof Attachment.Type

export const Issue = Schema.Struct({
  id: Schema.String,
  key: Schema.String.check(Schema.isPattern(/^[^/\s]+-\d+$/)),
  fields: Schema.Struct({
    summary: text,
    description: maybe(Schema.Unknown),
    project: Schema.Struct({ key: Schema.String, name: text }),
    status: maybe(Named),
    issuetype: maybe(Named),
    priority: maybe(Named),
    resolution: maybe(Named),
    labels: maybe(Schema.Array(Schema.String)),
    components: maybe(Schema.Array(Named)),
    fixVersions: maybe(Schema.Array(Named)),
    assignee: maybe(Person),
    reporter: maybe(Person),
    created: text,
    updated: Schema.String,
    duedate: text,
    parent: maybe(Schema.Struct({ key: Schema.String, fields: maybe(Schema.Struct({ summary: text })) })),
    security: maybe(Schema.Struct({ id: Id, name: text })),
    attachment: maybe(Schema.Array(Attachment)),
    comment: maybe(Schema.Struct({ total: maybe(Schema.Finite), comments: maybe(Schema.Array(Comment)) }))
  })
})
export type Issue = typeof Issue.Type

/** The fields that say what an issue is. */
export const factFields = [
  "summary",
  "project",
  "status",
  "issuetype",
  "priority",
  "resolution",
  "labels",
  "components",
  "fixVersions",
  "assignee",
  "reporter",
  "created",
  "updated",
  "duedate",
  "parent"
]

/** Cloud pages by token, Server by number. */
export const Found = Schema.Struct({
  issues: Schema.Array(Schema.Unknown),
  nextPageToken: text,
  isLast: maybe(Schema.Boolean),
  total: maybe(Schema.Finite)
})

export const Comments = Schema.Struct({ comments: Schema.Array(Comment), total: Schema.Finite })
export const ServerInfo = Schema.Struct({ deploymentType: text })
export const Project = Schema.Struct({ key: Schema.String })

/** Who a permission or a security level is for. */
export const Holder = Schema.Struct({
  type: Schema.String,
  parameter: text,
  user: maybe(Person),
  group: maybe(Named)
})
export type Holder = typeof Holder.Type

export const PermissionScheme = Schema.Struct({
  permissions: maybe(Schema.Array(Schema.Struct({ permission: Schema.String, holder: Holder })))
})
export const LevelMembers = Schema.Struct({
  values: Schema.Array(Schema.Struct({ holder: Holder })),
  isLast: maybe(Schema.Boolean)
})
export const Role = Schema.Struct({
  actors: maybe(Schema.Array(Schema.Struct({
    type: text,
    name: text,
    actorUser: maybe(Person),
    actorGroup: maybe(Named)
  })))
})
