import { existsSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, FileSystem, Option, Stream } from "effect"
import { releasesAt } from "../../src/cli/commands/Release.ts"
import { tempFolder } from "../support/TempFolder.ts"

it.live("a watch that just starts hears a release that still waits, and none that was left", () =>
  Effect.gen(function*() {
    const note = join(yield* tempFolder, "release-docs")
    writeFileSync(note, "")
    utimesSync(note, 1_000, 1_000)
    const fs = yield* FileSystem.FileSystem
    const looked = yield* Deferred.make<void>()
    let looks = 0
    const counted = FileSystem.FileSystem.of({
      ...fs,
      // Once before it hears, and then at each look.
      stat: (path) => Effect.tap(fs.stat(path), () => ++looks === 3 ? Deferred.succeed(looked, undefined) : Effect.void)
    })
    const released = yield* releasesAt(note).pipe(Effect.provideService(FileSystem.FileSystem, counted))
    const heard = yield* Effect.forkChild(Stream.runHead(released), { startImmediately: true })
    yield* Deferred.await(looked)
    assert.isTrue(existsSync(note))
    assert.isUndefined(heard.pollUnsafe())
    // As `sluice release` does as long as it waits.
    utimesSync(note, 2_000, 2_000)
    assert.isTrue(Option.isSome(yield* Fiber.join(heard)))
    assert.isFalse(existsSync(note))
  }).pipe(Effect.provide(NodeFileSystem.layer), Effect.scoped))
