import { Result } from "effect"
import { isEmpty } from "../../domain/Defined.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { type Filter, parseFilter, soughtIn } from "../../domain/ListFilter.ts"
import {
  type CatalogModel,
  type CatalogQuery,
  type DeployOption,
  hubId,
  type Notebook,
  versionedName
} from "../../domain/models/ModelCatalog.ts"
import { containerFromWire, containerToWire, resourcesFromWire, resourcesToWire } from "./Machines.ts"
import type { Of } from "../Message.ts"
import type { ListPublisherModelsRequest, PublisherModel } from "../messages/PublisherModel.ts"
import { defined, text } from "../Optional.ts"

type ListRequest = Of<typeof ListPublisherModelsRequest>
type Actions = NonNullable<PublisherModel["supportedActions"]>
type WireDeploy = NonNullable<Actions["deploy"]>
type WireNotebook = NonNullable<Actions["openNotebook"]>

const verified = "labels.VERIFIED_DEPLOYMENT_CONFIG=VERIFIED_DEPLOYMENT_SUCCEED"

/** The query of a list, as the service's own tools send it. */
export const catalogQueryToWire = (query: CatalogQuery): ListRequest => {
  const filter = [
    ...(query.hub === true ? ["is_hf_wildcard(true)"] : query.hub === false ? ["is_hf_wildcard(false)"] : []),
    ...(query.verified === true ? [verified] : []),
    ...(query.deployable === true ? ["is_deployable(true)"] : []),
    ...(query.search === undefined ? [] : [`model_user_id=~"(?i).*${query.search}.*"`])
  ].join(" AND ")
  return { filter: filter === "" ? undefined : filter, listAllVersions: query.allVersions === true ? true : undefined }
}

/** @param parent `publishers/*`, or the name of one publisher */
export const catalogQueryFromWire = (parent: string, request: ListRequest): Result.Result<CatalogQuery, ServiceError> =>
  Result.gen(function*() {
    const publisher = parent.slice(parent.indexOf("/") + 1)
    let query: CatalogQuery = {
      publisher: publisher === "*" ? undefined : publisher,
      allVersions: request.listAllVersions === true ? true : undefined
    }
    const filter = yield* parseFilter(request.filter ?? "")
    for (const one of "all" in filter ? filter.all : [filter]) {
      const parts = ("any" in one ? one.any : [one]).map(partOf)
      const [part] = parts
      // The only OR that clients send looks for a word in two names.
      if (
        part === undefined || parts.some((other) => other === undefined || other.search !== part.search) ||
        (parts.length > 1 && part.search === undefined)
      ) {
        return yield* Result.fail(ServiceError.invalid(
          "filter",
          "takes is_deployable(true), is_hf_wildcard(true or false), labels.VERIFIED_DEPLOYMENT_CONFIG and model_user_id=~\"(?i).*word.*\", joined by AND"
        ))
      }
      query = { ...query, ...part }
    }
    return query
  })

const partOf = (filter: Filter): CatalogQuery | undefined => {
  if (!("field" in filter)) return undefined
  const { field, operator, value } = filter
  const truth = value === "true"
  if (field === "is_deployable" && operator === "=") return { deployable: truth }
  if (field === "is_hf_wildcard" && operator === "=") return { hub: truth }
  if (field === "labels.VERIFIED_DEPLOYMENT_CONFIG" && value === "VERIFIED_DEPLOYMENT_SUCCEED") return { verified: true }
  const search = operator === "=~" && (field === "model_user_id" || field === "display_name") ? soughtIn(value) : undefined
  return search === undefined ? undefined : { search }
}

/** @param basic leaves out the settings for deploying the model */
export const catalogModelToWire = (model: CatalogModel, basic = false): PublisherModel => {
  const deploy = basic ? [] : model.deploy.map((option) => deployToWire(option, model))
  const actions = defined({
    openNotebook: basic || model.notebook === undefined ? undefined : notebookToWire(model.notebook),
    deploy: deploy[0],
    multiDeployVertex: deploy.length === 0 ? undefined : { multiDeployVertex: deploy }
  })
  return defined({
    name: model.name,
    versionId: model.versionId,
    openSourceCategory: model.openSourceCategory,
    launchStage: model.launchStage,
    versionState: model.versionState,
    frameworks: model.frameworks,
    supportedActions: isEmpty(actions) ? undefined : actions
  })
}

const deployToWire = (option: DeployOption, model: CatalogModel): WireDeploy =>
  defined({
    dedicatedResources: option.resources === undefined ? undefined : resourcesToWire(option.resources),
    modelDisplayName: option.modelDisplayName,
    containerSpec: option.container === undefined ? undefined : containerToWire(option.container),
    artifactUri: option.artifactUri,
    deployTaskName: option.deployTaskName,
    deployMetadata: option.sampleRequest === undefined && option.labels === undefined
      ? undefined
      : defined({ sampleRequest: option.sampleRequest, labels: option.labels }),
    // The proto requires a title.
    title: option.title ?? `Deploy ${hubId(model.name) ?? versionedName(model)}`,
    publicArtifactUri: option.publicArtifactUri
  })

const notebookToWire = (notebook: Notebook): WireNotebook =>
  defined({
    references: Object.fromEntries(Object.entries(notebook.references).map(([region, uri]) => [region, { uri }])),
    title: notebook.title ?? notebook.resourceTitle ?? "Open notebook",
    resourceTitle: notebook.resourceTitle,
    resourceUseCase: notebook.resourceUseCase,
    resourceDescription: notebook.resourceDescription
  })

export const catalogModelFromWire = (wire: PublisherModel): Result.Result<CatalogModel, ServiceError> =>
  Result.gen(function*() {
    const { deploy, multiDeployVertex, openNotebook } = wire.supportedActions ?? {}
    const options = multiDeployVertex?.multiDeployVertex ?? (deploy === undefined ? [] : [deploy])
    // Some lists append the version to the name.
    const name = (wire.name ?? "").replace(/@.*$/, "")
    return defined({
      name,
      versionId: text(wire.versionId) ?? /@(.+)$/.exec(wire.name ?? "")?.[1] ?? "default",
      openSourceCategory: text(wire.openSourceCategory),
      launchStage: text(wire.launchStage),
      versionState: text(wire.versionState),
      frameworks: wire.frameworks,
      notebook: openNotebook === undefined ? undefined : notebookFromWire(openNotebook),
      deploy: yield* Result.all(options.map(deployFromWire))
    })
  })

const deployFromWire = (wire: WireDeploy): Result.Result<DeployOption, ServiceError> =>
  Result.gen(function*() {
    const { containerSpec, dedicatedResources, deployMetadata } = wire
    return defined({
      title: text(wire.title),
      modelDisplayName: text(wire.modelDisplayName),
      container: containerSpec === undefined ? undefined : containerFromWire(containerSpec),
      resources: dedicatedResources === undefined ? undefined : yield* resourcesFromWire(dedicatedResources, "dedicated_resources"),
      artifactUri: text(wire.artifactUri),
      publicArtifactUri: text(wire.publicArtifactUri),
      deployTaskName: text(wire.deployTaskName),
      sampleRequest: text(deployMetadata?.sampleRequest),
      labels: deployMetadata?.labels
    })
  })

const notebookFromWire = (wire: WireNotebook): Notebook =>
  defined({
    title: text(wire.title),
    references: Object.fromEntries(
      Object.entries(wire.references ?? {}).map(([region, { resourceName = "", uri }]) => [region, uri ?? resourceName])
    ),
    resourceTitle: text(wire.resourceTitle),
    resourceUseCase: text(wire.resourceUseCase),
    resourceDescription: text(wire.resourceDescription)
  })
