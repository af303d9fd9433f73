import {
  AcceptPublisherModelEulaRequest,
  CheckPublisherModelEulaAcceptanceRequest,
  DeployPublisherModelRequest,
  DeployPublisherModelResponse,
  DeployRequest,
  DeployResponse,
  PublisherModelEulaAcceptance
} from "../messages/Deploy.ts"
import {
  CreateEndpointRequest,
  DeployModelRequest,
  DeployModelResponse,
  Endpoint,
  ListEndpointsRequest,
  ListEndpointsResponse,
  UndeployModelRequest,
  UndeployModelResponse,
  UpdateEndpointRequest
} from "../messages/Endpoint.ts"
import { ListModelsRequest, ListModelsResponse, Model, UploadModelRequest, UploadModelResponse } from "../messages/Model.ts"
import {
  CreateEndpointOperationMetadata,
  DeleteOperationMetadata,
  DeployModelOperationMetadata,
  DeployOperationMetadata,
  DeployPublisherModelOperationMetadata,
  Operation,
  UndeployModelOperationMetadata,
  UploadModelOperationMetadata
} from "../messages/Operations.ts"
import { PredictRequest, PredictResponse } from "../messages/Predict.ts"
import {
  GetPublisherModelRequest,
  ListPublisherModelsRequest,
  ListPublisherModelsResponse,
  PublisherModel
} from "../messages/PublisherModel.ts"
import { Empty } from "../messages/Rpc.ts"
import { location, rawRoute, route } from "../Route.ts"

const garden = "ModelGardenService."
const model = "projects/*/locations/*/models/*"
const endpoint = "projects/*/locations/*/endpoints/*"

/** Routes of the catalog, its deployments, a project's models, and the endpoints that serve them. */
export const modelRoutes = {
  /** Lists models of every publisher: the parent is literally `publishers/*`. */
  listPublisherModels: route(`${garden}ListPublisherModels`, "GET", "{parent=publishers/*}/models", {
    query: ListPublisherModelsRequest,
    response: ListPublisherModelsResponse
  }),
  getPublisherModel: route(`${garden}GetPublisherModel`, "GET", "{name=publishers/*/models/*}", {
    query: GetPublisherModelRequest,
    response: PublisherModel
  }),
  deploy: route(`${garden}Deploy`, "POST", `{destination=${location}}:deploy`, {
    body: DeployRequest,
    response: Operation,
    operation: { kind: "deploy", metadata: DeployOperationMetadata, response: DeployResponse }
  }),
  deployPublisherModel: route(`${garden}DeployPublisherModel`, "POST", `{destination=${location}}:deployPublisherModel`, {
    body: DeployPublisherModelRequest,
    response: Operation,
    operation: { kind: "deployPublisherModel", metadata: DeployPublisherModelOperationMetadata, response: DeployPublisherModelResponse }
  }),
  checkPublisherModelEula: route(`${garden}CheckPublisherModelEulaAcceptance`, "POST", "{parent=projects/*}/modelGardenEula:check", {
    body: CheckPublisherModelEulaAcceptanceRequest,
    response: PublisherModelEulaAcceptance
  }),
  acceptPublisherModelEula: route(`${garden}AcceptPublisherModelEula`, "POST", "{parent=projects/*}/modelGardenEula:accept", {
    body: AcceptPublisherModelEulaRequest,
    response: PublisherModelEulaAcceptance
  }),

  uploadModel: route("ModelService.UploadModel", "POST", `{parent=${location}}/models:upload`, {
    body: UploadModelRequest,
    response: Operation,
    operation: { kind: "uploadModel", metadata: UploadModelOperationMetadata, response: UploadModelResponse }
  }),
  listModels: route("ModelService.ListModels", "GET", `{parent=${location}}/models`, {
    query: ListModelsRequest,
    response: ListModelsResponse
  }),
  getModel: route("ModelService.GetModel", "GET", `{name=${model}}`, { response: Model }),
  deleteModel: route("ModelService.DeleteModel", "DELETE", `{name=${model}}`, {
    response: Operation,
    operation: { kind: "deleteModel", metadata: DeleteOperationMetadata, response: Empty }
  }),

  createEndpoint: route("EndpointService.CreateEndpoint", "POST", `{parent=${location}}/endpoints`, {
    query: CreateEndpointRequest,
    body: Endpoint,
    bodyField: "endpoint",
    response: Operation,
    operation: { kind: "createEndpoint", metadata: CreateEndpointOperationMetadata, response: Endpoint }
  }),
  listEndpoints: route("EndpointService.ListEndpoints", "GET", `{parent=${location}}/endpoints`, {
    query: ListEndpointsRequest,
    response: ListEndpointsResponse
  }),
  getEndpoint: route("EndpointService.GetEndpoint", "GET", `{name=${endpoint}}`, { response: Endpoint }),
  updateEndpoint: route("EndpointService.UpdateEndpoint", "PATCH", `{name=${endpoint}}`, {
    query: UpdateEndpointRequest,
    body: Endpoint,
    bodyField: "endpoint",
    response: Endpoint
  }),
  deleteEndpoint: route("EndpointService.DeleteEndpoint", "DELETE", `{name=${endpoint}}`, {
    response: Operation,
    operation: { kind: "deleteEndpoint", metadata: DeleteOperationMetadata, response: Empty }
  }),
  deployModel: route("EndpointService.DeployModel", "POST", `{endpoint=${endpoint}}:deployModel`, {
    body: DeployModelRequest,
    response: Operation,
    operation: { kind: "deployModel", metadata: DeployModelOperationMetadata, response: DeployModelResponse }
  }),
  undeployModel: route("EndpointService.UndeployModel", "POST", `{endpoint=${endpoint}}:undeployModel`, {
    body: UndeployModelRequest,
    response: Operation,
    operation: { kind: "undeployModel", metadata: UndeployModelOperationMetadata, response: UndeployModelResponse }
  }),

  endpointPredict: route(
    "PredictionService.Predict",
    "POST",
    [`{endpoint=${endpoint}}:predict`, `{endpoint=${location}/publishers/*/models/*}:predict`],
    { body: PredictRequest, response: PredictResponse }
  ),
  endpointRawPredict: rawRoute("PredictionService.RawPredict", `{endpoint=${endpoint}}:rawPredict`),
  endpointStreamRawPredict: rawRoute("PredictionService.StreamRawPredict", `{endpoint=${endpoint}}:streamRawPredict`)
}
