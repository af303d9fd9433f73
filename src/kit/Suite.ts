import { Effect, Exit, Fiber, type Scope, Stream } from "effect"
import assert from "node:assert/strict"
import { inspect } from "node:util"
import { ServiceError } from "../domain/Errors.ts"
import type { Connector, Listed, SourceItem } from "../ports/Connector.ts"

/** A connector, and the source that it lists, in the hands of a test. */
export interface ConnectorFixture {
  /** Lists at least three items, one of them {@link sample}. */
  readonly connector: Connector
  /** The path of an item of at least four bytes. */
  readonly sample: string
  /** Gives the sample another content at the source. Absent: what the source holds does not change. */
  readonly edit?: Effect.Effect<void, unknown>
  /** Deletes the sample at the source. */
  readonly remove: Effect.Effect<void, unknown>
  /**
   * What was listed is on this machine, and can be read to the letter although it is gone at the source, as from a
   * repository of versions. Default false: reading it is `NOT_FOUND`.
   */
  readonly keepsVersions?: boolean
  /** Fails every request to the source from now on. Only local sources do without. */
  readonly fail?: Effect.Effect<void, unknown>
  /** Answers no request from now on; gives the number of requests that wait for an answer. Only local sources do without. */
  readonly stall?: Effect.Effect<() => number, unknown>
  /** Texts that no error may hold: tokens, passwords. */
  readonly secrets?: ReadonlyArray<string>
}

/** How tests are written: of vitest, Jest, Mocha or `node:test`. */
export interface TestRunner {
  readonly describe: (name: string, tests: () => void) => unknown
  readonly it: (name: string, test: () => Promise<void>) => unknown
}

/** What a connector's fixture can show, and the test runner to use. */
export interface SuiteOptions extends Partial<TestRunner> {
  /** The source is on this machine, and reaching it cannot fail or stall. Default false. */
  readonly local?: boolean
  /** A whole listing of the fixture takes more than one page, so it must have checkpoints. Default: not with `local`. */
  readonly paged?: boolean
  /** The fixture has {@link ConnectorFixture.edit}. Default true. */
  readonly edits?: boolean
}

type Make = Effect.Effect<ConnectorFixture, unknown, Scope.Scope>

/** Milliseconds in which what is interrupted must have ended. */
const promptMs = 5_000

/**
 * Tests that every connector must pass, written with the `describe` and `it` of your test runner (default: the global
 * ones). `make` gives a fresh fixture to each test, which is closed after it.
 *
 * @example
 * ```ts
 * import { describe, it } from "node:test"
 * connectorSuite("rss", makeFeed, { describe, it })
 * ```
 */
export const connectorSuite = (name: string, make: Make, options: SuiteOptions = {}): void => {
  const { describe, it } = runnerOf(options)
  describe(`${name}, as every connector`, () => {
    for (const [says, check] of checksOf(options)) {
      it(says, () => Effect.runPromise(Effect.scoped(Effect.flatMap(make, check))))
    }
  })
}

const runnerOf = ({ describe, it }: SuiteOptions): TestRunner => {
  const runner = { ...globalThis as Partial<TestRunner>, ...(describe === undefined ? {} : { describe }), ...(it === undefined ? {} : { it }) }
  if (runner.describe === undefined || runner.it === undefined) throw new Error("connectorSuite needs describe and it: pass those of your test runner")
  return { describe: runner.describe, it: runner.it }
}

type Check = readonly [says: string, run: (fixture: ConnectorFixture) => Effect.Effect<void, unknown, Scope.Scope>]

const checksOf = ({ edits = true, local = false, paged = !local }: SuiteOptions): ReadonlyArray<Check> => [
  ["lists everything once, says so last, and tells the same again", listsCompletely],
  ["reads what it lists, and no more than maxBytes", readsWithinBounds],
  ["goes on from every checkpoint", (fixture) => resumes(fixture, paged)],
  ["from the cursor of a complete listing nothing has changed, and a cursor of something else is refused", knowsItsCursors],
  ...(edits ? [["the revision changes with the content, and with nothing else", revisionsFollowContent] as const] : []),
  ["what is deleted is not listed, and not found", forgetsWhatIsDeleted],
  ...(local ? [] : [
    ["fails with typed errors that hold no secret, and takes no failure for the end", failsTyped] as const,
    ["ends its requests when it is interrupted", stopsWhenInterrupted] as const
  ])
]

const listed = (connector: Connector, cursor?: string) => Stream.runCollect(connector.list(cursor))
const itemsOf = (events: ReadonlyArray<Listed>): ReadonlyArray<SourceItem> => events.flatMap((event) => event._tag === "item" ? [event.item] : [])
const revisionsOf = (events: ReadonlyArray<Listed>) => Object.fromEntries(itemsOf(events).map(({ path, revision }) => [path, revision]).toSorted())
const pathsOf = (events: ReadonlyArray<Listed>) => itemsOf(events).map(({ path }) => path).toSorted()
const isComplete = (events: ReadonlyArray<Listed>): boolean => events.at(-1)?._tag === "complete"
const cursorOf = (events: ReadonlyArray<Listed>): string | undefined => {
  const last = events.at(-1)
  return last?._tag === "complete" ? last.cursor : undefined
}
const read = ({ connector }: ConnectorFixture, item: SourceItem, maxBytes = 10_000_000) =>
  Effect.map(Stream.runCollect(connector.read(item, maxBytes)), (pieces) => Buffer.concat(pieces))
const sampleOf = (fixture: ConnectorFixture, events: ReadonlyArray<Listed>): SourceItem => {
  const item = itemsOf(events).find(({ path }) => path === fixture.sample)
  assert.ok(item, `${fixture.sample} is not listed`)
  return item
}

const listsCompletely = Effect.fnUntraced(function*(fixture: ConnectorFixture) {
  const { connector } = fixture
  yield* connector.check
  const events = yield* listed(connector)
  assert.ok(isComplete(events), "the last event of a whole listing is complete")
  assert.equal(events.filter(({ _tag }) => _tag === "complete").length, 1, "complete is told once")
  const items = itemsOf(events)
  assert.ok(items.length >= 3, "the fixture has at least three items")
  assert.equal(new Set(items.map(({ path }) => path)).size, items.length, "a path is listed once")
  for (const { displayName, path, revision, uri } of items) {
    assert.match(path, /^[^/]/, "a path does not begin with /")
    assert.ok(!path.split("/").some((part) => part === "" || part === "." || part === ".."), `${path} has an empty part, or dots for one`)
    assert.equal(path, path.normalize("NFC"), "a path is in NFC")
    assert.notEqual(revision, "", `${path} has a revision`)
    assert.notEqual(displayName, "", `${path} has a name`)
    assert.ok(URL.canParse(uri), `${uri} is an address`)
  }
  sampleOf(fixture, events)
  assert.deepEqual(revisionsOf(yield* listed(connector)), revisionsOf(events), "a second listing tells the same revisions")
})

const readsWithinBounds = Effect.fnUntraced(function*(fixture: ConnectorFixture) {
  const events = yield* listed(fixture.connector)
  const item = sampleOf(fixture, events)
  const bytes = yield* read(fixture, item)
  assert.ok(bytes.length > 3, "the sample has at least four bytes")
  assert.deepEqual(yield* read(fixture, item, bytes.length), bytes, "what has just maxBytes is read, to the same bytes")
  yield* fails(read(fixture, item, bytes.length - 1), "OUT_OF_RANGE", "a byte too many")
  for (const other of itemsOf(events).slice(0, 3)) yield* read(fixture, other)
  yield* fails(read(fixture, { ...item, path: "never/was/there", uri: "https://example.com/never", revision: "0".repeat(40) }), "NOT_FOUND", "an item that never was")
})

const resumes = Effect.fnUntraced(function*({ connector }: ConnectorFixture, paged: boolean) {
  const events = yield* listed(connector)
  const all = revisionsOf(events)
  const checkpoints = events.flatMap((event, at) => event._tag === "checkpoint" ? [{ at, cursor: event.cursor }] : [])
  if (paged) assert.ok(checkpoints.length > 0, "a listing of several pages has checkpoints")
  for (const { at, cursor } of checkpoints.slice(0, 5)) {
    const rest = yield* listed(connector, cursor)
    assert.ok(isComplete(rest), "a listing that goes on from a checkpoint is complete")
    assert.deepEqual({ ...revisionsOf(events.slice(0, at)), ...revisionsOf(rest) }, all, "before and after a checkpoint is everything")
    assert.ok(itemsOf(rest).length < itemsOf(events).length || itemsOf(events.slice(0, at)).length === 0, "what was listed is not listed again")
  }
})

const knowsItsCursors = Effect.fnUntraced(function*({ connector }: ConnectorFixture) {
  const cursor = cursorOf(yield* listed(connector))
  // A connector without cursors lists everything every time.
  if (cursor === undefined) return
  const changes = yield* listed(connector, cursor)
  assert.ok(isComplete(changes), "a listing of what changed is complete")
  assert.deepEqual(changes.filter(({ _tag }) => _tag === "deleted"), [], "nothing is gone")
  const refused = yield* Effect.flip(listed(connector, "{\"of\":\"something else\"}"))
  assert.ok(refused instanceof ServiceError && refused.code === "INVALID_ARGUMENT", "a foreign cursor is INVALID_ARGUMENT")
  assert.equal(refused.violations?.[0]?.field, "cursor", "and the violation names the field cursor")
})

const revisionsFollowContent = Effect.fnUntraced(function*(fixture: ConnectorFixture) {
  const { connector, edit, sample } = fixture
  assert.ok(edit, "the fixture can edit the sample, or the suite is told `edits: false`")
  const before = yield* listed(connector)
  const old = yield* read(fixture, sampleOf(fixture, before))
  yield* edit
  const after = yield* listed(connector)
  const { [sample]: was, ...othersBefore } = revisionsOf(before)
  const { [sample]: is, ...othersAfter } = revisionsOf(after)
  assert.notEqual(is, was, "another content has another revision")
  assert.deepEqual(othersAfter, othersBefore, "and those of the others stay")
  assert.notDeepEqual(yield* read(fixture, sampleOf(fixture, after)), old, "the new content is read")
  const cursor = cursorOf(before)
  if (cursor === undefined) return
  assert.equal(revisionsOf(yield* listed(connector, cursor))[sample], is, "a listing of what changed tells it")
})

const forgetsWhatIsDeleted = Effect.fnUntraced(function*(fixture: ConnectorFixture) {
  const { connector, keepsVersions = false, remove, sample } = fixture
  const before = yield* listed(connector)
  const item = sampleOf(fixture, before)
  const content = yield* read(fixture, item)
  yield* remove
  const after = yield* listed(connector)
  assert.ok(isComplete(after), "the listing is still complete")
  assert.deepEqual(pathsOf(after), pathsOf(before).filter((path) => path !== sample), "all but the deleted item is listed")
  if (keepsVersions) assert.deepEqual(yield* read(fixture, item), content, "a source that keeps versions gives the one that was listed")
  else yield* fails(read(fixture, item), "NOT_FOUND", "reading what is gone")
  const cursor = cursorOf(before)
  if (cursor === undefined || connector.cursorMisses?.includes("deletions") === true) return
  const deleted = (yield* listed(connector, cursor)).flatMap((event) => event._tag === "deleted" ? [event.path] : [])
  assert.ok(deleted.includes(sample), "a listing of what changed tells of the deleted item, or cursorMisses says that it cannot")
})

const failsTyped = Effect.fnUntraced(function*(fixture: ConnectorFixture) {
  const { connector, fail, secrets = [] } = fixture
  assert.ok(fail, "the fixture can fail, or the suite is told that the source is `local`")
  const item = sampleOf(fixture, yield* listed(connector))
  yield* fail
  const events: Array<Listed> = []
  const listing = yield* Effect.exit(Stream.runForEach(connector.list(), (event) => Effect.sync(() => void events.push(event))))
  assert.ok(!isComplete(events), "a listing that failed is not complete")
  const told = events.flatMap((event) => event._tag === "failed" ? [event.error] : [])
  assert.ok(Exit.isFailure(listing) || told.length > 0, "a listing that failed says why")
  const reading = fixture.keepsVersions === true ? [] : [yield* Effect.flip(read(fixture, item))]
  const errors = [...told, ...Exit.isFailure(listing) ? [yield* Effect.flip(listing)] : [], ...reading]
  for (const error of errors) {
    assert.ok("_tag" in error && (error._tag === "ServiceError" || error._tag === "SecretError"), "errors are ServiceError or SecretError")
    const words = `${inspect(error, { depth: 10, showHidden: true })} ${JSON.stringify(error)}`
    for (const secret of secrets) assert.ok(!words.includes(secret), "no error holds a secret")
  }
})

const stopsWhenInterrupted = Effect.fnUntraced(function*(fixture: ConnectorFixture) {
  const { connector, stall } = fixture
  assert.ok(stall, "the fixture can stall, or the suite is told that the source is `local`")
  const item = sampleOf(fixture, yield* listed(connector))
  const waiting = yield* stall
  const reading = fixture.keepsVersions === true ? [] : [Effect.asVoid(read(fixture, item))]
  for (const work of [Effect.asVoid(listed(connector)), ...reading]) {
    const fiber = yield* Effect.forkScoped(Effect.exit(work))
    yield* until(() => waiting() > 0, "a request comes to the source")
    yield* Fiber.interrupt(fiber).pipe(Effect.timeoutOrElse({
      duration: promptMs,
      orElse: () => Effect.sync(() => assert.fail("interrupting it takes too long"))
    }))
    yield* until(() => waiting() === 0, "no request is left open")
  }
})

const until = (holds: () => boolean, what: string): Effect.Effect<void> =>
  Effect.gen(function*() {
    const end = Date.now() + promptMs
    while (!holds()) {
      assert.ok(Date.now() < end, `${what} within ${promptMs} ms`)
      yield* Effect.sleep(10)
    }
  })

const fails = (work: Effect.Effect<unknown, unknown>, code: ServiceError["code"], what: string): Effect.Effect<void> =>
  Effect.map(Effect.exit(work), (exit) => {
    assert.ok(Exit.isFailure(exit), `${what} is a failure`)
    const error = Effect.runSync(Effect.flip(Effect.flatMap(Effect.succeed(exit), (failed) => failed)))
    assert.ok(error instanceof ServiceError, `${what} is a ServiceError`)
    assert.equal(error.code, code, `${what} is ${code}: ${error.message}`)
  })
