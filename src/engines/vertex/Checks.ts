import { Effect } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import type { SecretVersion } from "../../domain/Secret.ts"
import { GoogleAuth } from "../../net/GoogleAuth.ts"
import { Secrets } from "../../ports/Secrets.ts"
import { routes } from "../../wire/Routes.ts"
import { Transport } from "./Transport.ts"

/** The result of one check, with what to do if it failed. */
export interface Finding {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
  readonly fix?: string
}

/** Requirements for a call, in the order in which the service checks them. */
type Gate = "credentials" | "project" | "API" | "billing" | "permissions" | "region" | "service"
const gates: ReadonlyArray<Gate> = ["credentials", "project", "API", "billing", "permissions", "region"]

const gateOfReason: Readonly<Record<string, Gate>> = {
  ACCESS_TOKEN_EXPIRED: "credentials",
  ACCESS_TOKEN_SCOPE_INSUFFICIENT: "credentials",
  ACCESS_TOKEN_TYPE_UNSUPPORTED: "credentials",
  CREDENTIALS_MISSING: "credentials",
  ACCOUNT_STATE_INVALID: "credentials",
  CONSUMER_INVALID: "project",
  CONSUMER_SUSPENDED: "project",
  RESOURCE_PROJECT_INVALID: "project",
  USER_PROJECT_DENIED: "project",
  SERVICE_DISABLED: "API",
  API_DISABLED: "API",
  BILLING_DISABLED: "billing",
  LOCATION_POLICY_VIOLATED: "region",
  LOCATION_ORG_POLICY_VIOLATED: "region"
}

const gateOf = (error: ServiceError): Gate => {
  const gate = gateOfReason[error.reason ?? ""]
  if (gate !== undefined) return gate
  if (error.code === "UNAUTHENTICATED") return "credentials"
  if (error.code === "PERMISSION_DENIED") return "permissions"
  // A location that does not exist has no host; one without this service refuses the call.
  const noHost = error.code === "UNAVAILABLE" && error.message.includes("ENOTFOUND")
  return noHost || error.code === "INVALID_ARGUMENT" || error.code === "FAILED_PRECONDITION" || error.code === "UNIMPLEMENTED"
    ? "region"
    : "service"
}

/**
 * Checks whether the service can be used: credentials, project, API, billing, permissions and region, by listing corpora once,
 * whose refusal names the first requirement that is not met; then whether each secret can be read. Requirements after the first
 * failed one are unknown, and not mentioned.
 */
export const checks = Effect.fn("hosted.checks")(function*(
  secretVersions: ReadonlyArray<SecretVersion>
): Effect.fn.Return<ReadonlyArray<Finding>, never, Transport | GoogleAuth | Secrets> {
  const transport = yield* Transport
  const auth = yield* GoogleAuth
  const { endpoint, parent } = transport
  const list = transport.call({ route: routes.listRagCorpora, params: { parent }, query: { pageSize: 1 } })
  const listed = yield* Effect.result(endpoint.google ? Effect.andThen(auth.token, list) : list)
  if (listed._tag === "Failure") {
    const { failure } = listed
    const gate = gateOf(failure)
    const passed = gate === "service" ? [] : gates.slice(0, gates.indexOf(gate))
    return [...passed.map((gate) => passing(transport, gate)), failing(transport, gate, failure)]
  }
  const secrets = yield* Secrets
  const read = yield* Effect.forEach(secretVersions, (version): Effect.Effect<Finding> =>
    Effect.match(secrets.resolve(version), {
      onFailure: (error) => ({ check: "secret", ok: false, detail: error.message, fix: error.fix }),
      onSuccess: () => ({
        check: "secret",
        ok: true,
        detail: `${version} can be read here; the service reads it as its own agent, ` +
          "service-{project number}@gcp-sa-vertex-rag.iam.gserviceaccount.com, which needs roles/secretmanager.secretAccessor"
      })
    }))
  return [...gates.map((gate) => passing(transport, gate)), ...read]
})

const passing = ({ endpoint, parent, project }: Transport["Service"], gate: Gate): Finding => {
  const details: Readonly<Record<Gate, string>> = {
    credentials: endpoint.google ? "an access token, taken by the service" : `Google credentials are not sent to ${endpoint.host}`,
    project,
    API: "enabled",
    billing: "enabled",
    permissions: "corpora may be listed",
    region: parent.slice(parent.lastIndexOf("/") + 1),
    service: endpoint.host
  }
  return { check: gate, ok: true, detail: details[gate] }
}

const failing = ({ endpoint, parent }: Transport["Service"], gate: Gate, error: ServiceError): Finding => {
  const location = parent.slice(parent.lastIndexOf("/") + 1)
  const fix = error.fix !== undefined && gate !== "region"
    ? error.fix
    : gate === "region"
    ? `Check engine.vertex.location: ${location} may not offer this service to the project; us-central1 and europe-west1 do.`
    : gate === "service"
    ? `Check that ${endpoint.baseUrl} answers, and the network and proxy on the way.`
    : undefined
  return { check: gate, ok: false, detail: error.message, fix }
}
