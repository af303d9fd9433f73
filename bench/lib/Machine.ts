import { cpus } from "node:os"

/** The machine that figures were measured on: they are not comparable with those of another one. */
export const machine = {
  node: process.versions.node,
  platform: `${process.platform} ${process.arch}`,
  cpus: cpus().length,
  cpu: cpus()[0]?.model
}

export const machineLine = `Node ${machine.node}, ${machine.cpus} x ${machine.cpu}, ${machine.platform}`
