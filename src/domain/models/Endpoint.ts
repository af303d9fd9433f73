import { Schema } from "effect"
import { Container, Resources } from "./Machine.ts"
import { Settings } from "../Settings.ts"

/** The full name of an endpoint: `projects/{project}/locations/{location}/endpoints/{endpoint}`. */
export const EndpointName = Schema.NonEmptyString.pipe(Schema.brand("EndpointName"))
export type EndpointName = typeof EndpointName.Type

/** `projects/{project}/locations/{location}/models/{model}`; `@{version}` after it names one version. */
export const ModelName = Schema.NonEmptyString.pipe(Schema.brand("ModelName"))
export type ModelName = typeof ModelName.Type

/** Percent by the id of a deployed model; they sum to 100, or there are none. */
export const TrafficSplit = Schema.Record(Schema.String, Schema.Int)
export type TrafficSplit = typeof TrafficSplit.Type

/** The key of a split for the model that is being deployed and has no id yet. */
export const newcomer = "0"

export const DeployedModel = Schema.Struct({
  id: Schema.String,
  model: ModelName,
  modelVersionId: Schema.optionalKey(Schema.String),
  displayName: Schema.optionalKey(Schema.String),
  resources: Schema.optionalKey(Resources),
  serviceAccount: Schema.optionalKey(Schema.String),
  settings: Schema.optionalKey(Settings),
  createTime: Schema.optionalKey(Schema.String)
})
export type DeployedModel = typeof DeployedModel.Type

/** An endpoint with the models that are deployed to it, and how calls are divided among them. Times are RFC 3339. */
export const Endpoint = Schema.Struct({
  name: EndpointName,
  displayName: Schema.String,
  description: Schema.optionalKey(Schema.String),
  labels: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  deployedModels: Schema.Array(DeployedModel),
  trafficSplit: TrafficSplit,
  settings: Schema.optionalKey(Settings),
  createTime: Schema.String,
  updateTime: Schema.String
})
export type Endpoint = typeof Endpoint.Type

/** An endpoint to be made. Without models: those are deployed to it afterwards. */
export interface EndpointSpec {
  /** At most 128 characters. */
  readonly displayName: string
  readonly description?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly settings?: Settings
  /** Chosen by the caller instead of the service. */
  readonly endpointId?: string
}

/** What is to be different about an endpoint; the rest stays. */
export interface EndpointChange {
  readonly endpoint: EndpointName
  readonly displayName?: string
  /** Empty: none any more. */
  readonly description?: string
  /** Take the place of those there are. */
  readonly labels?: Readonly<Record<string, string>>
  /** Takes the place of the one there is. */
  readonly trafficSplit?: TrafficSplit
}

/** A model of the project's registry. */
export const Model = Schema.Struct({
  name: ModelName,
  versionId: Schema.optionalKey(Schema.String),
  displayName: Schema.String,
  description: Schema.optionalKey(Schema.String),
  labels: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  container: Schema.optionalKey(Container),
  artifactUri: Schema.optionalKey(Schema.String),
  /** The catalog's model it was made of: `publishers/{publisher}/models/{model}`. */
  publicModelName: Schema.optionalKey(Schema.String),
  publicModelVersion: Schema.optionalKey(Schema.String),
  deployedModels: Schema.Array(Schema.Struct({ endpoint: EndpointName, deployedModelId: Schema.String })),
  settings: Schema.optionalKey(Settings),
  createTime: Schema.String,
  updateTime: Schema.String
})
export type Model = typeof Model.Type

/** What is asked of `upload`. */
export interface ModelSpec {
  /** At most 128 characters. */
  readonly displayName: string
  readonly description?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly publicModelName?: string
  readonly publicModelVersion?: string
  readonly container?: Container
  readonly artifactUri?: string
  readonly settings?: Settings
  readonly modelId?: string
  /** The model of which this is to be a new version. */
  readonly parentModel?: string
}

/** What is asked of `deployModel`. */
export interface DeployModelRequest {
  readonly endpoint: EndpointName
  readonly model: ModelName
  readonly displayName?: string
  readonly resources?: Resources
  readonly serviceAccount?: string
  readonly settings?: Settings
  /** Takes the place of the endpoint's. Left out: the split stays, and the new model gets no traffic. */
  readonly trafficSplit?: TrafficSplit
}

export interface UndeployRequest {
  readonly endpoint: EndpointName
  readonly deployedModelId: string
  /** Takes the place of the endpoint's, so that the model is without traffic. */
  readonly trafficSplit?: TrafficSplit
}

/** Bytes for a model, in a form of its own. */
export interface Payload {
  readonly contentType: string
  readonly body: Uint8Array
}
