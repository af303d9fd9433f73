import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { googleDrive } from "../../connectors/googleDrive/GoogleDrive.ts"
import { embeddedServices } from "../../src/compose/Embedded.ts"
import { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import { retrieveFrom } from "../../src/pipeline/AskPipeline.ts"
import { definePipeline } from "../../src/pipeline/definition/DefinePipeline.ts"
import { runPipeline } from "../../src/pipeline/RunPipeline.ts"
import { fakeDrive } from "../fakes/Drive.ts"
import { connectorsOf } from "../support/Sources.ts"
import { tempFolder } from "../support/TempFolder.ts"

const reader = (email: string) => ({ id: `p-${email}`, type: "user", role: "reader", emailAddress: email })

describe("permissions of a source", () => {
  it.live("narrowed there, they are narrowed in the corpus after the next run, and nothing is embedded", () =>
    Effect.gen(function*() {
      const fake = yield* fakeDrive()
      fake.folder("root", undefined, { name: "Handbook" })
      fake.put("pay", "root", {
        name: "Pay.txt",
        content: "Salary bands range from A to F.",
        permissions: [reader("Bob@Acme.com"), reader("eve@acme.com")]
      })
      fake.put("leave", "root", {
        name: "Leave.txt",
        content: "Leave is 28 days.",
        permissions: [{ id: "all", type: "anyone", role: "reader" }]
      })
      const pipeline = definePipeline({
        name: "permissions",
        corpus: { displayName: "Permissions" },
        sources: { drive: { googleDrive: { folders: ["root"], endpoint: fake.origin } } }
      })
      const google = { ...GoogleAuth.anonymous, token: Effect.succeed(Redacted.make("good")) }
      const dataDir = yield* tempFolder
      const services = yield* Layer.build(
        connectorsOf({ googleDrive: (settings, context) => googleDrive(settings, { ...context, googleDrive: google }) }, { dataDir }).pipe(
          Layer.provideMerge(embeddedServices(pipeline, { dataDir, writes: "a test" }))
        )
      )
      const seen = (principal: string | undefined) =>
        retrieveFrom(pipeline, { question: "salary bands and leave", ...(principal === undefined ? {} : { principal }) }).pipe(
          Effect.map(({ contexts }) => contexts.map((context) => context.sourceDisplayName).toSorted()),
          Effect.provide(services)
        )
      const run = runPipeline(pipeline).pipe(Effect.provide(services))

      assert.strictEqual((yield* run).totals.added, 2)
      assert.deepStrictEqual(yield* seen("user:eve@acme.com"), ["Leave.txt", "Pay.txt"])
      assert.deepStrictEqual(yield* seen("user:mallory@acme.com"), ["Leave.txt"])

      fake.edit("pay", { permissions: [reader("bob@acme.com")] })
      const narrowed = yield* run
      assert.deepInclude(narrowed, { chunks: 0, embedded: 0 })
      assert.deepInclude(narrowed.totals, { listed: 2, changed: 1, unchanged: 1 })
      assert.deepStrictEqual(yield* seen("user:eve@acme.com"), ["Leave.txt"])
      assert.deepStrictEqual(yield* seen("user:bob@acme.com"), ["Leave.txt", "Pay.txt"])
      assert.deepStrictEqual(yield* seen(undefined), ["Leave.txt", "Pay.txt"])

      fake.edit("leave", { permissions: [] })
      yield* run
      assert.deepStrictEqual(yield* seen("user:mallory@acme.com"), [])
    }).pipe(Effect.scoped))
})
