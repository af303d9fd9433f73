/**
 * Number of random cases that a test tries: `few`, or `full` under `SLUICE_SEEDS=full`, or the value of the variable `name`, which
 * is for this kind of cases alone.
 */
export const seedsOf = (name: string, few: number, full: number): number =>
  Number(process.env[name] ?? (process.env["SLUICE_SEEDS"] === "full" ? full : few))
