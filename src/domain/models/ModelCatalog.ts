import { type Redacted, Schema } from "effect"
import { Container, Resources } from "./Machine.ts"

/** A configuration in which a model can be deployed, as its owner recommends. */
export const DeployOption = Schema.Struct({
  title: Schema.optionalKey(Schema.String),
  modelDisplayName: Schema.optionalKey(Schema.String),
  container: Schema.optionalKey(Container),
  resources: Schema.optionalKey(Resources),
  artifactUri: Schema.optionalKey(Schema.String),
  publicArtifactUri: Schema.optionalKey(Schema.String),
  deployTaskName: Schema.optionalKey(Schema.String),
  /** Sample request, JSON as text. */
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

/** A model of the catalog, or of a model hub in the catalog. */
export const CatalogModel = Schema.Struct({
  /** Name: `publishers/{publisher}/models/{model}`; the publisher of a hub's model is `hf-{owner}`. */
  name: Schema.String.check(
    Schema.isPattern(publisherModelPattern, { message: "must have the form publishers/{publisher}/models/{model}" })
  ),
  versionId: Schema.NonEmptyString,
  /** Licence category; a `PROPRIETARY` model is a partner's, and only runs on the partner's recommended configurations. */
  openSourceCategory: Schema.optionalKey(Schema.String),
  launchStage: Schema.optionalKey(Schema.String),
  versionState: Schema.optionalKey(Schema.String),
  frameworks: Schema.optionalKey(Schema.Array(Schema.String)),
  notebook: Schema.optionalKey(Notebook),
  /** Deployment configurations; the first is the default. Empty: the model cannot be deployed. */
  deploy: Schema.Array(DeployOption)
})
export type CatalogModel = typeof CatalogModel.Type

/** The name it is deployed under: `publishers/{publisher}/models/{model}@{version}`. */
export const versionedName = ({ name, versionId }: Pick<CatalogModel, "name" | "versionId">): string => `${name}@${versionId}`

/** The catalog's name of a hub's model, given as `{owner}/{name}`. */
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

/** Selects the models to list. */
export interface CatalogQuery {
  /** Publisher of the models. Default: all publishers. */
  readonly publisher?: string
  /** Whether to list models of the hub instead of the catalog's own. */
  readonly hub?: boolean
  /** Whether to list only models of the hub whose deployment has been verified. */
  readonly verified?: boolean
  readonly deployable?: boolean
  readonly allVersions?: boolean
  /** A part of the model's id, ignoring case. */
  readonly search?: string
}

/** Request to deploy a model. Absent fields are the model's default configuration, and a generated name. */
export interface DeployRequest {
  /** Model of the catalog, `publishers/{publisher}/models/{model}@{version}`; either this or `huggingFaceModelId` is set. */
  readonly publisherModelName?: string
  /** Model of the hub, `{owner}/{name}`; either this or `publisherModelName` is set. */
  readonly huggingFaceModelId?: string
  /** Token for gated models of the hub. It is sent, and used nowhere else. */
  readonly huggingFaceAccessToken?: Redacted.Redacted<string>
  readonly huggingFaceCacheEnabled?: boolean
  /** Whether the caller has read and accepted the model's licence. Never assumed. */
  readonly acceptEula?: boolean
  readonly modelDisplayName?: string
  readonly modelUserId?: string
  readonly container?: Container
  readonly endpointDisplayName?: string
  readonly endpointUserId?: string
  readonly resources?: Resources
  /** Deploys faster, for trying out; only for popular models, and without a custom configuration. */
  readonly fastTryout?: boolean
  readonly systemLabels?: Readonly<Record<string, string>>
}

/** Name of the deployed model, of the catalog or the hub. */
export const deployedName = ({ huggingFaceModelId = "", publisherModelName }: DeployRequest): string =>
  publisherModelName ?? hubPublisherModel(huggingFaceModelId)
