import { Effect } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import { endpointOf } from "../engines/vertex/Endpoint.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"

/** What names on the embedded engine begin with, which has no projects and regions of its own. */
export const embeddedParent = "projects/local/locations/local"

/** Where a pipeline's corpora live, unlike any other place: `Engine.target`. */
export const targetOf = ({ engine }: Pick<Definition, "engine">): Effect.Effect<string, ServiceError> =>
  engine._tag === "embedded" ? Effect.succeed(embeddedParent) : Effect.map(
    Effect.fromResult(endpointOf(engine.location, engine.baseUrl)),
    ({ baseUrl }) => `${baseUrl}/projects/${engine.project}/locations/${engine.location}`
  )
