import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { atMost, type Connector, connectorSuite, type Listed, ServiceError } from "../../src/ConnectorKit.ts"

describe("connectorSuite", () => {
  it("asks a connector that reads by address for none of another server", async () => {
    const origins = new Set<string>()
    const uris = ["a", "b", "c"].map((name) => `https://pages.test/page?name=${name}`)
    const connector: Connector = {
      kind: "pages",
      check: Effect.void,
      list: () =>
        Stream.fromIterable<Listed>([
          ...uris.map((uri): Listed => ({ _tag: "item", item: { path: uri.slice(-1), uri, displayName: uri, revision: "1" } })),
          { _tag: "complete" }
        ]),
      read: ({ path, uri }, maxBytes) => {
        origins.add(new URL(uri).origin)
        return uris.includes(uri)
          ? Stream.make(new TextEncoder().encode(`Text of ${path}.`)).pipe(atMost(maxBytes, path))
          : Stream.fail(ServiceError.notFound(path))
      }
    }
    const tests = new Map<string, () => Promise<void>>()
    const timeouts = new Set<number>()
    connectorSuite("pages", Effect.succeed({ connector, sample: "a", remove: Effect.void }), {
      local: true,
      describe: (_, define) => define(),
      it: (name, test, timeout) => {
        tests.set(name, test)
        timeouts.add(timeout)
      }
    })
    // Retries take longer than test runners wait by default.
    assert.deepStrictEqual([...timeouts], [60_000])
    await tests.get("reads what it lists, and no more than maxBytes")?.()
    assert.deepStrictEqual([...origins], ["https://pages.test"])
  })
})
