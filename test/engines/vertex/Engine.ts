import { Effect, Layer, type Scope } from "effect"
import * as HostedCorpora from "../../../src/engines/vertex/HostedCorpora.ts"
import * as HostedFileMetadata from "../../../src/engines/vertex/HostedFileMetadata.ts"
import * as HostedFiles from "../../../src/engines/vertex/HostedFiles.ts"
import * as HostedOperations from "../../../src/engines/vertex/HostedOperations.ts"
import * as HostedRetrieval from "../../../src/engines/vertex/HostedRetrieval.ts"
import * as Transport from "../../../src/engines/vertex/Transport.ts"
import { GoogleAuth } from "../../../src/net/GoogleAuth.ts"
import * as Http from "../../../src/net/Http.ts"
import type { Quota } from "../../../src/ports/Quota.ts"
import * as QuotaBuckets from "../../../src/state/QuotaBuckets.ts"
import { type FakeVertex, fakeVertex } from "../../fakes/Vertex.ts"

/** The hosted engine against an address, impatient. */
export const hosted = (
  baseUrl: string,
  options: Partial<Transport.TransportOptions> = {},
  google: Layer.Layer<GoogleAuth> = GoogleAuth.layerAnonymous,
  quota: Layer.Layer<Quota> = QuotaBuckets.layerMemory
) =>
  Layer.mergeAll(HostedCorpora.layer, HostedFiles.layer, HostedFileMetadata.layer, HostedRetrieval.layer).pipe(
    Layer.provideMerge(HostedOperations.layer),
    Layer.provideMerge(Transport.layer({
      project: "p1",
      location: "us-central1",
      baseUrl,
      retry: { times: 3, baseMs: 5, capMs: 20 },
      perMinute: { management: 10_000, retrieve: 10_000 },
      ...options
    })),
    Layer.provide([Http.layer(), google]),
    Layer.provideMerge(quota)
  )

type Engine = Layer.Success<ReturnType<typeof hosted>>

/** Runs a test on the hosted engine against a fake of the service. */
export const onFake = <A, E>(
  body: (fake: FakeVertex) => Effect.Effect<A, E, Engine | Scope.Scope>,
  options: Partial<Transport.TransportOptions> = {}
) =>
  Effect.gen(function*() {
    const fake = yield* fakeVertex
    return yield* body(fake).pipe(Effect.provide(hosted(fake.baseUrl, options)))
  }).pipe(Effect.scoped)
