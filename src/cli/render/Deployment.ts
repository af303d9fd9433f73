import { machineText, type Resources } from "../../domain/models/Machine.ts"
import type { CatalogModel } from "../../domain/models/ModelCatalog.ts"
import { plural } from "../../domain/Numbers.ts"

const replicas = ({ maxReplicaCount, minReplicaCount = 1 }: Resources): string => {
  const most = maxReplicaCount ?? minReplicaCount
  return most === minReplicaCount ? plural(most, "replica") : `${minReplicaCount} to ${most} replicas`
}

const pool = ({ machine: { reservation }, spot }: Resources): ReadonlyArray<string> => [
  ...(spot === true ? ["spot"] : []),
  ...(reservation === undefined
    ? []
    : [
      reservation.affinity === "SPECIFIC_RESERVATION"
        ? `reservation ${reservation.values?.join(", ") ?? ""}`
        : reservation.affinity === "ANY_RESERVATION"
        ? "any reservation"
        : "no reservation"
    ])
]

/** Describes resources: `g2-standard-12 + 1 x NVIDIA_L4, 1 replica, spot`. */
export const resourcesText = (resources: Resources): string =>
  [machineText(resources.machine), replicas(resources), ...pool(resources)].join(", ")

/** The line shown before anything is deployed. */
export const planLine = (what: string, where: string, resources: Resources | undefined, costs: boolean): string =>
  `deploy ${what} on ${where}: ${resources === undefined ? "the service's default configuration" : resourcesText(resources)}; ${
    costs ? "it costs as long as it runs, also when nobody calls it" : "this engine only writes it down, and nothing runs or costs"
  }`

/** Describes a model's default configuration, for listings. */
export const defaultMachine = ({ deploy: [option] }: Pick<CatalogModel, "deploy">): string =>
  option?.resources === undefined ? "" : machineText(option.resources.machine)
