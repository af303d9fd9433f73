import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs"
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
    const mount = readFileSync("/proc/mounts", "utf8").split("\n").findLast((line) => line.split(" ")[1] === memory)
    return mount !== undefined && !mount.includes("noexec") && bavail * bsize >= room && process.availableMemory() >= 2 * room
  } catch {
    return false
  }
}

/** Whether a process is there, whoever's it is. */
const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH" // `kill` throws nothing else
  }
}

/** Runs that were killed left their folders, which hold memory until somebody takes them away. */
export const removeAbandoned = (folder: string): void => {
  for (const name of readdirSync(folder)) {
    const pid = /^sluice-tests-(\d+)-/.exec(name)?.[1]
    if (pid === undefined || isRunning(Number(pid))) continue
    try {
      rmSync(join(folder, name), { recursive: true, force: true })
    } catch {
      // Somebody else's, who will run tests again.
    }
  }
}

/**
 * Vitest's global setup: temporary files are in memory, where the machine can and `TMPDIR` names no other place. A commit
 * of the store is on the disk before it is told of, and the tests have thousands: to wait for the disk was half of their time.
 */
export const setup = (): (() => void) | undefined => {
  if (process.env["TMPDIR"] !== undefined || !isFit()) return undefined
  removeAbandoned(memory)
  const folder = mkdtempSync(join(memory, `sluice-tests-${process.pid}-`))
  // Some tests start programs as somebody else.
  chmodSync(folder, 0o755)
  process.env["TMPDIR"] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
