import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import path from "node:path"
import protobuf from "protobufjs"
import type { ApiVersion } from "../../../src/wire/Message.ts"

/** The real protos: those of `@google-cloud/aiplatform`, and google.rpc's details and locations from its google-gax. */
const require = createRequire(import.meta.url)
const aiplatform = path.dirname(require.resolve("@google-cloud/aiplatform/package.json"))
/** Its own `package.json` is not exported; its main file is in `build/src`. */
const gax = path.resolve(createRequire(path.join(aiplatform, "package.json")).resolve("google-gax"), "../../..")

const protoDirectory = path.join(aiplatform, "build", "protos")
const apiDirectory = (version: ApiVersion) => path.join(protoDirectory, "google", "cloud", "aiplatform", version)

const load = (): protobuf.Root => {
  const root = protobuf.Root.fromJSON(JSON.parse(readFileSync(path.join(protoDirectory, "protos.json"), "utf8")))
  for (const file of ["google/rpc/error_details.proto", "google/cloud/location/locations.proto"]) {
    protobuf.parse(readFileSync(path.join(gax, "build", "protos", file), "utf8"), root)
  }
  return root
}

let root: protobuf.Root | undefined

export const lookup = (name: string): protobuf.ReflectionObject | null => (root ??= load()).lookup(name)

export const lookupType = (name: string): protobuf.Type => {
  const found = lookup(name)
  if (found instanceof protobuf.Type) return found
  throw new Error(`no such message: ${name}`)
}

/** A method by the name a route has, `VertexRagDataService.GetRagFile`. */
export const lookupMethod = (version: ApiVersion, rpc: string): protobuf.Method | undefined => {
  const [service = "", method = ""] = rpc.split(".")
  const found = lookup(`google.cloud.aiplatform.${version}.${service}`)
  return found instanceof protobuf.Service ? found.methods[method] : undefined
}

const behaviors = new Map<string, ReadonlySet<string>>()
const parsed = new Set<ApiVersion>()

/** The files that hold messages of this area. */
const files =
  /^(?:api_auth|content|encryption_spec|io|openapi|operation|prediction_service|tool|vertex_rag_.*|batch_prediction_job|completion_stats|explanation|explanation_metadata|job_service|machine_resources|manual_batch_tuning_parameters|unmanaged_container_model|env_var|index|index_endpoint|index_service|match_service|service_networking|deployed_model_ref|endpoint|endpoint_service|model|model_service|model_garden_service|publisher_model)\.proto$/

/** `REQUIRED`, `OUTPUT_ONLY`, …; protos.json keeps only the last of a field's, the text has them all. */
export const behaviorsOf = (version: ApiVersion, message: string, field: string): ReadonlySet<string> => {
  if (!parsed.has(version)) {
    parsed.add(version)
    for (const file of readdirSync(apiDirectory(version)).filter((name) => files.test(name))) {
      collect(protobuf.parse(readFileSync(path.join(apiDirectory(version), file), "utf8"), new protobuf.Root()).root)
    }
  }
  return behaviors.get(`${message}.${field}`) ?? new Set()
}

const collect = (namespace: protobuf.NamespaceBase): void => {
  for (const nested of namespace.nestedArray) {
    if (nested instanceof protobuf.Type) {
      for (const field of nested.fieldsArray) {
        // An array, whatever its type says.
        const values = [field.parsedOptions ?? []].flat().map((option) => option["(google.api.field_behavior)"]).flat().map(String)
        behaviors.set(`${nested.fullName.slice(1)}.${field.name}`, new Set(values))
      }
    }
    if (nested instanceof protobuf.Namespace) collect(nested)
  }
}

/** The HTTP rules of the RAG client for operations and locations, which no proto of the package has. */
export const clientBindings = (version: ApiVersion): ReadonlyArray<{ readonly verb: string; readonly path: string }> => {
  const source = readFileSync(path.join(aiplatform, "build", "src", version, "vertex_rag_data_service_client.js"), "utf8")
  return [...source.matchAll(/\b(get|post|delete): '([^']+)'/g)].map(([, verb = "", path = ""]) => ({ verb: verb.toUpperCase(), path }))
}
