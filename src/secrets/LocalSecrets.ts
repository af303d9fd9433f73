import { Layer } from "effect"
import { Secrets } from "../ports/Secrets.ts"
import { environmentResolver } from "./EnvironmentSecrets.ts"
import { fileResolver } from "./FileSecrets.ts"
import { chain } from "./Resolver.ts"

/**
 * Secrets of a machine without a secret manager: the environment first, then the files of `directory` (by convention
 * `secrets` in the data directory), which messages name `shown`.
 */
export const layer = (directory: string, shown?: string): Layer.Layer<Secrets> =>
  Layer.succeed(Secrets, chain([environmentResolver(), fileResolver(directory, shown)]))
