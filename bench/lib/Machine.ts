import { cpus } from "node:os"

/** What figures were taken on: they compare with nothing that was taken on another. */
export const machine = {
  node: process.versions.node,
  platform: `${process.platform} ${process.arch}`,
  cpus: cpus().length,
  cpu: cpus()[0]?.model
}

export const machineLine = `Node ${machine.node}, ${machine.cpus} x ${machine.cpu}, ${machine.platform}`
