import type { SecretVersion } from "../domain/Secret.ts"

/** The parts of a version name that local resolvers use: the secret's id, and the version (a number, an alias or `latest`). */
export const partsOf = (version: SecretVersion): { readonly secret: string; readonly number: string } => {
  const parts = version.split("/")
  return { secret: parts.at(-3) ?? "", number: parts.at(-1) ?? "" }
}
