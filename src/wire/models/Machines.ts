import { Result } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { type Container, type Machine, Reservation, type Resources } from "../../domain/models/Machine.ts"
import type { Of } from "../Message.ts"
import type { ModelContainerSpec } from "../messages/Container.ts"
import type { DedicatedResources, MachineSpec } from "../messages/Machine.ts"
import { count, defined, text } from "../Optional.ts"
import { settingsIn, settingsOf } from "../Settings.ts"

type WireMachine = Of<typeof MachineSpec>
type WireResources = Of<typeof DedicatedResources>
type WireContainer = Of<typeof ModelContainerSpec>

export const resourcesToWire = (resources: Resources): WireResources =>
  defined({
    ...settingsIn<WireResources>(resources.settings),
    machineSpec: machineToWire(resources.machine),
    minReplicaCount: resources.minReplicaCount ?? 1,
    maxReplicaCount: resources.maxReplicaCount,
    requiredReplicaCount: resources.requiredReplicaCount,
    spot: resources.spot
  })

const machineToWire = ({ acceleratorCount, acceleratorType, machineType, reservation, settings, tpuTopology }: Machine): WireMachine =>
  defined({
    ...settingsIn<WireMachine>(settings),
    machineType,
    acceleratorType,
    acceleratorCount,
    tpuTopology,
    reservationAffinity: reservation === undefined
      ? undefined
      : defined({ reservationAffinityType: reservation.affinity, key: reservation.key, values: reservation.values })
  })

/** @param at path of the field, for errors about it */
export const resourcesFromWire = (wire: WireResources, at: string): Result.Result<Resources, ServiceError> =>
  Result.map(machineFromWire(wire.machineSpec ?? {}, `${at}.machine_spec`), (machine) =>
    defined({
      machine,
      minReplicaCount: count(wire.minReplicaCount),
      maxReplicaCount: count(wire.maxReplicaCount),
      requiredReplicaCount: count(wire.requiredReplicaCount),
      spot: wire.spot === true ? true : undefined,
      settings: settingsOf(wire, resourceFields)
    }))

const resourceFields: ReadonlyArray<keyof WireResources> = [
  "machineSpec",
  "minReplicaCount",
  "maxReplicaCount",
  "requiredReplicaCount",
  "spot"
]
const machineFields: ReadonlyArray<keyof WireMachine> = [
  "machineType",
  "acceleratorType",
  "acceleratorCount",
  "tpuTopology",
  "reservationAffinity"
]

const affinities = Reservation.fields.affinity.literals

const machineFromWire = (wire: WireMachine, at: string): Result.Result<Machine, ServiceError> => {
  const given = wire.reservationAffinity
  const affinity = affinities.find((known) => known === given?.reservationAffinityType)
  if (given !== undefined && affinity === undefined) {
    return Result.fail(ServiceError.invalid(
      `${at}.reservation_affinity.reservation_affinity_type`,
      `must be one of ${affinities.join(", ")}`
    ))
  }
  return Result.succeed(defined({
    machineType: text(wire.machineType),
    acceleratorType: wire.acceleratorType === "ACCELERATOR_TYPE_UNSPECIFIED" ? undefined : text(wire.acceleratorType),
    acceleratorCount: count(wire.acceleratorCount),
    tpuTopology: text(wire.tpuTopology),
    reservation: affinity === undefined
      ? undefined
      : defined({
        affinity,
        key: text(given?.key),
        values: given?.values === undefined || given.values.length === 0 ? undefined : given.values
      }),
    settings: settingsOf(wire, machineFields)
  }))
}

export const containerToWire = ({ args, command, env, healthRoute, imageUri, ports, predictRoute }: Container): WireContainer =>
  defined({ imageUri, command, args, env, ports: ports?.map((containerPort) => ({ containerPort })), predictRoute, healthRoute })

export const containerFromWire = (wire: WireContainer): Container =>
  defined({
    imageUri: wire.imageUri ?? "",
    command: some(wire.command),
    args: some(wire.args),
    env: some(wire.env)?.map(({ name = "", value = "" }) => ({ name, value })),
    ports: some(wire.ports)?.map(({ containerPort = 0 }) => containerPort),
    predictRoute: text(wire.predictRoute),
    healthRoute: text(wire.healthRoute)
  })

const some = <A>(list: ReadonlyArray<A> | undefined): ReadonlyArray<A> | undefined =>
  list === undefined || list.length === 0 ? undefined : list
