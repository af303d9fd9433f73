import { bool, double, enumeration, int32, list, map, message, of, oneof, string, timestamp } from "../Message.ts"
import { BigQueryDestination, BigQuerySource, GcsDestination, GcsSource } from "./Sources.ts"

// Monitoring of a custom model, in v1beta1; here it is only read.

const ThresholdConfig = message("ThresholdConfig", { value: oneof("threshold", double) })

const TrainingDataset = message("ModelMonitoringObjectiveConfig.TrainingDataset", {
  dataset: oneof("data_source", string),
  gcsSource: oneof("data_source", of(GcsSource)),
  bigquerySource: oneof("data_source", of(BigQuerySource)),
  dataFormat: string,
  targetField: string,
  loggingSamplingStrategy: of(message("SamplingStrategy", {
    randomSampleConfig: of(message("SamplingStrategy.RandomSampleConfig", { sampleRate: double }))
  }))
})

const ExplanationBaseline = message("ModelMonitoringObjectiveConfig.ExplanationConfig.ExplanationBaseline", {
  gcs: oneof("destination", of(GcsDestination)),
  bigquery: oneof("destination", of(BigQueryDestination)),
  predictionFormat: enumeration("ModelMonitoringObjectiveConfig.ExplanationConfig.ExplanationBaseline.PredictionFormat", {
    PREDICTION_FORMAT_UNSPECIFIED: 0,
    JSONL: 2,
    BIGQUERY: 3
  })
})

const ModelMonitoringObjectiveConfig = message("ModelMonitoringObjectiveConfig", {
  trainingDataset: of(TrainingDataset),
  trainingPredictionSkewDetectionConfig: of(message("ModelMonitoringObjectiveConfig.TrainingPredictionSkewDetectionConfig", {
    skewThresholds: map(of(ThresholdConfig)),
    attributionScoreSkewThresholds: map(of(ThresholdConfig)),
    defaultSkewThreshold: of(ThresholdConfig)
  })),
  predictionDriftDetectionConfig: of(message("ModelMonitoringObjectiveConfig.PredictionDriftDetectionConfig", {
    driftThresholds: map(of(ThresholdConfig)),
    attributionScoreDriftThresholds: map(of(ThresholdConfig)),
    defaultDriftThreshold: of(ThresholdConfig)
  })),
  explanationConfig: of(message("ModelMonitoringObjectiveConfig.ExplanationConfig", {
    enableFeatureAttributes: bool,
    explanationBaseline: of(ExplanationBaseline)
  }))
})

const ModelMonitoringAlertConfig = message("ModelMonitoringAlertConfig", {
  emailAlertConfig: oneof("alert", of(message("ModelMonitoringAlertConfig.EmailAlertConfig", { userEmails: list(string) }))),
  enableLogging: bool,
  notificationChannels: list(string)
})

export const ModelMonitoringConfig = message("ModelMonitoringConfig", {
  objectiveConfigs: list(of(ModelMonitoringObjectiveConfig)),
  alertConfig: of(ModelMonitoringAlertConfig),
  analysisInstanceSchemaUri: string,
  statsAnomaliesBaseDirectory: of(GcsDestination)
})

const FeatureStatsAnomaly = message("FeatureStatsAnomaly", {
  score: double,
  statsUri: string,
  anomalyUri: string,
  distributionDeviation: double,
  anomalyDetectionThreshold: double,
  startTime: timestamp,
  endTime: timestamp
})

export const ModelMonitoringStatsAnomalies = message("ModelMonitoringStatsAnomalies", {
  objective: enumeration("ModelDeploymentMonitoringObjectiveType", [
    "MODEL_DEPLOYMENT_MONITORING_OBJECTIVE_TYPE_UNSPECIFIED",
    "RAW_FEATURE_SKEW",
    "RAW_FEATURE_DRIFT",
    "FEATURE_ATTRIBUTION_SKEW",
    "FEATURE_ATTRIBUTION_DRIFT"
  ]),
  deployedModelId: string,
  anomalyCount: int32,
  featureStats: list(of(message("ModelMonitoringStatsAnomalies.FeatureHistoricStatsAnomalies", {
    featureDisplayName: string,
    threshold: of(ThresholdConfig),
    trainingStats: of(FeatureStatsAnomaly),
    predictionStats: list(of(FeatureStatsAnomaly))
  })))
})
