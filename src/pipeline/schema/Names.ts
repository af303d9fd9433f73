import { Schema } from "effect"
import { loopbackHostPattern } from "../../domain/HttpAddress.ts"
import { secretVersionPattern } from "../../domain/Secret.ts"
import { matches } from "./Rules.ts"

const segment = "[^/\\s]+"

const place = `projects/${segment}/locations/${segment}`

const resource = (forms: ReadonlyArray<string>, what: string) =>
  Schema.String.check(
    matches(new RegExp(`^(?:${forms.map((form) => form.replaceAll("*", segment)).join("|")})$`), {
      rule: `must be the resource name of ${what}: ${
        forms.map((form) => form.replaceAll(place, "projects/{project}/locations/{location}").replaceAll("*", "{id}"))
          .join(" or ")
      }`
    })
  )

export const FeatureView = resource([`${place}/featureOnlineStores/*/featureViews/*`], "a feature view")
  .annotate({ description: "projects/{project}/locations/{location}/featureOnlineStores/{store}/featureViews/{view}" })

export const ServingConfig = resource(
  [
    `${place}/collections/*/engines/*/servingConfigs/*`,
    `${place}/collections/*/dataStores/*/servingConfigs/*`
  ],
  "a serving config"
).annotate({
  description: "projects/{project}/locations/{location}/collections/{collection}/engines/{engine}/servingConfigs/{config}, or the same with dataStores/{store}"
})

/** An index or an index endpoint; which of the two a field wants is settled by the vectorSearch rule. */
export const VectorSearchName = resource([`${place}/indexes/*`, `${place}/indexEndpoints/*`], "an index or an index endpoint")

export const Processor = resource(
  [`${place}/processors/*`, `${place}/processors/*/processorVersions/*`],
  "a document processor"
).annotate({
  description: "projects/{project}/locations/{location}/processors/{processor}, optionally followed by /processorVersions/{version}"
})

/** As `domain/Secret.ts`, with the rule in words. The refused value never appears in a message. */
export const SecretName = Schema.String.check(
  matches(secretVersionPattern, {
    rule: "must be the name of a secret version, never the secret itself",
    fix: "store the secret and write projects/{project}/secrets/{secret}/versions/{number or latest}"
  })
).pipe(Schema.brand("SecretVersion")).annotate({
  description: "The name of a secret version: projects/{project}/secrets/{secret}/versions/{number or latest}. Never the secret itself."
})

/** An http or https address without a user name or password in it. */
export const HttpUrl = Schema.String.check(
  matches(/^https?:\/\/(?![^/?#]*@)[^\s]+$/, {
    rule: "must be an http:// or https:// address, with no user name or password in it"
  })
)

/** Where credentials are sent: plain http is for this machine only. */
export const Endpoint = Schema.String.check(
  matches(new RegExp(`^(?:https:\\/\\/|http:\\/\\/(?:${loopbackHostPattern})(?=[:/]|$))(?![^/?#]*@)[^\\s?#\\\\]+$`), {
    rule: "must be an https:// address, or http:// on this machine, with no user name or password in it"
  })
)

/** Where documents lie: objects, prefixes, web pages, files. */
export const StorageUri = Schema.String.check(
  matches(/^(?:gs|s3|https|file):\/\/(?![^/?#]*@)[^\s].*$/, {
    rule: "must start with gs://, s3://, https:// or file://, with no user name or password in it"
  })
)
