import { Effect } from "effect"
import { locationIds } from "../../domain/Locations.ts"
import type { Handlers } from "../Call.ts"

/** Locations: all of them are served by this machine. */
export const locationHandlers: Pick<Handlers, "listLocations" | "getLocation"> = {
  getLocation: ({ params }) => Effect.succeed(location(params.name)),
  listLocations: ({ params }) => Effect.succeed({ locations: locationIds.map((id) => location(`${params.name}/locations/${id}`)) })
}

const location = (name: string) => {
  const locationId = name.slice(name.lastIndexOf("/") + 1)
  return { name, locationId, displayName: locationId }
}
