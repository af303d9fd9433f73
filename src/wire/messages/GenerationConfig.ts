import { bool, bytes, enumeration, float, int32, list, message, of, oneof, only, type Of, optional, string, value } from "../Message.ts"
import { OpenApiSchema } from "./OpenApiSchema.ts"

const RoutingConfig = message("GenerationConfig.RoutingConfig", {
  autoMode: oneof(
    "routing_config",
    of(message("GenerationConfig.RoutingConfig.AutoRoutingMode", {
      modelRoutingPreference: optional(enumeration("GenerationConfig.RoutingConfig.AutoRoutingMode.ModelRoutingPreference", [
        "UNKNOWN",
        "PRIORITIZE_QUALITY",
        "BALANCED",
        "PRIORITIZE_COST"
      ]))
    }))
  ),
  manualMode: oneof(
    "routing_config",
    of(message("GenerationConfig.RoutingConfig.ManualRoutingMode", { modelName: optional(string) }))
  )
})

const VoiceConfig = message("VoiceConfig", {
  prebuiltVoiceConfig: oneof("voice_config", of(message("PrebuiltVoiceConfig", { voiceName: optional(string) }))),
  replicatedVoiceConfig: oneof("voice_config", of(message("ReplicatedVoiceConfig", { mimeType: string, voiceSampleAudio: bytes })))
})

const SpeechConfig = message("SpeechConfig", {
  voiceConfig: of(VoiceConfig),
  languageCode: string,
  multiSpeakerVoiceConfig: of(message("MultiSpeakerVoiceConfig", {
    speakerVoiceConfigs: list(of(message("SpeakerVoiceConfig", { speaker: string, voiceConfig: of(VoiceConfig) })))
  }))
})

const ThinkingConfig = message("GenerationConfig.ThinkingConfig", {
  includeThoughts: optional(bool),
  thinkingBudget: optional(int32),
  thinkingLevel: only(
    "v1",
    optional(enumeration("GenerationConfig.ThinkingConfig.ThinkingLevel", [
      "THINKING_LEVEL_UNSPECIFIED",
      "LOW",
      "MEDIUM",
      "HIGH",
      "MINIMAL"
    ]))
  )
})

const ModelConfig = message("GenerationConfig.ModelConfig", {
  featureSelectionPreference: only(
    "v1beta1",
    enumeration("GenerationConfig.ModelConfig.FeatureSelectionPreference", [
      "FEATURE_SELECTION_PREFERENCE_UNSPECIFIED",
      "PRIORITIZE_QUALITY",
      "BALANCED",
      "PRIORITIZE_COST"
    ])
  )
})

const ImageConfig = message("ImageConfig", {
  aspectRatio: optional(string),
  imageSize: only("v1", optional(string)),
  personGeneration: only(
    "v1",
    optional(enumeration("ImageConfig.PersonGeneration", [
      "PERSON_GENERATION_UNSPECIFIED",
      "ALLOW_ALL",
      "ALLOW_ADULT",
      "ALLOW_NONE"
    ]))
  ),
  imageOutputOptions: only(
    "v1",
    of(message("ImageConfig.ImageOutputOptions", {
      mimeType: only("v1", optional(string)),
      compressionQuality: only("v1", optional(int32))
    }))
  )
})

export const GenerationConfig = message("GenerationConfig", {
  temperature: optional(float),
  topP: optional(float),
  topK: optional(float),
  candidateCount: optional(int32),
  maxOutputTokens: optional(int32),
  stopSequences: list(string),
  responseLogprobs: optional(bool),
  logprobs: optional(int32),
  presencePenalty: optional(float),
  frequencyPenalty: optional(float),
  seed: optional(int32),
  responseMimeType: string,
  responseSchema: of(OpenApiSchema),
  responseJsonSchema: value,
  routingConfig: of(RoutingConfig),
  audioTimestamp: optional(bool),
  responseModalities: list(enumeration("GenerationConfig.Modality", ["MODALITY_UNSPECIFIED", "TEXT", "IMAGE", "AUDIO"])),
  mediaResolution: optional(enumeration("GenerationConfig.MediaResolution", [
    "MEDIA_RESOLUTION_UNSPECIFIED",
    "MEDIA_RESOLUTION_LOW",
    "MEDIA_RESOLUTION_MEDIUM",
    "MEDIA_RESOLUTION_HIGH"
  ])),
  speechConfig: of(SpeechConfig),
  thinkingConfig: of(ThinkingConfig),
  modelConfig: only("v1beta1", of(ModelConfig)),
  imageConfig: of(ImageConfig)
})
export type GenerationConfig = Of<typeof GenerationConfig>
