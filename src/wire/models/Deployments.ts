import { Redacted, Result } from "effect"
import { isEmpty } from "../../domain/Defined.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { type DeployRequest, hubId } from "../../domain/models/ModelCatalog.ts"
import { containerFromWire, containerToWire, resourcesFromWire, resourcesToWire } from "./Machines.ts"
import type { DeployPublisherModelRequest, DeployRequest as WireRequest } from "../messages/Deploy.ts"
import { defined, text } from "../Optional.ts"

type Config = NonNullable<WireRequest["deployConfig"]>

/** The request for a deployment. It is the only message that contains the hub's token. */
export const deployRequestToWire = (destination: string, request: DeployRequest): WireRequest => {
  const { huggingFaceAccessToken: token, resources } = request
  return defined({
    publisherModelName: request.publisherModelName,
    huggingFaceModelId: request.huggingFaceModelId,
    destination,
    modelConfig: some({
      acceptEula: request.acceptEula,
      huggingFaceAccessToken: token === undefined ? undefined : Redacted.value(token),
      huggingFaceCacheEnabled: request.huggingFaceCacheEnabled,
      modelDisplayName: request.modelDisplayName,
      containerSpec: request.container === undefined ? undefined : containerToWire(request.container),
      modelUserId: request.modelUserId
    }),
    endpointConfig: some({ endpointDisplayName: request.endpointDisplayName, endpointUserId: request.endpointUserId }),
    deployConfig: some<Config>({
      dedicatedResources: resources === undefined ? undefined : resourcesToWire(resources),
      fastTryoutEnabled: request.fastTryout,
      systemLabels: request.systemLabels
    })
  })
}

const some = <A extends object>(part: A) => {
  const kept = defined(part)
  return isEmpty(kept) ? undefined : kept
}

export const deployRequestFromWire = (wire: WireRequest): Result.Result<DeployRequest, ServiceError> =>
  Result.gen(function*() {
    const { deployConfig: { dedicatedResources, fastTryoutEnabled, systemLabels } = {}, endpointConfig = {}, modelConfig = {} } = wire
    if (wire.customModel !== undefined) {
      return yield* Result.fail(
        new ServiceError({
          code: "UNIMPLEMENTED",
          message: "custom_model: this server does not deploy models from object storage",
          fix: "name a model of the catalog or of the hub"
        })
      )
    }
    const { containerSpec } = modelConfig
    return defined({
      publisherModelName: text(wire.publisherModelName),
      huggingFaceModelId: text(wire.huggingFaceModelId),
      huggingFaceAccessToken: token(modelConfig.huggingFaceAccessToken),
      huggingFaceCacheEnabled: modelConfig.huggingFaceCacheEnabled,
      acceptEula: modelConfig.acceptEula,
      modelDisplayName: text(modelConfig.modelDisplayName),
      modelUserId: text(modelConfig.modelUserId),
      container: containerSpec === undefined ? undefined : containerFromWire(containerSpec),
      endpointDisplayName: text(endpointConfig.endpointDisplayName),
      endpointUserId: text(endpointConfig.endpointUserId),
      resources: dedicatedResources === undefined
        ? undefined
        : yield* resourcesFromWire(dedicatedResources, "deploy_config.dedicated_resources"),
      fastTryout: fastTryoutEnabled,
      systemLabels: systemLabels === undefined || Object.keys(systemLabels).length === 0 ? undefined : systemLabels
    })
  })

/** Decodes the request of the older method, which names every model, those of the hub too, by a publisher's name. */
export const deployPublisherModelFromWire = (wire: DeployPublisherModelRequest): Result.Result<DeployRequest, ServiceError> => {
  const hub = hubId(wire.model ?? "")
  const model = text(wire.model)
  return deployRequestFromWire(defined({
    publisherModelName: hub === undefined ? model : undefined,
    huggingFaceModelId: hub,
    modelConfig: defined({
      acceptEula: wire.acceptEula,
      huggingFaceAccessToken: wire.huggingFaceAccessToken,
      modelDisplayName: wire.modelDisplayName
    }),
    endpointConfig: defined({ endpointDisplayName: wire.endpointDisplayName }),
    deployConfig: defined({ dedicatedResources: wire.dedicatedResources })
  }))
}

const token = (
  value: string | undefined
) => (value === undefined || value === "" ? undefined : Redacted.make(value, { label: "hub access token" }))
