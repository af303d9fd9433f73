import { Schema } from "effect"

/** Slack leaves out, and now and then nulls, what does not apply. */
const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const text = maybe(Schema.String)
const Timestamp = Schema.String.check(Schema.isPattern(/^\d{1,11}\.\d{1,6}$/))
const paging = { response_metadata: maybe(Schema.Struct({ next_cursor: text })) }

export const File = Schema.Struct({
  id: Schema.String,
  name: text,
  title: text,
  mimetype: text,
  filetype: text,
  /** `hosted`, `snippet`, `external`, `tombstone`, `hidden_by_limit`, … */
  mode: text,
  is_external: maybe(Schema.Boolean),
  /** `check_file_info`: known by its id alone, as files of other workspaces are. */
  file_access: text,
  size: maybe(Schema.Finite),
  created: maybe(Schema.Finite),
  timestamp: maybe(Schema.Finite),
  updated: maybe(Schema.Finite),
  user: text,
  permalink: text,
  url_private: text,
  url_private_download: text
})
export type File = typeof File.Type

/** What apps and link previews add to a message. */
export const Attachment = Schema.Struct({
  pretext: text,
  author_name: text,
  title: text,
  title_link: text,
  text,
  fallback: text,
  fields: maybe(Schema.Array(Schema.Struct({ title: text, value: text })))
})
export type Attachment = typeof Attachment.Type

export const Message = Schema.Struct({
  ts: Timestamp,
  subtype: text,
  hidden: maybe(Schema.Boolean),
  user: text,
  bot_id: text,
  username: text,
  bot_profile: maybe(Schema.Struct({ name: text })),
  text,
  thread_ts: maybe(Timestamp),
  reply_count: maybe(Schema.Finite),
  edited: maybe(Schema.Struct({ ts: text })),
  attachments: maybe(Schema.Array(Attachment)),
  blocks: maybe(Schema.Array(Schema.Unknown)),
  files: maybe(Schema.Array(File))
})
export type Message = typeof Message.Type

export const Messages = Schema.Struct({
  messages: Schema.Array(Message),
  has_more: maybe(Schema.Boolean),
  ...paging
})

const Profile = Schema.Struct({ display_name: text, real_name: text, email: text })

export const User = Schema.Struct({ id: Schema.String, name: text, real_name: text, profile: maybe(Profile) })
export type User = typeof User.Type

export const UserInfo = Schema.Struct({ user: User })
export const UserList = Schema.Struct({ members: Schema.Array(User), ...paging })

export const ChannelInfo = Schema.Struct({
  channel: Schema.Struct({
    id: Schema.String,
    name: text,
    is_private: maybe(Schema.Boolean),
    is_im: maybe(Schema.Boolean),
    is_mpim: maybe(Schema.Boolean)
  })
})

export const MemberList = Schema.Struct({ members: Schema.Array(Schema.String), ...paging })
export const FileInfo = Schema.Struct({ file: File })
export const AuthTest = Schema.Struct({ url: Schema.String, team_id: Schema.String })
