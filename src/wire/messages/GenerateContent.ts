import { finishReasons, harmBlockMethods, harmBlockThresholds, harmCategories } from "../../domain/generation/Generation.ts"
import {
  bool,
  double,
  enumeration,
  float,
  int32,
  kept,
  list,
  map,
  message,
  of,
  only,
  type Of,
  optional,
  string,
  timestamp
} from "../Message.ts"
import { Content } from "./Content.ts"
import { GenerationConfig } from "./GenerationConfig.ts"
import { GroundingMetadata } from "./Grounding.ts"
import { Tool, ToolConfig } from "./Tool.ts"

const harmCategory = enumeration("HarmCategory", harmCategories)

const SafetySetting = message("SafetySetting", {
  category: kept(harmCategory),
  threshold: kept(enumeration("SafetySetting.HarmBlockThreshold", harmBlockThresholds)),
  method: enumeration("SafetySetting.HarmBlockMethod", harmBlockMethods)
})

export const GenerateContentRequest = message("GenerateContentRequest", {
  model: string,
  contents: list(of(Content)),
  systemInstruction: of(Content),
  cachedContent: string,
  tools: list(of(Tool)),
  toolConfig: of(ToolConfig),
  labels: map(string),
  safetySettings: list(of(SafetySetting)),
  modelArmorConfig: of(message("ModelArmorConfig", { promptTemplateName: string, responseTemplateName: string })),
  generationConfig: of(GenerationConfig)
})
export type GenerateContentRequest = Of<typeof GenerateContentRequest>

const SafetyRating = message("SafetyRating", {
  category: harmCategory,
  probability: enumeration("SafetyRating.HarmProbability", [
    "HARM_PROBABILITY_UNSPECIFIED",
    "NEGLIGIBLE",
    "LOW",
    "MEDIUM",
    "HIGH"
  ]),
  probabilityScore: float,
  severity: enumeration("SafetyRating.HarmSeverity", [
    "HARM_SEVERITY_UNSPECIFIED",
    "HARM_SEVERITY_NEGLIGIBLE",
    "HARM_SEVERITY_LOW",
    "HARM_SEVERITY_MEDIUM",
    "HARM_SEVERITY_HIGH"
  ]),
  severityScore: float,
  blocked: bool
})

const Citation = message("Citation", {
  startIndex: int32,
  endIndex: int32,
  uri: string,
  title: string,
  license: string,
  publicationDate: of(message("google.type.Date", { year: int32, month: int32, day: int32 }))
})

const logprob = of(message("LogprobsResult.Candidate", {
  token: optional(string),
  tokenId: optional(int32),
  logProbability: optional(float)
}))

const LogprobsResult = message("LogprobsResult", {
  topCandidates: list(of(message("LogprobsResult.TopCandidates", { candidates: list(logprob) }))),
  chosenCandidates: list(logprob)
})

const UrlContextMetadata = message("UrlContextMetadata", {
  urlMetadata: list(of(message("UrlMetadata", {
    retrievedUrl: string,
    urlRetrievalStatus: enumeration("UrlMetadata.UrlRetrievalStatus", [
      "URL_RETRIEVAL_STATUS_UNSPECIFIED",
      "URL_RETRIEVAL_STATUS_SUCCESS",
      "URL_RETRIEVAL_STATUS_ERROR"
    ])
  })))
})

const Candidate = message("Candidate", {
  index: int32,
  content: of(Content),
  score: only("v1", double),
  avgLogprobs: double,
  logprobsResult: of(LogprobsResult),
  finishReason: enumeration("Candidate.FinishReason", finishReasons),
  safetyRatings: list(of(SafetyRating)),
  finishMessage: optional(string),
  citationMetadata: of(message("CitationMetadata", { citations: list(of(Citation)) })),
  groundingMetadata: of(GroundingMetadata),
  urlContextMetadata: of(UrlContextMetadata)
})

const PromptFeedback = message("GenerateContentResponse.PromptFeedback", {
  blockReason: enumeration("GenerateContentResponse.PromptFeedback.BlockedReason", [
    "BLOCKED_REASON_UNSPECIFIED",
    "SAFETY",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "MODEL_ARMOR",
    "JAILBREAK"
  ]),
  safetyRatings: list(of(SafetyRating)),
  blockReasonMessage: string
})

export const modalityTokens = list(of(message("ModalityTokenCount", {
  modality: enumeration("Modality", ["MODALITY_UNSPECIFIED", "TEXT", "IMAGE", "VIDEO", "AUDIO", "DOCUMENT"]),
  tokenCount: int32
})))

const UsageMetadata = message("GenerateContentResponse.UsageMetadata", {
  promptTokenCount: int32,
  candidatesTokenCount: int32,
  thoughtsTokenCount: int32,
  totalTokenCount: int32,
  cachedContentTokenCount: int32,
  promptTokensDetails: modalityTokens,
  cacheTokensDetails: modalityTokens,
  candidatesTokensDetails: modalityTokens,
  toolUsePromptTokensDetails: only("v1", modalityTokens),
  trafficType: only(
    "v1",
    enumeration("GenerateContentResponse.UsageMetadata.TrafficType", {
      TRAFFIC_TYPE_UNSPECIFIED: 0,
      ON_DEMAND: 1,
      PROVISIONED_THROUGHPUT: 2,
      ON_DEMAND_PRIORITY: 3,
      ON_DEMAND_FLEX: 4
    })
  )
})

/** A response, or one chunk of a stream. The last chunk has `finishReason` and the whole `usageMetadata`. */
export const GenerateContentResponse = message("GenerateContentResponse", {
  candidates: list(of(Candidate)),
  modelVersion: string,
  createTime: timestamp,
  responseId: string,
  promptFeedback: of(PromptFeedback),
  usageMetadata: of(UsageMetadata)
})
export type GenerateContentResponse = Of<typeof GenerateContentResponse>
