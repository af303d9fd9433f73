import { deprecated, type Field, message, of, oneof, only, type Of, string } from "../Message.ts"

const Scaled = message("RagManagedDbConfig.Scaled", {})
const Basic = message("RagManagedDbConfig.Basic", {})
const Unprovisioned = message("RagManagedDbConfig.Unprovisioned", {})

const tier = <A>(field: Field<A>) => oneof("tier", field)

const Spanner = message("RagManagedDbConfig.Spanner", {
  scaled: tier(of(Scaled)),
  basic: tier(of(Basic)),
  unprovisioned: tier(of(Unprovisioned))
})

/** The engine's configuration. v1beta1 deprecates these tiers in favour of `spanner`; v1 has only them. */
export const RagEngineConfig = message("RagEngineConfig", {
  name: string,
  ragManagedDbConfig: of(message("RagManagedDbConfig", {
    enterprise: only("v1beta1", deprecated(tier(of(message("RagManagedDbConfig.Enterprise", {}))))),
    scaled: tier(of(Scaled)),
    basic: tier(of(Basic)),
    unprovisioned: tier(of(Unprovisioned)),
    serverless: only("v1beta1", oneof("mode", of(message("RagManagedDbConfig.Serverless", {})))),
    spanner: only("v1beta1", oneof("mode", of(Spanner)))
  }))
})
export type RagEngineConfig = Of<typeof RagEngineConfig>
