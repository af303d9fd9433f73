import { Schema } from "effect"
import {
  endpointForm,
  featureViewForm,
  httpUrlForm,
  processorForm,
  servingConfigForm,
  storageUriForm,
  vectorSearchForm
} from "../rag/Forms.ts"
import { secretForm } from "../Secret.ts"
import { hasForm } from "./Rules.ts"

export const FeatureView = hasForm(featureViewForm)
  .annotate({ description: "projects/{project}/locations/{location}/featureOnlineStores/{store}/featureViews/{view}" })

export const ServingConfig = hasForm(servingConfigForm).annotate({
  description:
    "projects/{project}/locations/{location}/collections/{collection}/engines/{engine}/servingConfigs/{config}, or the same with dataStores/{store}"
})

/** Name of an index or an index endpoint; the vectorSearch rule decides which of the two a field needs. */
export const VectorSearchName = hasForm(vectorSearchForm)

export const Processor = hasForm(processorForm).annotate({
  description: "projects/{project}/locations/{location}/processors/{processor}, optionally followed by /processorVersions/{version}"
})

/** The name of a secret version. A refused value never appears in a message. */
export const SecretName = hasForm(secretForm).pipe(Schema.brand("SecretVersion")).annotate({
  description: "The name of a secret version: projects/{project}/secrets/{secret}/versions/{number or latest}. Never the secret itself."
})

/** An http or https address without a user name or password in it. */
export const HttpUrl = hasForm(httpUrlForm)

/** Address to which credentials are sent: plain http is for this machine only. */
export const Endpoint = hasForm(endpointForm)

/** Address of documents: objects, prefixes, web pages, files. */
export const StorageUri = hasForm(storageUriForm)
