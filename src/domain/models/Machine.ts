import { Schema } from "effect"
import { Settings } from "../Settings.ts"

/** Types of accelerators. */
export const acceleratorTypes = [
  "NVIDIA_TESLA_K80",
  "NVIDIA_TESLA_P100",
  "NVIDIA_TESLA_V100",
  "NVIDIA_TESLA_P4",
  "NVIDIA_TESLA_T4",
  "NVIDIA_TESLA_A100",
  "NVIDIA_A100_80GB",
  "NVIDIA_L4",
  "NVIDIA_H100_80GB",
  "NVIDIA_H100_MEGA_80GB",
  "NVIDIA_H200_141GB",
  "NVIDIA_B200",
  "NVIDIA_GB200",
  "NVIDIA_RTX_PRO_6000",
  "TPU_V2",
  "TPU_V3",
  "TPU_V4_POD",
  "TPU_V5_LITEPOD"
] as const

/** The only key of a specific reservation. */
export const reservationKey = "compute.googleapis.com/reservation-name"

export const Reservation = Schema.Struct({
  /** `NO_RESERVATION` uses the general pool; `ANY_RESERVATION` falls back to it; `SPECIFIC_RESERVATION` fails without capacity. */
  affinity: Schema.Literals(["NO_RESERVATION", "ANY_RESERVATION", "SPECIFIC_RESERVATION"]),
  key: Schema.optionalKey(Schema.String),
  /** Name of the reservation, for a specific one. */
  values: Schema.optionalKey(Schema.Array(Schema.String))
})
export type Reservation = typeof Reservation.Type

export const Machine = Schema.Struct({
  machineType: Schema.optionalKey(Schema.String),
  acceleratorType: Schema.optionalKey(Schema.String),
  acceleratorCount: Schema.optionalKey(Schema.Int),
  tpuTopology: Schema.optionalKey(Schema.String),
  reservation: Schema.optionalKey(Reservation),
  settings: Schema.optionalKey(Settings)
})
export type Machine = typeof Machine.Type

/** Machines of one deployment, which cost money as long as it exists. */
export const Resources = Schema.Struct({
  machine: Machine,
  /** Least number of replicas. Default 1. */
  minReplicaCount: Schema.optionalKey(Schema.Int),
  /** Most replicas. Default `minReplicaCount`. */
  maxReplicaCount: Schema.optionalKey(Schema.Int),
  requiredReplicaCount: Schema.optionalKey(Schema.Int),
  spot: Schema.optionalKey(Schema.Boolean),
  settings: Schema.optionalKey(Settings)
})
export type Resources = typeof Resources.Type

/** The image that serves a model. */
export const Container = Schema.Struct({
  imageUri: Schema.String,
  command: Schema.optionalKey(Schema.Array(Schema.String)),
  args: Schema.optionalKey(Schema.Array(Schema.String)),
  env: Schema.optionalKey(Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.String }))),
  ports: Schema.optionalKey(Schema.Array(Schema.Int)),
  predictRoute: Schema.optionalKey(Schema.String),
  healthRoute: Schema.optionalKey(Schema.String)
})
export type Container = typeof Container.Type

/** Describes machine type, accelerator type and count on one line: `g2-standard-12 + 1 x NVIDIA_L4`. */
export const machineText = ({ acceleratorCount, acceleratorType, machineType = "a machine of the service's choice" }: Machine): string =>
  acceleratorType === undefined ? machineType : `${machineType} + ${acceleratorCount ?? 1} x ${acceleratorType}`
