/** Milliseconds of processor time of this thread so far. Other work of the machine does not count. */
export const cpuTime = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1_000
}
