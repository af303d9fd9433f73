import { ListLocationsRequest, ListLocationsResponse, Location } from "../messages/Locations.ts"
import { ListOperationsRequest, ListOperationsResponse, Operation, WaitOperationRequest } from "../messages/Operations.ts"
import { Empty } from "../messages/Rpc.ts"
import { location, route } from "../Route.ts"

/** Name of an operation under any parent. Its last segment identifies it. */
const operation = "projects/*/locations/*/**/operations/*"

/** Routes of long-running operations of every area, and of locations. */
export const operationRoutes = {
  getOperation: route("Operations.GetOperation", "GET", `{name=${operation}}`, { response: Operation }),
  listOperations: route("Operations.ListOperations", "GET", `{name=${location}/**}/operations`, {
    query: ListOperationsRequest,
    response: ListOperationsResponse
  }),
  cancelOperation: route("Operations.CancelOperation", "POST", `{name=${operation}}:cancel`, { body: Empty, response: Empty }),
  waitOperation: route("Operations.WaitOperation", "POST", `{name=${operation}}:wait`, {
    query: WaitOperationRequest,
    body: WaitOperationRequest,
    response: Operation
  }),
  deleteOperation: route("Operations.DeleteOperation", "DELETE", `{name=${operation}}`, { response: Empty }),

  listLocations: route("Locations.ListLocations", "GET", "{name=projects/*}/locations", {
    query: ListLocationsRequest,
    response: ListLocationsResponse
  }),
  getLocation: route("Locations.GetLocation", "GET", `{name=${location}}`, { response: Location })
}
