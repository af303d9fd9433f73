import { Schema } from "effect"
import { Container, Resources } from "./Machine.ts"
import { Settings } from "../Settings.ts"

/** The full name of an endpoint: `projects/{project}/locations/{location}/endpoints/{endpoint}`. */
export const EndpointName = Schema.NonEmptyString.pipe(Schema.brand("EndpointName"))
export type EndpointName = typeof EndpointName.Type

/** The full name of a model: `projects/{project}/locations/{location}/models/{model}`; with `@{version}` appended, of one version. */
export const ModelName = Schema.NonEmptyString.pipe(Schema.brand("ModelName"))
export type ModelName = typeof ModelName.Type

/** Traffic in percent by the id of a deployed model; it sums to 100, or is empty. */
export const TrafficSplit = Schema.Record(Schema.String, Schema.Int)
export type TrafficSplit = typeof TrafficSplit.Type

/** Key in a traffic split for the model that is being deployed, which has no id yet. */
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

/** An endpoint with its deployed models, and how calls are divided among them. Times are as in RFC 3339. */
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

/** Request for a new endpoint. It has no models: those are deployed to it afterwards. */
export interface EndpointSpec {
  /** Name for people, at most 128 characters. */
  readonly displayName: string
  readonly description?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly settings?: Settings
  /** Id chosen by the caller instead of the service. */
  readonly endpointId?: string
}

/** Changes to an endpoint; absent fields stay. */
export interface EndpointChange {
  readonly endpoint: EndpointName
  readonly displayName?: string
  /** New description; empty removes it. */
  readonly description?: string
  /** New labels, which replace all existing ones. */
  readonly labels?: Readonly<Record<string, string>>
  /** New traffic split, which replaces the existing one. */
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
  /** The catalog's model it was made from: `publishers/{publisher}/models/{model}`. */
  publicModelName: Schema.optionalKey(Schema.String),
  publicModelVersion: Schema.optionalKey(Schema.String),
  deployedModels: Schema.Array(Schema.Struct({ endpoint: EndpointName, deployedModelId: Schema.String })),
  settings: Schema.optionalKey(Settings),
  createTime: Schema.String,
  updateTime: Schema.String
})
export type Model = typeof Model.Type

/** Request to upload a model. */
export interface ModelSpec {
  /** Name for people, at most 128 characters. */
  readonly displayName: string
  readonly description?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly publicModelName?: string
  readonly publicModelVersion?: string
  readonly container?: Container
  readonly artifactUri?: string
  readonly settings?: Settings
  readonly modelId?: string
  /** Model of which this becomes a new version. */
  readonly parentModel?: string
}

/** Request to deploy a model. */
export interface DeployModelRequest {
  readonly endpoint: EndpointName
  readonly model: ModelName
  readonly displayName?: string
  readonly resources?: Resources
  readonly serviceAccount?: string
  readonly settings?: Settings
  /** New traffic split of the endpoint. Absent: the split stays, and the new model gets no traffic. */
  readonly trafficSplit?: TrafficSplit
}

export interface UndeployRequest {
  readonly endpoint: EndpointName
  readonly deployedModelId: string
  /** New traffic split of the endpoint, without the model. */
  readonly trafficSplit?: TrafficSplit
}

/** A request to a model, in the model's own form. */
export interface Payload {
  readonly contentType: string
  readonly body: Uint8Array
}
