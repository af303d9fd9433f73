import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { storage } from "../../connectors/storage/Storage.ts"
import { buckets } from "../../src/compose/Imports.ts"
import { tempFolder, write } from "../support/TempFolder.ts"

describe("what cannot be read of a bucket that is a folder", () => {
  it.live("is named as the object that was asked for, and never by its path here", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      write(folder, { "docs/hr/leave.md": "# Leave" })
      const { connect } = buckets({
        storage,
        buckets: new Map([["docs", join(folder, "docs")]]),
        dataDir: join(folder, "data")
      })
      const told: Array<string> = []
      const say = (error: { readonly message: string }) => Effect.sync(() => void told.push(error.message))

      const listed = yield* Stream.runCollect(connect(["gs://docs/none.md", "gs://docs/nowhere/"]).list()).pipe(
        Effect.tapError(say),
        Effect.orElseSucceed(() => [])
      )
      for (const event of listed) if (event._tag === "failed") yield* say(event.error)

      const source = connect(["gs://docs/hr/"])
      const items = (yield* Stream.runCollect(source.list())).flatMap((event) => event._tag === "item" ? [event.item] : [])
      assert.deepStrictEqual(items.map(({ uri }) => uri), ["gs://docs/hr/leave.md"])
      rmSync(join(folder, "docs/hr/leave.md"))
      yield* Stream.runDrain(source.read(items[0]!, 1_000)).pipe(Effect.tapError(say), Effect.ignore)

      assert.isAbove(told.length, 1)
      for (const message of told) {
        assert.notInclude(message, folder)
        assert.match(message, /gs:\/\/docs\//)
      }
    }).pipe(Effect.scoped))
})
