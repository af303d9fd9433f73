import { accessSync, chmodSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs"
import { join } from "node:path"

/** Where Linux has a file system in memory. */
const memory = "/dev/shm"

/** Bytes: several times what the tests have at once. */
const room = 2 * 2 ** 30

/** Whether files may be kept in memory: there is room for them, and programs among them may be started. */
const isFit = (): boolean => {
  try {
    accessSync(memory, constants.W_OK)
    const { bavail, bsize } = statfsSync(memory)
    const mount = readFileSync("/proc/mounts", "utf8").split("\n").find((line) => line.split(" ")[1] === memory)
    return mount !== undefined && !mount.includes("noexec") && bavail * bsize >= room && process.availableMemory() >= 2 * room
  } catch {
    return false
  }
}

/**
 * Vitest's global setup: temporary files are in memory, where the machine can and `TMPDIR` names no other place. A commit
 * of the store is on the disk before it is told of, and the tests have thousands: to wait for the disk was half of their time.
 */
export const setup = (): (() => void) | undefined => {
  if (process.env["TMPDIR"] !== undefined || !isFit()) return undefined
  const folder = mkdtempSync(join(memory, "sluice-"))
  // Some tests start programs as somebody else.
  chmodSync(folder, 0o755)
  process.env["TMPDIR"] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
