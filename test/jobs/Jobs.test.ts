import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import { cancelled, claim, isOrphan, makeJobRunner, type Outcome, release } from "../../src/jobs/JobRunner.ts"
import { JobTable, pageOfJobs } from "../../src/jobs/JobTable.ts"
import { waitFor } from "../../src/jobs/Wait.ts"
import { openDatabase } from "../../src/state/Database.ts"
import { tempFolder } from "../support/TempFolder.ts"

interface Body {
  readonly state: "open" | "ended"
  readonly note?: string
}

const makeTable = Effect.gen(function*() {
  const folder = yield* tempFolder
  const db = yield* Effect.acquireRelease(Effect.sync(() => openDatabase(folder)), (db) => Effect.sync(() => db.close()))
  return new JobTable<Body>(db, { table: "server_operations", done: ({ state }) => state === "ended", kept: 3 })
})

describe("rows of jobs", () => {
  it.effect("are changed until they are done, and never after; whoever runs one sees that it is to stop", () =>
    Effect.gen(function*() {
      const table = yield* makeTable
      table.create("1", "corpus", () => ({ state: "open" }))
      assert.deepInclude(table.change("1", ({ body }) => ({ ...body, note: "half" }))?.body, { state: "open", note: "half" })
      table.cancel("1")
      assert.isTrue(table.find("1")?.cancelled)
      assert.isTrue(table.change("1", () => ({ state: "ended" }))?.done)
      assert.strictEqual(table.change("1", () => ({ state: "open" }))?.body.state, "ended")
      table.create("2", "corpus", () => ({ state: "ended" }))
      table.cancel("2")
      assert.isFalse(table.find("2")?.cancelled)
      assert.isUndefined(table.change("3", ({ body }) => body))
    }).pipe(Effect.scoped))

  it.effect("are made knowing the newest and those of their target that are open; old ones that are done go", () =>
    Effect.gen(function*() {
      const table = yield* makeTable
      const add = (id: string, target: string, state: Body["state"]) => table.create(id, target, () => ({ state, note: id }))
      add("1", "a", "open")
      add("2", "a", "ended")
      add("3", "b", "open")
      table.create("4", "a", (newest, open) => {
        assert.strictEqual(newest?.note, "3")
        assert.deepStrictEqual(open, ["1"])
        return { state: "open" }
      })
      assert.isUndefined(table.create("5", "a", () => undefined))
      add("6", "b", "ended")
      assert.deepStrictEqual(table.open().map(({ id }) => id), ["1", "3", "4"])
      assert.isUndefined(table.find("2"))
      assert.isUndefined(table.find("5"))
    }).pipe(Effect.scoped))

  it.effect("are listed newest first, page by page, of a target and what is under it, without those left out", () =>
    Effect.gen(function*() {
      const table = yield* makeTable
      for (let n = 1; n <= 7; n++) table.create(String(n), n % 2 === 0 ? "a" : "a/b", () => ({ state: "open" }))
      table.create("other", "ab", () => ({ state: "open" }))
      const fields = { size: "pageSize", token: "pageToken" }
      const page = (token: string) =>
        pageOfJobs(
          { size: 2, token },
          fields,
          (before, limit) => Effect.sync(() => table.before(before, limit, "a")),
          ({ id }) => Effect.succeed(id === "6" || id === "1" ? undefined : id)
        )
      const seen: Array<ReadonlyArray<string>> = []
      for (let token: string | undefined = ""; token !== undefined;) {
        const { items, nextToken }: { readonly items: ReadonlyArray<string>; readonly nextToken?: string | undefined } = yield* page(token)
        seen.push(items)
        token = nextToken
      }
      assert.deepStrictEqual(seen, [["7", "5"], ["4", "3"], ["2"]])
      assert.include((yield* Effect.flip(page("nonsense"))).message, "pageToken")
    }).pipe(Effect.scoped))
})

describe("the work of jobs", () => {
  it.live("is settled as it ended: done, failed, unexpectedly, cancelled, or interrupted with the process", () =>
    Effect.gen(function*() {
      const outcomes: Array<Outcome<number>> = []
      const settle = (outcome: Outcome<number>) => Effect.sync(() => void outcomes.push(outcome))
      const scope = yield* Scope.make()
      const jobs = yield* makeJobRunner({ what: "import", atOnce: 1 }).pipe(Scope.provide(scope))
      yield* jobs.run("1", Effect.succeed(1), settle)
      yield* Effect.ignore(jobs.run("2", Effect.fail(ServiceError.notFound("corpus")), settle))
      yield* Effect.ignore(Effect.catchDefect(jobs.run("3", Effect.die(new Error("a fault")), settle), () => Effect.void))
      let asked = false
      yield* Effect.ignore(jobs.run(
        "4",
        Effect.raceFirst(
          Effect.as(Effect.andThen(Effect.sync(() => void (asked = true)), Effect.never), 0),
          cancelled(Effect.sync(() => asked), { pollMs: 1, what: "import" })
        ),
        settle
      ))
      yield* jobs.start("5", Effect.as(Effect.never, 0), settle)
      assert.strictEqual(yield* jobs.size, 1)
      yield* Effect.yieldNow
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(outcomes, [
        { _tag: "done", value: 1 },
        { _tag: "failed", error: { code: "NOT_FOUND", message: "corpus was not found" } },
        { _tag: "failed", error: { code: "INTERNAL", message: "the import failed unexpectedly" } },
        { _tag: "failed", error: { code: "CANCELLED", message: "the import was cancelled" } },
        { _tag: "interrupted" }
      ])
    }))

  it("belongs to nobody once its process is gone, or had this process's id before", () => {
    const gone = 2 ** 22 + 1 // above the largest process id there is
    assert.isTrue(isOrphan("job", gone))
    assert.isTrue(isOrphan("job", process.pid))
    claim("job")
    assert.isFalse(isOrphan("job", process.pid))
    release("job")
    assert.isFalse(isOrphan("job", process.ppid))
  })

  it.live("is waited for until it ends or the time is over", () =>
    Effect.gen(function*() {
      let looks = 0
      const look = Effect.sync(() => ++looks)
      const seen: Array<number> = []
      const ended = yield* waitFor(look, (n) => n === 3, { first: 1, longest: 2 }, { observe: (n) => Effect.sync(() => void seen.push(n)) })
      assert.deepStrictEqual([ended, ...seen], [3, 1, 2, 3])
      assert.isAtLeast(yield* waitFor(look, () => false, { first: 5, longest: 5 }, { timeoutMs: 20 }), 4)
      assert.strictEqual(yield* waitFor(look, () => true, { first: 5, longest: 5 }, { known: 0 }), 0)
    }))
})
