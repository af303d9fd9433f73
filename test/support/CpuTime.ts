/** Milliseconds this thread has computed so far. What else the machine does meanwhile does not count. */
export const cpuTime = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1_000
}
