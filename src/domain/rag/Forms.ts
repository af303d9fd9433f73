import { loopbackHostPattern } from "../HttpAddress.ts"

/** The form that a text must have. Rule and fix are complete phrases that never contain the offending value. */
export interface Form {
  /** Pattern without flags, so that editors check the same. */
  readonly pattern: RegExp
  readonly rule: string
  readonly fix?: string
}

/** The words of a rule for people: the rule, and its fix. */
export type Wording = Omit<Form, "pattern">

const segment = "[^/\\s]+"
const place = `projects/${segment}/locations/${segment}`

const resource = (forms: ReadonlyArray<string>, what: string): Form => ({
  pattern: new RegExp(`^(?:${forms.map((form) => form.replaceAll("*", segment)).join("|")})$`),
  rule: `must be the resource name of ${what}: ${
    forms.map((form) => form.replaceAll(place, "projects/{project}/locations/{location}").replaceAll("*", "{id}")).join(" or ")
  }`
})

export const featureViewForm = resource([`${place}/featureOnlineStores/*/featureViews/*`], "a feature view")

export const servingConfigForm = resource(
  [`${place}/collections/*/engines/*/servingConfigs/*`, `${place}/collections/*/dataStores/*/servingConfigs/*`],
  "a serving config"
)

/** Name of an index or an index endpoint; `vectorSearchInPlace` decides which of the two a field needs. */
export const vectorSearchForm = resource([`${place}/indexes/*`, `${place}/indexEndpoints/*`], "an index or an index endpoint")

export const processorForm = resource([`${place}/processors/*`, `${place}/processors/*/processorVersions/*`], "a document processor")

export const encryptionKeyForm = resource([`${place}/keyRings/*/cryptoKeys/*`], "a Cloud KMS key")

/** Name of an embedding model: in full, from `publishers/` or `endpoints/` on, or the bare name of a Google model. */
export const embeddingModelForm: Form = {
  pattern: new RegExp(`^(?:(?:${place}/)?(?:publishers/${segment}/models/${segment}|endpoints/${segment})|${segment})$`),
  rule: "must be the name of an embedding model, or an endpoint",
  fix:
    "write for example text-embedding-005, publishers/{publisher}/models/{model} or projects/{project}/locations/{location}/endpoints/{endpoint}"
}

/** Name of a schema that PostgreSQL accepts without quotes. */
export const schemaNameForm: Form = {
  pattern: /^[a-z_][a-z0-9_]{0,62}$/,
  rule: "must be a name of lower case letters, digits and underscores, at most 63 long"
}

export const httpUrlForm: Form = {
  pattern: /^https?:\/\/(?![^/?#]*@)[^\s/?#][^\s]*$/,
  rule: "must be an http:// or https:// address, with no user name or password in it"
}

/** Address of a remote repository. Plain http is for this machine only, and no address contains a user's password. */
export const gitUrlForm: Form = {
  pattern: new RegExp(
    `^(?:https:\\/\\/(?![^/?#]*@)|http:\\/\\/(?:${loopbackHostPattern})(?=[:/])|ssh:\\/\\/(?:[\\w.-]+@)?(?![^/?#]*@)(?!-))[^\\s?#\\\\]+$`
  ),
  rule: "must be an https:// or ssh:// address, or http:// on this machine, with no password in it",
  fix: "write for example https://github.com/acme/handbook.git"
}

/** What git accepts as the name of a branch or a tag (git-check-ref-format), or a commit's id. Never an option. */
export const gitRefForm: Form = {
  pattern: /^(?![-./])(?!.*(?:\.\.|\/\/|@\{|\.lock$|[./]$))[^\s~^:?*[\\\u0000-\u0020\u007f]+$/,
  rule: "must be the name of a branch or a tag, or a full commit id"
}

/** Address to which credentials are sent: plain http is for this machine only. */
export const endpointForm: Form = {
  pattern: new RegExp(`^(?:https:\\/\\/|http:\\/\\/(?:${loopbackHostPattern})(?=[:/]|$))(?![^/?#]*@)[^\\s?#\\\\]+$`),
  rule: "must be an https:// address, or http:// on this machine, with no user name or password in it"
}

/** Address of documents: objects, prefixes, web pages, files. */
export const storageUriForm: Form = {
  pattern: /^(?:gs|s3|https|file):\/\/(?![^/?#]*@)[^\s].*$/,
  rule: "must start with gs://, s3://, https:// or file://, with no user name or password in it"
}

/** The only kind of address that the hosted service imports from by itself. */
export const bucketUriForm: Form = {
  pattern: /^gs:\/\/[^/\s]+(?:\/.*)?$/,
  rule: "must be a gs:// bucket or prefix"
}

export const resultSinkForm: Form = {
  pattern: /^(?:gs:\/\/[^/\s]+\/\S+|bq:\/\/[^\s.]+\.[^\s.]+\.[^\s.]+)$/,
  rule: "must be a gs:// object or a bq:// table",
  fix: "write gs://bucket/path.ndjson or bq://project.dataset.table"
}

export const driveIdForm: Form = {
  pattern: /^[A-Za-z0-9_-]+$/,
  rule: "must be a Google Drive id",
  fix: "take the part after /folders/ or /d/ of the link"
}

export const channelIdForm: Form = {
  pattern: /^[A-Z0-9]+$/,
  rule: "must be a Slack channel id",
  fix: "write the id, such as C012AB3CD, not the channel's name"
}

export const instantForm: Form = {
  pattern:
    /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/,
  rule: "must be an RFC 3339 time with a zone",
  fix: "write for example 2026-01-01T00:00:00Z"
}

export const jiraServerForm: Form = {
  pattern: /^(?:https?:\/\/)?[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]+)?(?:\/[^\s?#@\\]*)?$/,
  rule: "must be the server's host name or https:// address",
  fix: "write for example acme.atlassian.net"
}

export const emailForm: Form = {
  pattern: /^[^\s@]+@[^\s@]+$/,
  rule: "must be the e-mail address of the account the token belongs to"
}

/** Text with something in it. */
/** A folder, or a prefix in object storage, without user name, password or parameters, which may contain keys. */
export const folderOrBucketForm: Form = {
  pattern: /^(?:(?:s3|gs|az):\/\/[^\s/?#@]+(?:\/[^?#@]*)?|file:\/\/\/[^?#]*|(?![A-Za-z][A-Za-z0-9+.-]+:\/\/)\s*\S.*)$/,
  rule: "must be a folder, or a place in object storage as s3://bucket/prefix, gs://bucket/prefix or az://container/prefix"
}

export const textForm: Form = { pattern: /\S/, rule: "must not be empty" }

/** The largest value of the API's `int32` fields. */
export const maxInt32 = 2_147_483_647

export const wholeNumberRule = (minimum: number, maximum: number): Wording => ({
  rule: maximum === maxInt32 ? `must be a whole number, ${minimum} or more` : `must be a whole number from ${minimum} to ${maximum}`
})

export const endTimeRule: Wording = { rule: "must be later than start" }
