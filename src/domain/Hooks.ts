import { Duration, Schema } from "effect"
import { isLoopbackHost, loopbackHostPattern } from "./HttpAddress.ts"
import type { Form } from "./rag/Forms.ts"
import { SecretName } from "./settings/Names.ts"
import { oneOf } from "./settings/OneOf.ts"
import { DurationText } from "./settings/Quantities.ts"
import { exactlyOne, hasForm, matches, rule, text, withDefault } from "./settings/Rules.ts"

const notEmpty = rule<ReadonlyArray<unknown>>((list) => list.length > 0, { rule: "must name at least one" }, { minItems: 1 })

const told = {
  sources: Schema.optionalKey(
    Schema.Array(text).check(notEmpty).annotate({
      description: "The sources that a notice is about, which are then listed. Default: all of the pipeline's."
    })
  )
}

const secret = SecretName.annotate({
  description:
    "The secret version of the key or token that the sender signs with or sends along: projects/{project}/secrets/{secret}/versions/{number or latest}."
})

const branch = Schema.optionalKey(
  text.annotate({ description: "Only pushes to this branch start a run. Default: any push." })
)

const PubSub = Schema.Struct({
  audience: Schema.optionalKey(
    text.annotate({ description: "The audience that the push subscription's tokens are for; the subscription has authentication on." })
  ),
  serviceAccount: Schema.optionalKey(
    Schema.String.check(
      matches(/^[^\s@]+@[^\s@]+$/, { rule: "must be the address of a service account: push@project.iam.gserviceaccount.com" })
    )
      .annotate({ description: "The service account that the subscription pushes as." })
  ),
  token: Schema.optionalKey(SecretName.annotate({
    description: "Instead of authentication: the secret version of a token that the push address carries, as ?token=…"
  })),
  ...told
}).check(
  rule<{ readonly audience?: string; readonly serviceAccount?: string; readonly token?: string }>(
    ({ audience, serviceAccount, token }) =>
      token === undefined ? audience !== undefined && serviceAccount !== undefined : audience === undefined && serviceAccount === undefined,
    {
      rule: "must have audience and serviceAccount, or token",
      fix: "turn authentication on in the push subscription, and name its audience and its service account"
    }
  )
).annotate({ description: "A push subscription of Google Cloud Pub/Sub, such as one of a bucket's notifications." })

const Sns = Schema.Struct({
  topic: Schema.String.check(
    matches(/^arn:aws(?:-cn|-us-gov)?:sns:[a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}:\d{12}:[A-Za-z0-9_-]{1,256}$/, {
      rule: "must be the ARN of a topic: arn:aws:sns:us-east-1:123456789012:docs"
    })
  ).annotate({ description: "The ARN of the topic; notices of other topics are refused. Its subscription to this server is confirmed." }),
  ...told
}).annotate({ description: "A topic of Amazon SNS, such as one of a bucket's events, with a subscription over HTTPS." })

/** Address of Amazon SNS for a topic. */
export const topicOrigin = (topic: string): string => {
  const [, partition = "", , region = ""] = topic.split(":")
  return `https://sns.${region}.amazonaws.com${partition === "aws-cn" ? ".cn" : ""}`
}

/** Setting of who sends notices that start runs, and how the sender is authenticated. */
export const HookSettings = oneOf({
  bare: [],
  description: "Who sends the notices: exactly one kind.",
  cases: {
    pubSub: PubSub,
    sns: Sns,
    token: Schema.Struct({
      secret,
      header: withDefault(
        Schema.String.check(matches(/^[A-Za-z0-9-]{1,64}$/, { rule: "must be the name of a header: letters, digits and hyphens" }))
          .annotate({
            description: "The header that carries it. Default Authorization, as a bearer token."
          }),
        "Authorization"
      ),
      ...told
    }).annotate({
      description: "Any sender that can set a header: EventBridge (for S3), a storage gateway, a job, curl."
    }),
    googleDrive: Schema.Struct({ secret, ...told }).annotate({
      description: "A push channel of Google Drive: its token comes back in X-Goog-Channel-Token."
    }),
    microsoftGraph: Schema.Struct({ secret, ...told }).annotate({
      description:
        "A subscription of Microsoft Graph, such as one of a SharePoint library: its clientState comes back in every notification."
    }),
    gitHub: Schema.Struct({ secret, branch, ...told }).annotate({
      description:
        "A webhook of GitHub, or of Gitea, Forgejo or Bitbucket, which sign alike: the body's HMAC-SHA256 in X-Hub-Signature-256."
    }),
    gitLab: Schema.Struct({ secret, branch, ...told }).annotate({
      description:
        "A webhook of GitLab: signed with its signing token, as in Standard Webhooks, or with its secret token in X-Gitlab-Token."
    })
  }
})
export type HookSettings = typeof HookSettings.Type

/** Addresses of recipients often contain a key in their query. */
const recipientForm: Form = {
  pattern: new RegExp(`^(?:https:\\/\\/|http:\\/\\/(?:${loopbackHostPattern})(?=[:/?]|$))(?![^/?]*@)[^\\s#\\\\]+$`),
  rule: "must be an https:// address, or http:// on this machine, with no user name or password in it"
}

/** When to notify of a run: it changed the corpus; it failed, or something in it failed or was held; always. */
const Occasion = Schema.Literals(["changed", "failed", "always"])

const notifyFields = {
  url: Schema.optionalKey(
    hasForm(recipientForm).annotate({
      description: "The report is posted there as JSON. Public addresses only, and this machine's own, unless `private` is true."
    })
  ),
  command: Schema.optionalKey(
    Schema.Array(text).check(notEmpty).annotate({
      description: "A program and its arguments, run without a shell: the report comes on its stdin."
    })
  ),
  secret: Schema.optionalKey(SecretName.annotate({
    description: "The secret version of the key that posted reports are signed with (HMAC-SHA256, as Standard Webhooks has it)."
  })),
  private: Schema.optionalKey(Schema.Boolean.annotate({ description: "Whether the address may be in a private network. Default false." })),
  on: withDefault(
    Schema.Array(Occasion).check(notEmpty).annotate({
      description:
        "When: changed (files were added, changed, moved or deleted), failed (the run, a listing or a file failed, or deletes were held), always. Default changed and failed."
    }),
    ["changed", "failed"]
  ),
  timeout: withDefault(
    DurationText.check(
      rule<Duration.Duration>((time) => Duration.toMillis(time) <= 3_600_000, { rule: "must be an hour at most" })
    ).pipe(Schema.annotateEncoded({ description: "How long one attempt may take, at most 1h. Default 10s." })),
    "10s"
  )
}

/** Recipient of notifications of runs: an address or a program. */
export const NotifySettings = Schema.Struct(notifyFields).check(
  exactlyOne(["url", "command"]),
  rule<{ readonly command?: unknown; readonly private?: unknown; readonly secret?: unknown }>(
    ({ command, private: near, secret }) => command === undefined || (secret === undefined && near === undefined),
    { rule: "secret and private are for a url", fix: "leave them out: a command runs on this machine" }
  )
).annotate({ description: "A recipient of notifications of runs: an address or a program." })
export type NotifySettings = typeof NotifySettings.Type

/** Names a recipient without its key: the part of such an address after the host is often a key. */
export const recipientOf = ({ command, url }: NotifySettings): string => url === undefined ? command?.[0] ?? "" : URL.parse(url)?.host ?? ""

/** The host of a recipient that may be in a private network. */
export const privateHostOf = ({ private: near, url = "" }: NotifySettings): ReadonlyArray<string> => {
  const host = URL.parse(url)?.hostname.replace(/^\[(.*)\]$/, "$1") ?? ""
  return near === true || isLoopbackHost(host) ? [host] : []
}

/** What a server records of the notices of one hook, across restarts. Times are in milliseconds since the epoch. */
export const HookState = Schema.Struct({
  /** Number of notices accepted. */
  taken: Schema.Int,
  /** Number of notices whose signature or token was wrong or missing. */
  refused: Schema.Int,
  /** Number of notices that need no run: a ping, another branch. */
  ignored: Schema.Int,
  lastTaken: Schema.optionalKey(Schema.Int),
  lastRefused: Schema.optionalKey(Schema.Int)
})
export type HookState = typeof HookState.Type

export const HookStates = Schema.Record(Schema.String, HookState)
export type HookStates = typeof HookStates.Type
