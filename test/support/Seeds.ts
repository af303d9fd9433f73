/**
 * How many random cases a test tries: `few`, or `full` of them under `SLUICE_SEEDS=full`; or what the variable of that name
 * says, for this kind of cases alone.
 */
export const seedsOf = (name: string, few: number, full: number): number =>
  Number(process.env[name] ?? (process.env["SLUICE_SEEDS"] === "full" ? full : few))
