import { any, int32, list, map, message, of, string } from "../Message.ts"

export const Location = message("google.cloud.location.Location", {
  name: string,
  locationId: string,
  displayName: string,
  labels: map(string),
  metadata: any(() => [])
})
export const ListLocationsRequest = message("google.cloud.location.ListLocationsRequest", {
  filter: string,
  pageSize: int32,
  pageToken: string
})
export const ListLocationsResponse = message("google.cloud.location.ListLocationsResponse", {
  locations: list(of(Location)),
  nextPageToken: string
})
