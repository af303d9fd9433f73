import { describe, it } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import type { HttpClient } from "effect/http"
import { connectorSuite, faultsOf } from "../../src/ConnectorKit.ts"
import { layer as httpLayer } from "../../src/net/Http.ts"
import { vendors } from "./Vendors.ts"

/** With a client for as long as the fixture is there. */
const inScope = <A, E>(make: Effect.Effect<A, E, HttpClient.HttpClient | Scope.Scope>) =>
  Effect.flatMap(Layer.build(httpLayer()), (client) => Effect.provideContext(make, client))

/** What every connector of a remote source does, whoever the vendor is. Those of this machine, of git and of the web are in tests of their own. */
for (const [name, make] of Object.entries(vendors)) {
  const fixture = Effect.map(inScope(make), ({ change, connector, files, lists, reads, remove, rename, sample, secrets, server }) => ({
    connector,
    sample,
    secrets,
    ...(change === undefined ? {} : { edit: Effect.sync(change) }),
    ...(rename === undefined ? {} : { rename: Effect.sync(rename) }),
    remove: Effect.sync(remove),
    fault: faultsOf(server, { list: lists, read: reads, content: files }),
    garbage: "<html>a proxy"
  }))
  connectorSuite(name, fixture, {
    describe,
    it,
    // What Slack has of a file never changes, and neither it nor Jira gives anything a name of its own.
    edits: name !== "slack",
    renames: !["slack", "jira"].includes(name)
  })
}
