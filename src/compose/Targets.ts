import { Effect } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import { embeddedParent } from "../domain/ResourceNames.ts"
import { endpointOf } from "../engines/vertex/Endpoint.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"

/** Identifies the place where a pipeline's corpora live: `Engine.target`. */
export const targetOf = ({ engine }: Pick<Definition, "engine">): Effect.Effect<string, ServiceError> =>
  engine._tag === "embedded" ? Effect.succeed(embeddedParent) : Effect.map(
    Effect.fromResult(endpointOf(engine.location, engine.baseUrl)),
    ({ baseUrl }) => `${baseUrl}/projects/${engine.project}/locations/${engine.location}`
  )
