import { Result } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { ApiVersion } from "../Message.ts"
import type { RagEngineConfig } from "../messages/RagEngineConfig.ts"

/** Size of the managed database, for the whole project. */
export type EngineTier = "scaled" | "basic" | "unprovisioned" | "serverless"

/** The engine's configuration. v1beta1 has the tiers under `spanner`, and still shows them in their old place. */
export const engineTierToWire = (name: string, tier: EngineTier, version: ApiVersion): RagEngineConfig => ({
  name,
  ragManagedDbConfig: tier === "serverless"
    ? { serverless: {} }
    : { [tier]: {}, spanner: version === "v1beta1" ? { [tier]: {} } : undefined }
})

export const engineTierFromWire = (wire: RagEngineConfig): Result.Result<EngineTier, ServiceError> => {
  const { enterprise, serverless, spanner, ...old } = wire.ragManagedDbConfig ?? {}
  if (serverless !== undefined) return Result.succeed("serverless")
  const given = { ...old, ...spanner }
  if (given.scaled !== undefined || enterprise !== undefined) return Result.succeed("scaled")
  if (given.basic !== undefined) return Result.succeed("basic")
  if (given.unprovisioned !== undefined) return Result.succeed("unprovisioned")
  return Result.fail(ServiceError.invalid("rag_engine_config.rag_managed_db_config", "One of the tiers must be set."))
}
