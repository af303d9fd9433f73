import { ServiceError } from "../../../domain/Errors.ts"
import type { Resources } from "../../../domain/models/Machine.ts"
import type { Catalog } from "./CatalogFile.ts"
import type { EndpointRecord } from "./ModelStore.ts"

const reservationOf = ({ machine: { reservation } }: Resources): string | undefined =>
  reservation?.affinity === "SPECIFIC_RESERVATION" ? reservation.values?.[0]?.replace(/^.*\//, "") : undefined

/** The error for a deployment that does not fit into the reservation it names; without one it uses the general pool. */
export const reservationFull = (
  { reservations = [] }: Catalog,
  endpoints: ReadonlyArray<EndpointRecord>,
  resources: Resources
): ServiceError | undefined => {
  const name = reservationOf(resources)
  if (name === undefined) return undefined
  const replicas = reservations.find((each) => each.name === name)?.replicas ?? 0
  const used = endpoints.flatMap(({ deployed }) => deployed)
    .filter((deployed) => deployed.resources !== undefined && reservationOf(deployed.resources) === name)
    .reduce((sum, deployed) => sum + (deployed.resources?.minReplicaCount ?? 1), 0)
  const wanted = resources.minReplicaCount ?? 1
  return used + wanted <= replicas ? undefined : new ServiceError({
    code: "RESOURCE_EXHAUSTED",
    message: `reservation ${name} has no capacity: ${used} of its ${replicas} replicas are taken, and ${wanted} ${
      wanted === 1 ? "is" : "are"
    } wanted`,
    fix: "use ANY_RESERVATION, which falls back to the general pool, or another reservation"
  })
}
