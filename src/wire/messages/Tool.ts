import {
  bool,
  deprecated,
  double,
  enumeration,
  float,
  int32,
  list,
  message,
  of,
  oneof,
  type Of,
  optional,
  string,
  struct,
  value
} from "../Message.ts"
import { OpenApiSchema } from "./OpenApiSchema.ts"
import { VertexRagStore } from "./Retrieval.ts"

const FunctionDeclaration = message("FunctionDeclaration", {
  name: string,
  description: string,
  parameters: of(OpenApiSchema),
  parametersJsonSchema: value,
  response: of(OpenApiSchema),
  responseJsonSchema: value
})

const VertexAISearch = message("VertexAISearch", {
  datastore: string,
  engine: string,
  maxResults: int32,
  filter: string,
  dataStoreSpecs: list(of(message("VertexAISearch.DataStoreSpec", { dataStore: string, filter: string })))
})

const Retrieval = message("Retrieval", {
  vertexAiSearch: oneof("source", of(VertexAISearch)),
  vertexRagStore: oneof("source", of(VertexRagStore)),
  disableAttribution: deprecated(bool)
})

const search = {
  excludeDomains: list(string),
  blockingConfidence: optional(enumeration("Tool.PhishBlockThreshold", {
    PHISH_BLOCK_THRESHOLD_UNSPECIFIED: 0,
    BLOCK_LOW_AND_ABOVE: 30,
    BLOCK_MEDIUM_AND_ABOVE: 40,
    BLOCK_HIGH_AND_ABOVE: 50,
    BLOCK_HIGHER_AND_ABOVE: 55,
    BLOCK_VERY_HIGH_AND_ABOVE: 60,
    BLOCK_ONLY_EXTREMELY_HIGH: 100
  }))
}

const GoogleSearchRetrieval = message("GoogleSearchRetrieval", {
  dynamicRetrievalConfig: of(message("DynamicRetrievalConfig", {
    mode: enumeration("DynamicRetrievalConfig.Mode", ["MODE_UNSPECIFIED", "MODE_DYNAMIC"]),
    dynamicThreshold: optional(float)
  }))
})

const ComputerUse = message("Tool.ComputerUse", {
  environment: enumeration("Tool.ComputerUse.Environment", ["ENVIRONMENT_UNSPECIFIED", "ENVIRONMENT_BROWSER"]),
  excludedPredefinedFunctions: list(string)
})

export const Tool = message("Tool", {
  functionDeclarations: list(of(FunctionDeclaration)),
  retrieval: of(Retrieval),
  googleSearch: of(message("Tool.GoogleSearch", search)),
  googleSearchRetrieval: of(GoogleSearchRetrieval),
  googleMaps: of(message("GoogleMaps", { enableWidget: bool })),
  enterpriseWebSearch: of(message("EnterpriseWebSearch", search)),
  parallelAiSearch: of(message("Tool.ParallelAiSearch", { apiKey: string, customConfigs: struct })),
  codeExecution: of(message("Tool.CodeExecution", {})),
  urlContext: of(message("UrlContext", {})),
  computerUse: of(ComputerUse)
})
export type Tool = Of<typeof Tool>

export const ToolConfig = message("ToolConfig", {
  functionCallingConfig: of(message("FunctionCallingConfig", {
    mode: enumeration("FunctionCallingConfig.Mode", { MODE_UNSPECIFIED: 0, AUTO: 1, ANY: 2, NONE: 3, VALIDATED: 5 }),
    allowedFunctionNames: list(string),
    streamFunctionCallArguments: bool
  })),
  retrievalConfig: of(message("RetrievalConfig", {
    latLng: of(message("google.type.LatLng", { latitude: double, longitude: double })),
    languageCode: optional(string)
  }))
})
