import { enumeration, float, int32, list, map, message, of, oneof, only, optional, string, value } from "../Message.ts"
import { GcsSource } from "./Sources.ts"

// How predictions are explained: stored as given, but not used here.

const SampledShapleyAttribution = message("SampledShapleyAttribution", { pathCount: int32 })

const NoiseSigmaForFeature = message("FeatureNoiseSigma.NoiseSigmaForFeature", { name: string, sigma: float })

const FeatureNoiseSigma = message("FeatureNoiseSigma", { noiseSigma: list(of(NoiseSigmaForFeature)) })

const SmoothGradConfig = message("SmoothGradConfig", {
  noiseSigma: oneof("_gradient_noise_sigma", float),
  featureNoiseSigma: oneof("_gradient_noise_sigma", of(FeatureNoiseSigma)),
  noisySampleCount: int32
})

const BlurBaselineConfig = message("BlurBaselineConfig", { maxBlurSigma: float })

const IntegratedGradientsAttribution = message("IntegratedGradientsAttribution", {
  stepCount: int32,
  smoothGradConfig: of(SmoothGradConfig),
  blurBaselineConfig: of(BlurBaselineConfig)
})

const XraiAttribution = message("XraiAttribution", {
  stepCount: int32,
  smoothGradConfig: of(SmoothGradConfig),
  blurBaselineConfig: of(BlurBaselineConfig)
})

const exampleGcsSourceDataFormat = enumeration("Examples.ExampleGcsSource.DataFormat", [
  "DATA_FORMAT_UNSPECIFIED",
  "JSONL"
])

const ExampleGcsSource = message("Examples.ExampleGcsSource", {
  dataFormat: exampleGcsSourceDataFormat,
  gcsSource: of(GcsSource)
})

const presetsQuery = enumeration("Presets.Query", [
  "PRECISE",
  "FAST"
])

const presetsModality = enumeration("Presets.Modality", [
  "MODALITY_UNSPECIFIED",
  "IMAGE",
  "TEXT",
  "TABULAR"
])

const Presets = message("Presets", { query: optional(presetsQuery), modality: presetsModality })

const Examples = message("Examples", {
  exampleGcsSource: oneof("source", of(ExampleGcsSource)),
  nearestNeighborSearchConfig: oneof("config", value),
  presets: oneof("config", of(Presets)),
  gcsSource: only("v1beta1", of(GcsSource)),
  neighborCount: int32
})

const ExplanationParameters = message("ExplanationParameters", {
  sampledShapleyAttribution: oneof("method", of(SampledShapleyAttribution)),
  integratedGradientsAttribution: oneof("method", of(IntegratedGradientsAttribution)),
  xraiAttribution: oneof("method", of(XraiAttribution)),
  examples: oneof("method", of(Examples)),
  topK: int32,
  outputIndices: value
})

const inputMetadataEncoding = enumeration("ExplanationMetadata.InputMetadata.Encoding", [
  "ENCODING_UNSPECIFIED",
  "IDENTITY",
  "BAG_OF_FEATURES",
  "BAG_OF_FEATURES_SPARSE",
  "INDICATOR",
  "COMBINED_EMBEDDING",
  "CONCAT_EMBEDDING"
])

const FeatureValueDomain = message("ExplanationMetadata.InputMetadata.FeatureValueDomain", {
  minValue: float,
  maxValue: float,
  originalMean: float,
  originalStddev: float
})

const visualizationType = enumeration("ExplanationMetadata.InputMetadata.Visualization.Type", [
  "TYPE_UNSPECIFIED",
  "PIXELS",
  "OUTLINES"
])

const visualizationPolarity = enumeration("ExplanationMetadata.InputMetadata.Visualization.Polarity", [
  "POLARITY_UNSPECIFIED",
  "POSITIVE",
  "NEGATIVE",
  "BOTH"
])

const visualizationColorMap = enumeration("ExplanationMetadata.InputMetadata.Visualization.ColorMap", {
  COLOR_MAP_UNSPECIFIED: 0,
  PINK_GREEN: 1,
  VIRIDIS: 2,
  RED: 3,
  GREEN: 4,
  RED_GREEN: 6,
  PINK_WHITE_GREEN: 5
})

const visualizationOverlayType = enumeration("ExplanationMetadata.InputMetadata.Visualization.OverlayType", [
  "OVERLAY_TYPE_UNSPECIFIED",
  "NONE",
  "ORIGINAL",
  "GRAYSCALE",
  "MASK_BLACK"
])

const Visualization = message("ExplanationMetadata.InputMetadata.Visualization", {
  type: visualizationType,
  polarity: visualizationPolarity,
  colorMap: visualizationColorMap,
  clipPercentUpperbound: float,
  clipPercentLowerbound: float,
  overlayType: visualizationOverlayType
})

const InputMetadata = message("ExplanationMetadata.InputMetadata", {
  inputBaselines: list(value),
  inputTensorName: string,
  encoding: inputMetadataEncoding,
  modality: string,
  featureValueDomain: of(FeatureValueDomain),
  indicesTensorName: string,
  denseShapeTensorName: string,
  indexFeatureMapping: list(string),
  encodedTensorName: string,
  encodedBaselines: list(value),
  visualization: of(Visualization),
  groupName: string
})

const OutputMetadata = message("ExplanationMetadata.OutputMetadata", {
  indexDisplayNameMapping: oneof("display_name_mapping", value),
  displayNameMappingKey: oneof("display_name_mapping", string),
  outputTensorName: string
})

const ExplanationMetadata = message("ExplanationMetadata", {
  inputs: map(of(InputMetadata)),
  outputs: map(of(OutputMetadata)),
  featureAttributionsSchemaUri: string,
  latentSpaceSource: string
})

export const ExplanationSpec = message("ExplanationSpec", {
  parameters: of(ExplanationParameters),
  metadata: of(ExplanationMetadata)
})
