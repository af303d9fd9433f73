import {
  bool,
  double,
  enumeration,
  int32,
  int64,
  list,
  map,
  message,
  of,
  type Of,
  oneof,
  only,
  string,
  timestamp,
  value
} from "../Message.ts"
import { ModelContainerSpec } from "./Container.ts"
import { ExplanationSpec } from "./Explanation.ts"
import { FlexStart, MachineSpec } from "./Machine.ts"
import { ModelMonitoringConfig, ModelMonitoringStatsAnomalies } from "./ModelMonitoring.ts"
import { PredictSchemata } from "./PublisherModel.ts"
import { EncryptionSpec } from "./RagCorpus.ts"
import { Status } from "./Rpc.ts"
import { BigQueryDestination, BigQuerySource, GcsDestination, GcsSource } from "./Sources.ts"

export const InputConfig = message("BatchPredictionJob.InputConfig", {
  gcsSource: oneof("source", of(GcsSource)),
  bigquerySource: oneof("source", of(BigQuerySource)),
  vertexMultimodalDatasetSource: oneof("source", of(message("VertexMultimodalDatasetSource", { datasetName: string }))),
  instancesFormat: string
})

const OutputConfig = message("BatchPredictionJob.OutputConfig", {
  gcsDestination: oneof("destination", of(GcsDestination)),
  bigqueryDestination: oneof("destination", of(BigQueryDestination)),
  vertexMultimodalDatasetDestination: oneof(
    "destination",
    of(message("VertexMultimodalDatasetDestination", {
      bigqueryDestination: of(BigQueryDestination),
      displayName: string
    }))
  ),
  predictionsFormat: string
})

const OutputInfo = message("BatchPredictionJob.OutputInfo", {
  gcsOutputDirectory: oneof("output_location", string),
  bigqueryOutputDataset: oneof("output_location", string),
  vertexMultimodalDatasetName: oneof("output_location", string),
  bigqueryOutputTable: string
})

const InstanceConfig = message("BatchPredictionJob.InstanceConfig", {
  instanceType: string,
  keyField: string,
  includedFields: list(string),
  excludedFields: list(string)
})

const UnmanagedContainerModel = message("UnmanagedContainerModel", {
  artifactUri: string,
  predictSchemata: of(PredictSchemata),
  containerSpec: of(ModelContainerSpec)
})

const BatchDedicatedResources = message("BatchDedicatedResources", {
  machineSpec: of(MachineSpec),
  startingReplicaCount: int32,
  maxReplicaCount: int32,
  flexStart: only("v1beta1", of(FlexStart)),
  spot: only("v1beta1", bool)
})

const jobState = enumeration("JobState", [
  "JOB_STATE_UNSPECIFIED",
  "JOB_STATE_QUEUED",
  "JOB_STATE_PENDING",
  "JOB_STATE_RUNNING",
  "JOB_STATE_SUCCEEDED",
  "JOB_STATE_FAILED",
  "JOB_STATE_CANCELLING",
  "JOB_STATE_CANCELLED",
  "JOB_STATE_PAUSED",
  "JOB_STATE_EXPIRED",
  "JOB_STATE_UPDATING",
  "JOB_STATE_PARTIALLY_SUCCEEDED"
])

const CompletionStats = message("CompletionStats", {
  successfulCount: int64,
  failedCount: int64,
  incompleteCount: int64,
  successfulForecastPointCount: int64
})

export const BatchPredictionJob = message("BatchPredictionJob", {
  name: string,
  displayName: string,
  model: string,
  modelVersionId: string,
  unmanagedContainerModel: of(UnmanagedContainerModel),
  inputConfig: of(InputConfig),
  instanceConfig: of(InstanceConfig),
  modelParameters: value,
  outputConfig: of(OutputConfig),
  dedicatedResources: of(BatchDedicatedResources),
  serviceAccount: string,
  manualBatchTuningParameters: of(message("ManualBatchTuningParameters", { batchSize: int32 })),
  generateExplanation: bool,
  explanationSpec: of(ExplanationSpec),
  outputInfo: of(OutputInfo),
  state: jobState,
  error: of(Status),
  partialFailures: list(of(Status)),
  resourcesConsumed: of(message("ResourcesConsumed", { replicaHours: double })),
  completionStats: of(CompletionStats),
  createTime: timestamp,
  startTime: timestamp,
  endTime: timestamp,
  updateTime: timestamp,
  labels: map(string),
  encryptionSpec: of(EncryptionSpec),
  modelMonitoringConfig: only("v1beta1", of(ModelMonitoringConfig)),
  modelMonitoringStatsAnomalies: only("v1beta1", list(of(ModelMonitoringStatsAnomalies))),
  modelMonitoringStatus: only("v1beta1", of(Status)),
  disableContainerLogging: bool,
  satisfiesPzs: bool,
  satisfiesPzi: bool
})
export type BatchPredictionJob = Of<typeof BatchPredictionJob>

export const ListBatchPredictionJobsRequest = message("ListBatchPredictionJobsRequest", {
  filter: string,
  pageSize: int32,
  pageToken: string,
  /** A field mask, which JSON writes as one string. */
  readMask: string
})
export const ListBatchPredictionJobsResponse = message("ListBatchPredictionJobsResponse", {
  batchPredictionJobs: list(of(BatchPredictionJob)),
  nextPageToken: string
})
