import { Effect } from "effect"
import type { Handlers } from "../Call.ts"

/** Any location is this machine; the one asked about exists. */
export const locationHandlers: Pick<Handlers, "listLocations" | "getLocation"> = {
  getLocation: ({ params }) => Effect.succeed(location(params.name)),
  listLocations: ({ params }) => Effect.succeed({ locations: [location(`${params.name}/locations/us-central1`)] })
}

const location = (name: string) => {
  const locationId = name.slice(name.lastIndexOf("/") + 1)
  return { name, locationId, displayName: locationId }
}
