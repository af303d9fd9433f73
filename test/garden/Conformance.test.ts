import { Effect, Exit, Scope } from "effect"
import { afterAll } from "vitest"
import * as Endpoints from "../conformance/Endpoints.ts"
import * as ModelCatalog from "../conformance/ModelCatalog.ts"
import { embedded, modelServer, overHttp } from "./Support.ts"

const scope = Scope.makeUnsafe()
const server = await Effect.runPromise(Scope.provide(modelServer, scope))
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

for (const [name, engine] of [["embedded", embedded], ["hosted -> HTTP -> server -> embedded", overHttp]] as const) {
  ModelCatalog.suite(name, engine(server.origin))
  Endpoints.suite(name, server, engine(server.origin))
}
