import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs"
import { join } from "node:path"

/** Linux's file system in memory. */
const memory = "/dev/shm"

/** Least free bytes: several times what the tests use at once. */
const room = 2 * 2 ** 30

/** Whether files can be kept in memory: there is room, and programs can be started from there. */
const isFit = (): boolean => {
  try {
    accessSync(memory, constants.W_OK)
    const { bavail, bsize } = statfsSync(memory)
    const mount = readFileSync("/proc/mounts", "utf8").split("\n").findLast((line) => line.split(" ")[1] === memory)
    return mount !== undefined && !mount.includes("noexec") && bavail * bsize >= room && process.availableMemory() >= 2 * room
  } catch {
    return false
  }
}

/** Whether a process of any user exists. */
const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH" // `kill` throws nothing else
  }
}

/** Removes the folders of killed runs, which take memory until they are removed. */
export const removeAbandoned = (folder: string): void => {
  for (const name of readdirSync(folder)) {
    const pid = /^sluice-tests-(\d+)-/.exec(name)?.[1]
    if (pid === undefined || isRunning(Number(pid))) continue
    try {
      rmSync(join(folder, name), { recursive: true, force: true })
    } catch {
      // It belongs to another user, whose next run will remove it.
    }
  }
}

/**
 * Vitest's global setup: puts temporary files in memory where possible, unless `TMPDIR` names another place. Every commit of the
 * store is flushed to the disk, and the tests make thousands: waiting for the disk took half of their time.
 */
export const setup = (): (() => void) | undefined => {
  if (process.env["TMPDIR"] !== undefined || !isFit()) return undefined
  removeAbandoned(memory)
  const folder = mkdtempSync(join(memory, `sluice-tests-${process.pid}-`))
  // Some tests start programs as another user.
  chmodSync(folder, 0o755)
  process.env["TMPDIR"] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
