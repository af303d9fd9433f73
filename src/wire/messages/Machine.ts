import { bool, duration, enumeration, int32, list, map, message, of, only, string } from "../Message.ts"

// The machines that a deployment runs on.

const acceleratorType = enumeration("AcceleratorType", {
  ACCELERATOR_TYPE_UNSPECIFIED: 0,
  NVIDIA_TESLA_K80: 1,
  NVIDIA_TESLA_P100: 2,
  NVIDIA_TESLA_V100: 3,
  NVIDIA_TESLA_P4: 4,
  NVIDIA_TESLA_T4: 5,
  NVIDIA_TESLA_A100: 8,
  NVIDIA_A100_80GB: 9,
  NVIDIA_L4: 11,
  NVIDIA_H100_80GB: 13,
  NVIDIA_H100_MEGA_80GB: 14,
  NVIDIA_H200_141GB: 15,
  NVIDIA_B200: 16,
  NVIDIA_GB200: 17,
  NVIDIA_RTX_PRO_6000: 18,
  TPU_V2: 6,
  TPU_V3: 7,
  TPU_V4_POD: 10,
  TPU_V5_LITEPOD: 12
})

const reservationAffinityType = enumeration("ReservationAffinity.Type", [
  "TYPE_UNSPECIFIED",
  "NO_RESERVATION",
  "ANY_RESERVATION",
  "SPECIFIC_RESERVATION"
])

const ReservationAffinity = message("ReservationAffinity", {
  reservationAffinityType,
  key: string,
  values: list(string)
})

export const MachineSpec = message("MachineSpec", {
  machineType: string,
  acceleratorType,
  acceleratorCount: int32,
  gpuPartitionSize: string,
  tpuTopology: string,
  multihostGpuNodeCount: only("v1beta1", int32),
  reservationAffinity: of(ReservationAffinity),
  minGpuDriverVersion: only("v1beta1", string)
})

const AutoscalingMetricSpec = message("AutoscalingMetricSpec", {
  metricName: string,
  target: int32,
  monitoredResourceLabels: only("v1beta1", map(string))
})

export const FlexStart = message("FlexStart", { maxRuntimeDuration: duration })

const ScaleToZeroSpec = message("DedicatedResources.ScaleToZeroSpec", {
  minScaleupPeriod: duration,
  idleScaledownPeriod: duration
})

export const DedicatedResources = message("DedicatedResources", {
  machineSpec: of(MachineSpec),
  minReplicaCount: int32,
  maxReplicaCount: int32,
  requiredReplicaCount: int32,
  initialReplicaCount: only("v1beta1", int32),
  autoscalingMetricSpecs: list(of(AutoscalingMetricSpec)),
  spot: bool,
  flexStart: only("v1beta1", of(FlexStart)),
  scaleToZeroSpec: only("v1beta1", of(ScaleToZeroSpec))
})

export const AutomaticResources = message("AutomaticResources", { minReplicaCount: int32, maxReplicaCount: int32 })
