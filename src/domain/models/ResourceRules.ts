import { acceleratorTypes, type Container, type Machine, machineText, reservationKey, type Resources } from "./Machine.ts"
import { isPartners, versionedName, type CatalogModel } from "./ModelCatalog.ts"
import type { Broken } from "../Rule.ts"

const longestName = 128

export const nameRules = (name: string | undefined, field: string): ReadonlyArray<Broken> =>
  name === undefined || (name.length > 0 && Array.from(name).length <= longestName)
    ? []
    : [{ field, description: `must have 1 to ${longestName} characters` }]

const isAccelerator = (type: string): boolean => acceleratorTypes.some((known) => known === type)

/**
 * Rules for the resources of a deployment: machine, accelerators, replicas, autoscaling, reservation. `at` is the field
 * of the dedicated resources.
 */
export const resourceRules = (resources: Resources, at: string): ReadonlyArray<Broken> => {
  const { maxReplicaCount, minReplicaCount = 1, requiredReplicaCount } = resources
  return [
    ...machineRules(resources.machine, `${at}.machine_spec`),
    ...reservationRules(resources, at),
    ...(minReplicaCount >= 1 ? [] : [{ field: `${at}.min_replica_count`, description: "must be at least 1" }]),
    ...(maxReplicaCount === undefined || maxReplicaCount >= minReplicaCount
      ? []
      : [{ field: `${at}.max_replica_count`, description: `must not be below min_replica_count, ${minReplicaCount}` }]),
    ...(requiredReplicaCount === undefined || (requiredReplicaCount >= 1 && requiredReplicaCount <= minReplicaCount)
      ? []
      : [{ field: `${at}.required_replica_count`, description: `must be 1 to min_replica_count, ${minReplicaCount}` }])
  ]
}

const machineRules = ({ acceleratorCount, acceleratorType, machineType }: Machine, at: string): ReadonlyArray<Broken> => [
  ...(machineType !== undefined && /^[a-z][a-z0-9-]*$/.test(machineType)
    ? []
    : [{
      field: `${at}.machine_type`,
      description: machineType === undefined ? "Required field is not set." : "must be a machine type, such as g2-standard-12"
    }]),
  ...(acceleratorType === undefined || isAccelerator(acceleratorType)
    ? []
    : [{ field: `${at}.accelerator_type`, description: `must be one of ${acceleratorTypes.join(", ")}` }]),
  ...(acceleratorCount === undefined || acceleratorCount >= 1
    ? []
    : [{ field: `${at}.accelerator_count`, description: "must be at least 1" }]),
  ...((acceleratorType === undefined) === (acceleratorCount === undefined)
    ? []
    : [{
      field: `${at}.${acceleratorType === undefined ? "accelerator_type" : "accelerator_count"}`,
      description: "accelerator_type and accelerator_count go together",
      fix: "give both, or neither"
    }])
]

const reservationForm = /^(?:projects\/[^/]+\/zones\/[^/]+\/reservations\/)?[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/

const reservationRules = ({ machine: { reservation }, spot }: Resources, at: string): ReadonlyArray<Broken> => {
  if (reservation === undefined) return []
  const field = `${at}.machine_spec.reservation_affinity`
  const { affinity, key, values = [] } = reservation
  const spotted = spot === true
    ? [{
      field: `${at}.spot`,
      description: "must not be combined with a reservation affinity type",
      fix: "use spot machines or a reservation, not both"
    }]
    : []
  if (affinity !== "SPECIFIC_RESERVATION") {
    return key === undefined && values.length === 0 ? spotted : [...spotted, {
      field,
      description: `${affinity} names no reservation: it and a specific reservation exclude each other`,
      fix: "leave key and values out, or use SPECIFIC_RESERVATION"
    }]
  }
  return [
    ...spotted,
    ...(key === reservationKey ? [] : [{ field: `${field}.key`, description: `must be ${reservationKey} for a specific reservation` }]),
    ...(values.length === 1 && reservationForm.test(values[0] ?? "")
      ? []
      : [{ field: `${field}.values`, description: "must hold the name of one reservation, such as my-reservation" }])
  ]
}

/** Rules for a container; `at` is its field. */
export const containerRules = (
  { env = [], healthRoute, imageUri, ports = [], predictRoute }: Container,
  at: string
): ReadonlyArray<Broken> => [
  ...(imageUri === "" ? [{ field: `${at}.image_uri`, description: "Required field is not set." }] : []),
  ...ports.flatMap((port, i) =>
    Number.isInteger(port) && port >= 1 && port <= 65535
      ? []
      : [{ field: `${at}.ports[${i}].container_port`, description: "must be 1 to 65535" }]
  ),
  ...env.flatMap(({ name }, i) =>
    /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? [] : [{ field: `${at}.env[${i}].name`, description: "must be an identifier of C" }]
  ),
  ...([["predict_route", predictRoute], ["health_route", healthRoute]] as const).flatMap(([name, route]) =>
    route === undefined || /^\/\S*$/.test(route) ? [] : [{ field: `${at}.${name}`, description: "must be a path, from /" }]
  )
]

/** Rules for a partner's model, which only runs on the machines that the partner recommends. */
export const partnerRules = (model: CatalogModel, resources: Resources, at: string): ReadonlyArray<Broken> => {
  const recommended = model.deploy.flatMap((option) => option.resources?.machine ?? [])
  if (!isPartners(model) || recommended.length === 0 || recommended.some((machine) => sameMachine(machine, resources.machine))) return []
  return [{
    field: `${at}.machine_spec`,
    description: `${versionedName(model)} is a partner's model and runs on ${recommended.map(machineText).join(", or ")} only`,
    fix: "use one of the recommended configurations, or leave the resources out for the default"
  }]
}

const sameMachine = (a: Machine, b: Machine): boolean =>
  a.machineType === b.machineType && a.acceleratorType === b.acceleratorType && a.acceleratorCount === b.acceleratorCount
