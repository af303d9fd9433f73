import { type Redacted, Schema } from "effect"
import { Container, Resources } from "./Machine.ts"

/** One way in which a model may be deployed, as its owner recommends. */
export const DeployOption = Schema.Struct({
  title: Schema.optionalKey(Schema.String),
  modelDisplayName: Schema.optionalKey(Schema.String),
  container: Schema.optionalKey(Container),
  resources: Schema.optionalKey(Resources),
  artifactUri: Schema.optionalKey(Schema.String),
  publicArtifactUri: Schema.optionalKey(Schema.String),
  deployTaskName: Schema.optionalKey(Schema.String),
  /** JSON, as text. */
  sampleRequest: Schema.optionalKey(Schema.String),
  labels: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
})
export type DeployOption = typeof DeployOption.Type

export const Notebook = Schema.Struct({
  title: Schema.optionalKey(Schema.String),
  /** Addresses by region. */
  references: Schema.Record(Schema.String, Schema.String),
  resourceTitle: Schema.optionalKey(Schema.String),
  resourceUseCase: Schema.optionalKey(Schema.String),
  resourceDescription: Schema.optionalKey(Schema.String)
})
export type Notebook = typeof Notebook.Type

export const publisherModelPattern = /^publishers\/[^/@:\s]+\/models\/[^/@:\s]+$/
export const versionedModelPattern = /^publishers\/[^/@:\s]+\/models\/[^/@:\s]+@[^/@:\s]+$/
export const hubModelPattern = /^[\w.-]+\/[\w.-]+$/

/** A model of the catalog, or one of a model hub that the catalog has. */
export const CatalogModel = Schema.Struct({
  /** `publishers/{publisher}/models/{model}`; the publisher of a hub's model is `hf-{owner}`. */
  name: Schema.String.check(
    Schema.isPattern(publisherModelPattern, { message: "must have the form publishers/{publisher}/models/{model}" })
  ),
  versionId: Schema.NonEmptyString,
  /** `PROPRIETARY` is a partner's: it runs on the partner's recommended configurations only. */
  openSourceCategory: Schema.optionalKey(Schema.String),
  launchStage: Schema.optionalKey(Schema.String),
  versionState: Schema.optionalKey(Schema.String),
  frameworks: Schema.optionalKey(Schema.Array(Schema.String)),
  notebook: Schema.optionalKey(Notebook),
  /** The first is the default. None: the model cannot be deployed. */
  deploy: Schema.Array(DeployOption)
})
export type CatalogModel = typeof CatalogModel.Type

/** `publishers/{publisher}/models/{model}@{version}`, under which it is deployed. */
export const versionedName = ({ name, versionId }: Pick<CatalogModel, "name" | "versionId">): string => `${name}@${versionId}`

/** The catalog's name of a hub's model, `{owner}/{name}`. */
export const hubPublisherModel = (id: string): string => {
  const [owner = "", name = ""] = id.split("/")
  return `publishers/hf-${owner}/models/${name}`
}

/** The hub's id of a catalog name; undefined where it is not a hub's model. */
export const hubId = (name: string): string | undefined => {
  const found = /^publishers\/hf-([^/]+)\/models\/([^/@]+)/.exec(name)
  return found === null ? undefined : `${found[1]}/${found[2]}`
}

export const isPartners = ({ openSourceCategory }: CatalogModel): boolean => openSourceCategory === "PROPRIETARY"

/** Which models to list. */
export interface CatalogQuery {
  /** Default every publisher. */
  readonly publisher?: string
  /** Those of the hub instead of the catalog's own. */
  readonly hub?: boolean
  /** Of the hub's, those whose deployment has been verified. */
  readonly verified?: boolean
  readonly deployable?: boolean
  readonly allVersions?: boolean
  /** A part of the model's id, in any case. */
  readonly search?: string
}

/** What is asked of `deploy`. What is left out is the model's default configuration, and a name that the service makes. */
export interface DeployRequest {
  /** Exactly one of this, `publishers/{publisher}/models/{model}@{version}`, … */
  readonly publisherModelName?: string
  /** … and this, `{owner}/{name}`. */
  readonly huggingFaceModelId?: string
  /** For gated models of the hub. Sent, and nowhere else. */
  readonly huggingFaceAccessToken?: Redacted.Redacted<string>
  readonly huggingFaceCacheEnabled?: boolean
  /** The caller has read and accepted the model's licence. Never assumed. */
  readonly acceptEula?: boolean
  readonly modelDisplayName?: string
  readonly modelUserId?: string
  readonly container?: Container
  readonly endpointDisplayName?: string
  readonly endpointUserId?: string
  readonly resources?: Resources
  /** Quicker, for trying out; only for much used models, and without a configuration of one's own. */
  readonly fastTryout?: boolean
  readonly systemLabels?: Readonly<Record<string, string>>
}

/** What is deployed, whichever way it was named. */
export const deployedName = ({ huggingFaceModelId = "", publisherModelName }: DeployRequest): string =>
  publisherModelName ?? hubPublisherModel(huggingFaceModelId)
