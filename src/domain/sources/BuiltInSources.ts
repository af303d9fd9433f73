import { Schema, SchemaTransformation } from "effect"
import {
  bucketUriForm,
  channelIdForm,
  driveIdForm,
  emailForm,
  endTimeRule,
  gitRefForm,
  gitUrlForm,
  instantForm,
  jiraServerForm
} from "../rag/Forms.ts"
import { Endpoint, HttpUrl, SecretName, StorageUri } from "../settings/Names.ts"
import { ByteSize, DurationText } from "../settings/Quantities.ts"
import { atLeastOne, atMostOne, earlyRule, exactlyOne, glob, hasForm, integer, listOf, rule, text, withDefault } from "../settings/Rules.ts"

/** How often a source is listed by `watch`. Every source has it. */
export const poll = Schema.optionalKey(
  DurationText.pipe(
    Schema.annotateEncoded({
      description: "How often `sluice watch` lists the source, for example 15m. Unset: 5m, or 1h for a source that the service lists."
    })
  )
)

const flag = (description: string) => withDefault(Schema.Boolean.annotate({ description, default: false }), false)

const maxFileSize = Schema.optionalKey(ByteSize.pipe(
  Schema.annotateEncoded({ description: "Larger files are skipped: bytes, or with a unit such as 25MB." })
))

/** Where a hosted engine fetches the source's files from. Every source that Sluice reads has it. */
export const staging = Schema.optionalKey(
  hasForm(bucketUriForm).annotate({
    description: "gs://bucket/prefix to copy files to, so that a hosted engine imports them in batches instead of one upload each."
  })
)

const listing = Schema.optionalKey(
  Schema.Literals(["sluice", "service"]).annotate({
    description:
      "Which side lists the source for a hosted engine. sluice: Sluice lists it and stores what it reads, so that names, moves and deletes are followed; without access the run fails. service: the service imports all of it itself, and deletes are not followed. Unset: Sluice where its credentials allow, otherwise the service. When this changes, the files stored by one side are replaced by those of the other."
  })
)

/** A rule for settings that only Sluice's own connectors support. */
const oursAlone = (...fields: ReadonlyArray<string>) =>
  earlyRule((source) => {
    const given = fields.find((field) => field in source)
    return given === undefined || !("listing" in source) || source.listing !== "service"
      ? []
      : [{ path: ["listing"], issue: `cannot be service together with ${given}, which the service does not know` }]
  })

/** Addresses that secrets of sources are sent to, unless another one is given. */
export const slackAddress = "https://slack.com/api"
export const microsoftLogin = "https://login.microsoftonline.com"

const endpoint = (what: string) =>
  Schema.optionalKey(Endpoint.annotate({ description: `Another address of ${what}, such as your own proxy. Unset: its own address.` }))

const Local = Schema.Struct({
  path: text.annotate({ description: "A folder or a file, relative to the folder of the pipeline file." }),
  include: listOf(glob, "Glob patterns of the files to take, relative to path. Empty: every file."),
  exclude: listOf(glob, "Glob patterns of files to leave out."),
  ignoreFile: Schema.optionalKey(text.annotate({
    description: "Name of files with .gitignore-style rules, looked for in every folder. Unset: .sluiceignore."
  })),
  hidden: flag("Take files and folders whose names start with a dot."),
  followLinks: flag("Follow symbolic links that stay inside path."),
  staging,
  maxFileSize,
  poll
}).annotate({ description: "A folder on this machine." })

const S3 = Schema.Struct({
  region: Schema.optionalKey(
    text.annotate({
      description: "Region of the buckets; buckets in other regions are found too. Unset: AWS_REGION, AWS_DEFAULT_REGION, else us-east-1."
    })
  ),
  endpoint: Schema.optionalKey(
    HttpUrl.annotate({
      description:
        "Address of a service with the S3 API, with buckets in the path. Unset: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, else Amazon's."
    })
  ),
  unsigned: flag("Send no signature, for public buckets. Otherwise AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY sign."),
  requesterPays: flag("Agree to pay for reading requester-pays buckets.")
})

const Storage = Schema.Struct({
  uris: Schema.Array(StorageUri).check(
    rule<ReadonlyArray<string>>((uris) => uris.length > 0, { rule: "needs at least one address" }, { minItems: 1 })
  ).annotate({
    description:
      "gs://, s3://, https:// or file:// addresses: of one object, or, ending in / or *, of everything with that prefix. An address that is not an object's is taken as a folder."
  }),
  maxFileSize,
  userProject: Schema.optionalKey(text.annotate({ description: "The project that pays for reading requester-pays gs:// buckets." })),
  s3: Schema.optionalKey(S3.annotate({ description: "How to reach s3:// addresses. Unset: as the AWS environment variables say." })),
  poll
}).annotate({ description: "Object storage, or pages by address." })

const driveId = hasForm(driveIdForm)

const GoogleDrive = Schema.Struct({
  folders: listOf(driveId, "Ids of folders, taken with everything in them. That of a shared drive is the id of its top folder."),
  files: listOf(driveId, "Ids of single files."),
  maxFileSize,
  endpoint: endpoint("the Drive API"),
  listing,
  staging,
  poll
}).check(atLeastOne(["folders", "files"]), oursAlone("endpoint", "maxFileSize", "staging")).annotate({
  description: "Google Drive folders and files."
})

const instant = (description: string) =>
  Schema.optionalKey(
    hasForm(instantForm).annotate({ description })
  )

const Channel = Schema.Struct({
  id: hasForm(channelIdForm).annotate({ description: "Channel id, for example C012AB3CD." }),
  start: instant(
    "Messages from this time on, RFC 3339. Replies belong to the thread they are in: a thread that began before is left out, except for replies that were sent to the channel too."
  ),
  end: instant("Messages before this time, RFC 3339.")
}).check(
  earlyRule(({ end, start }: { start?: unknown; end?: unknown }) =>
    typeof start !== "string" || typeof end !== "string" || !(Date.parse(start) >= Date.parse(end))
      ? []
      : [{ path: ["end"], issue: endTimeRule.rule }]
  )
)

const Slack = Schema.Struct({
  channels: Schema.Array(Channel).check(
    rule<ReadonlyArray<unknown>>(
      (channels) => channels.length > 0,
      { rule: "needs at least one channel" },
      { minItems: 1 }
    )
  ).annotate({ description: "The channels to read, each once." }),
  token: SecretName.annotate({
    description:
      "The name of a secret version, never the secret itself. It contains a bot or user token with the scopes channels:history, channels:read, users:read and files:read; for private channels groups:history, groups:read and users:read.email too. With usergroups:read, mentioned groups have their names."
  }),
  endpoint: endpoint("Slack's Web API"),
  listing,
  staging,
  poll
}).check(oursAlone("endpoint", "staging")).annotate({ description: "Slack channels." })

const Jira = Schema.Struct({
  server: hasForm(jiraServerForm).annotate({
    description: "The server, for example acme.atlassian.net: a host name, or an address with a context path."
  }),
  email: hasForm(emailForm).annotate({
    description: "E-mail address of the account the token belongs to; on your own server, it is used as the user name."
  }),
  projects: listOf(text, "Keys of projects, taken whole."),
  queries: listOf(text, "JQL queries. Their ORDER BY is not kept."),
  token: SecretName,
  listing,
  staging,
  poll
}).check(atLeastOne(["projects", "queries"]), oursAlone("staging")).annotate({ description: "Jira issues." })

const sharePointFields = {
  site: text.annotate({ description: "The site: its name, host:/sites/path, its address, or its id." }),
  clientId: text.annotate({ description: "Application (client) id." }),
  tenantId: text.annotate({ description: "Directory (tenant) id." }),
  clientSecret: SecretName,
  maxFileSize,
  endpoint: endpoint("Microsoft Graph, with its version,"),
  loginEndpoint: endpoint("Microsoft's sign-in"),
  listing,
  staging,
  poll
}

const SharePoint = Schema.Struct({
  ...sharePointFields,
  drive: Schema.optionalKey(text.annotate({ description: "Name of the document library. This or driveId." })),
  driveId: Schema.optionalKey(text.annotate({ description: "Id of the document library. This or drive." })),
  folderPath: Schema.optionalKey(
    text.annotate({
      description: "Path of a folder. This or folderId, or neither for the whole library, and with the site's default library its pages."
    })
  ),
  folderId: Schema.optionalKey(text.annotate({ description: "Id of a folder. This or folderPath." }))
}).check(
  exactlyOne(["drive", "driveId"]),
  atMostOne(["folderPath", "folderId"]),
  oursAlone("endpoint", "loginEndpoint", "maxFileSize", "staging")
)
  .annotate({ description: "A SharePoint document library." })
  .pipe(Schema.decodeTo(
    Schema.toType(Schema.Struct({
      ...sharePointFields,
      drive: Schema.Union([Schema.Struct({ name: Schema.String }), Schema.Struct({ id: Schema.String })]),
      folder: Schema.optionalKey(
        Schema.Union([Schema.Struct({ path: Schema.String }), Schema.Struct({ id: Schema.String })])
      )
    })),
    SchemaTransformation.transform({
      decode: ({ drive, driveId, folderId, folderPath, ...rest }) => ({
        ...rest,
        drive: driveId === undefined ? { name: drive ?? "" } : { id: driveId },
        ...(folderPath === undefined ? {} : { folder: { path: folderPath } }),
        ...(folderId === undefined ? {} : { folder: { id: folderId } })
      }),
      encode: ({ drive, folder, ...rest }) => ({
        ...rest,
        ...("id" in drive ? { driveId: drive.id } : { drive: drive.name }),
        ...(folder === undefined ? {} : "id" in folder ? { folderId: folder.id } : { folderPath: folder.path })
      })
    })
  ))

const Git = Schema.Struct({
  url: Schema.optionalKey(
    hasForm(gitUrlForm).annotate({ description: "Address of a remote repository, https:// or ssh://. This or path." })
  ),
  path: Schema.optionalKey(
    text.annotate({ description: "Folder of a repository on this machine, relative to the folder of the pipeline file. This or url." })
  ),
  ref: Schema.optionalKey(hasForm(gitRefForm).annotate({ description: "A branch, a tag or a full commit id. Unset: HEAD." })),
  paths: listOf(glob, "Glob patterns of the files to take, relative to the repository. Empty: every file."),
  exclude: listOf(glob, "Glob patterns of files to leave out."),
  token: Schema.optionalKey(SecretName),
  user: withDefault(
    text.annotate({
      description:
        "User name that goes with the token: oauth2 for GitLab, x-token-auth for Bitbucket. Unset: x-access-token, which GitHub expects.",
      default: "x-access-token"
    }),
    "x-access-token"
  ),
  timeout: Schema.optionalKey(
    DurationText.pipe(Schema.annotateEncoded({ description: "Longest time for fetching from the remote. Unset: 10m." }))
  ),
  staging,
  maxFileSize,
  poll
}).check(
  exactlyOne(["url", "path"]),
  earlyRule((source) =>
    "token" in source && !("url" in source && typeof source.url === "string" && /^https?:/.test(source.url))
      ? [{ path: ["token"], issue: "goes with an https:// url only" }]
      : []
  )
).annotate({ description: "The files of a git repository, at a ref." })

const bounded = (minimum: number, maximum: number, initial: number, description: string) =>
  withDefault(integer(minimum, maximum).annotate({ description, default: initial }), initial)

const Web = Schema.Struct({
  url: HttpUrl.annotate({ description: "Where the crawl starts. Only pages of this host, under this address's folder, are included." }),
  sitemap: Schema.optionalKey(
    Schema.Union([Schema.Boolean, HttpUrl]).annotate({
      description: "true: use the site's sitemaps (from robots.txt, else /sitemap.xml) instead of following links. Or a sitemap's address."
    })
  ),
  include: listOf(
    glob,
    "Glob patterns of the pages to include, matched with the path of their address without the first /. Links on other pages are still followed. Empty: every page."
  ),
  exclude: listOf(glob, "Glob patterns of pages to leave out, and whose links are not followed."),
  maxPages: bounded(1, 50_000, 1_000, "The most pages that are fetched."),
  maxDepth: bounded(0, 100, 10, "The most links between the first page and another."),
  requestsPerSecond: bounded(1, 100, 2, "The most requests in a second. A longer crawl delay of robots.txt is kept too."),
  concurrency: bounded(1, 16, 2, "The most requests under way at once."),
  privateHosts: listOf(
    text,
    "Names or addresses of hosts that may be reached in a private network or on this machine. Empty: public addresses only."
  ),
  staging,
  maxFileSize,
  poll
}).annotate({ description: "The pages of a web site, and the documents it links, as robots.txt allows." })

/** Schemas of the built-in sources' settings, by the key a pipeline file uses. */
export const builtInSources = {
  local: Local,
  storage: Storage,
  googleDrive: GoogleDrive,
  slack: Slack,
  jira: Jira,
  sharePoint: SharePoint,
  git: Git,
  web: Web
}
export type BuiltInKind = keyof typeof builtInSources

/** Settings of a source of one kind, with every default filled in: the input of its connector. */
export type SettingsOf<K extends BuiltInKind> = (typeof builtInSources)[K]["Type"]

/** A source with every default filled in. */
export type BuiltInSource = { [K in BuiltInKind]: { readonly _tag: K } & SettingsOf<K> }[BuiltInKind]
