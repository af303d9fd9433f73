import type { AnyMessage, Json, JsonObject } from "../Message.ts"
import { InputConfig } from "../messages/BatchPrediction.ts"
import { AcceptPublisherModelEulaRequest, CheckPublisherModelEulaAcceptanceRequest, DeployRequest } from "../messages/Deploy.ts"
import { DeployModelRequest, UndeployModelRequest } from "../messages/Endpoint.ts"
import { UploadModelRequest } from "../messages/Model.ts"
import { PredictRequest } from "../messages/Predict.ts"
import { RagCorpus, VertexVectorSearch } from "../messages/RagCorpus.ts"
import { ImportRagFilesConfig, ImportRagFilesRequest, UploadRagFileRequest } from "../messages/RagFile.ts"
import { AugmentPromptRequest, CorroborateContentRequest } from "../messages/Grounding.ts"
import { RetrieveContextsRequest } from "../messages/Retrieval.ts"
import { SharePointSource, SharePointSources } from "../messages/Sources.ts"

/**
 * Field names that the public documentation uses but the protos never had (wire part 3), with the real fields. Real but
 * deprecated fields are in the messages' tables, and the mappings beside those read them.
 */
export const aliases: ReadonlyMap<AnyMessage, Readonly<Record<string, string>>> = new Map<AnyMessage, Readonly<Record<string, string>>>([
  // Row 1: the documentation names the input by the field of the output.
  [InputConfig, { gcsDestination: "gcsSource" }],
  // Row 14: from the documentation's table of the update method.
  [RagCorpus, { ragVectorDb: "vectorDbConfig" }],
  // Row 20: from the documentation's curl example.
  [SharePointSources, { sharePointSource: "sharePointSources" }],
  [SharePointSource, { apiKeyConfig: "clientSecret" }]
])

/** Fields of the request that are part of the path. A body may repeat them. */
export const inPath: ReadonlyMap<AnyMessage, ReadonlyArray<string>> = new Map<AnyMessage, ReadonlyArray<string>>([
  [UploadRagFileRequest, ["parent"]],
  [ImportRagFilesRequest, ["parent"]],
  [ImportRagFilesConfig, ["parent"]],
  [RetrieveContextsRequest, ["parent"]],
  [AugmentPromptRequest, ["parent"]],
  [CorroborateContentRequest, ["parent"]],
  [CheckPublisherModelEulaAcceptanceRequest, ["parent"]],
  [AcceptPublisherModelEulaRequest, ["parent"]],
  [UploadModelRequest, ["parent"]],
  [DeployModelRequest, ["endpoint"]],
  [UndeployModelRequest, ["endpoint"]],
  [PredictRequest, ["endpoint"]]
])

/** Row 3: fields that the documentation has at the top of a message, with the field that they belong into. */
export const moved: ReadonlyMap<AnyMessage, ReadonlyMap<string, string>> = new Map<AnyMessage, ReadonlyMap<string, string>>([
  [DeployRequest, new Map([["huggingFaceAccessToken", "modelConfig"], ["hugging_face_access_token", "modelConfig"]])]
])

/** Rewrites of messages, applied after their fields were renamed. */
export const rewrites: ReadonlyMap<AnyMessage, (message: JsonObject) => JsonObject> = new Map([
  [VertexVectorSearch, unswap]
])

/** Row 13: the documentation swaps the forms of the two names. */
function unswap(message: JsonObject): JsonObject {
  const { index, indexEndpoint } = message
  return named(index, "indexEndpoints") && named(indexEndpoint, "indexes")
    ? { ...message, index: indexEndpoint ?? "", indexEndpoint: index ?? "" }
    : message
}

const named = (name: Json | undefined, collection: string): boolean =>
  typeof name === "string" && new RegExp(`/${collection}/[^/]+$`).test(name)
