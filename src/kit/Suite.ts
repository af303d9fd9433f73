import { Effect, Exit, Fiber, type Scope, Stream } from "effect"
import assert from "node:assert/strict"
import { inspect } from "node:util"
import { ServiceError } from "../domain/Errors.ts"
import type { Connector, Listed, SourceItem } from "../ports/Connector.ts"
import { type FaultInPlace, type SourceFault, testServer } from "./TestServer.ts"

/** A connector, and the source that it lists, as controlled by a test. */
export interface ConnectorFixture {
  /** The connector. It lists at least three items, one of them {@link sample}. */
  readonly connector: Connector
  /** The path of an item of at least four bytes. */
  readonly sample: string
  /** Changes the sample's content at the source. Absent: content there never changes. */
  readonly edit?: Effect.Effect<void, unknown>
  /** Renames the sample at the source, and returns its new path. Absent: items are not renamed there. */
  readonly rename?: Effect.Effect<string, unknown>
  /** Deletes the sample at the source. */
  readonly remove: Effect.Effect<void, unknown>
  /**
   * Listed items are on this machine, and remain readable in the listed version after they are deleted at the source, as from a
   * version-control repository. Default false: reading one is `NOT_FOUND`.
   */
  readonly keepsVersions?: boolean
  /** Makes the source respond differently: {@link faultsOf} makes this of a test server. Only local sources do without. */
  readonly fault?: (fault: SourceFault) => Effect.Effect<FaultInPlace, unknown>
  /** A body that no listing has, such as a proxy's page with status 200. Absent: the connector accepts any body. */
  readonly garbage?: string
  /** Texts that no error may contain, and that may be sent to no other server: tokens, passwords, and their encoded forms. */
  readonly secrets?: ReadonlyArray<string>
}

/** The functions with which tests are written, as in vitest, Jest, Mocha or `node:test`. */
export interface TestRunner {
  readonly describe: (name: string, tests: () => void) => unknown
  /** `timeout` is in milliseconds. Runners that take none are told on their command line, as Mocha by `--timeout`. */
  readonly it: (name: string, test: () => Promise<void>, timeout: number) => unknown
}

/** What a connector's fixture can do, and the test runner to use. */
export interface SuiteOptions extends Partial<TestRunner> {
  /** The source is on this machine, and reaching it cannot fail or stall. Default false. */
  readonly local?: boolean
  /** A complete listing of the fixture takes more than one page, so it must have checkpoints. Default: true, except with `local`. */
  readonly paged?: boolean
  /** The fixture has {@link ConnectorFixture.edit}. Default true. */
  readonly edits?: boolean
  /** The fixture has {@link ConnectorFixture.rename}. Default true. */
  readonly renames?: boolean
  /** The connector honours the header `Retry-After` when listing. Default true. */
  readonly retryAfter?: boolean
}

type Make = Effect.Effect<ConnectorFixture, unknown, Scope.Scope>

/** Milliseconds that a test may take: more than the 2 to 5 seconds of most runners, because retries of what is broken wait in between. */
const testMs = 60_000

/** Milliseconds within which an interrupted call must have ended. */
const promptMs = 5_000

/**
 * Tests that every connector must pass, written with the `describe` and `it` of your test runner (default: the global ones). `make` creates
 * a fresh fixture for each test, which is closed after it.
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

/** The given functions of a test runner, or else the global ones. */
export const runnerOf = (
  { describe, it }: Partial<TestRunner>
): { readonly describe: TestRunner["describe"]; readonly it: (name: string, test: () => Promise<void>) => unknown } => {
  const runner: Partial<TestRunner> = {
    ...globalThis as Partial<TestRunner>,
    ...(describe === undefined ? {} : { describe }),
    ...(it === undefined ? {} : { it })
  }
  if (runner.describe === undefined || runner.it === undefined) {
    throw new Error("the suite needs describe and it: pass those of your test runner")
  }
  const { describe: group, it: one } = runner
  return { describe: group, it: (name, test) => one(name, test, testMs) }
}

type Check = readonly [says: string, run: (fixture: ConnectorFixture) => Effect.Effect<void, unknown, Scope.Scope>]

const checksOf = (
  { edits = true, local = false, paged = !local, renames = true, retryAfter = true }: SuiteOptions
): ReadonlyArray<Check> => [
  ["lists everything once, says so last, and tells the same again", listsCompletely],
  ["reads what it lists, and no more than maxBytes", readsWithinBounds],
  ["goes on from every checkpoint", (fixture) => resumes(fixture, paged)],
  ["from the cursor of a complete listing nothing has changed, and a cursor of something else is refused", knowsItsCursors],
  ...(edits ? [["the revision changes with the content, and with nothing else", revisionsFollowContent] as const] : []),
  ...(renames ? [["what is renamed is listed under its new name alone", followsRenames] as const] : []),
  ["what is deleted is not listed, and not found", forgetsWhatIsDeleted],
  ...(edits ? [["where it watches, it tells that something changed", tellsOfChanges] as const] : []),
  ...(local ? [] : [
    [
      "waits as a rate limit tells it to, and tries again what breaks",
      (fixture: ConnectorFixture) => waitsAndTriesAgain(fixture, retryAfter)
    ] as const,
    ["takes what stays broken for no end of the listing", staysIncomplete] as const,
    ["a read that fails costs that item alone", failsOneItem] as const,
    ["who is refused is told so, with typed errors that hold no secret", refusedSafely] as const,
    ["takes no secret along where it is sent elsewhere", keepsSecretsHome] as const,
    ["ends its requests when it is interrupted", stopsWhenInterrupted] as const
  ])
]

const listed = (connector: Connector, cursor?: string) => Stream.runCollect(connector.list(cursor))
const itemsOf = (events: ReadonlyArray<Listed>): ReadonlyArray<SourceItem> =>
  events.flatMap((event) => event._tag === "item" ? [event.item] : [])
const revisionsOf = (events: ReadonlyArray<Listed>) =>
  Object.fromEntries(itemsOf(events).map(({ path, revision }) => [path, revision]).toSorted())
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
    assert.ok(
      !path.replace(/^[a-z][a-z0-9+.-]*:\/\//, "").split("/").some((part) => part === "" || part === "." || part === ".."),
      `${path} has an empty part, or dots for one`
    )
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
  // At the same server: a connector that reads by the address would otherwise call one that the test does not play.
  const uri = URL.parse("never/was/there", item.uri)?.href ?? `${item.uri}/never/was/there`
  const never: SourceItem = { path: "never/was/there", uri, displayName: "there", revision: "0".repeat(40) }
  yield* fails(read(fixture, never), "NOT_FOUND", "an item that never was")
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
    assert.ok(
      itemsOf(rest).length < itemsOf(events).length || itemsOf(events.slice(0, at)).length === 0,
      "what was listed is not listed again"
    )
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

const followsRenames = Effect.fnUntraced(function*(fixture: ConnectorFixture) {
  const { connector, rename, sample } = fixture
  assert.ok(rename, "the fixture can rename the sample, or the suite is told `renames: false`")
  const before = yield* listed(connector)
  const content = yield* read(fixture, sampleOf(fixture, before))
  const path = yield* rename
  assert.notEqual(path, sample, "a new name is another path")
  const after = yield* listed(connector)
  assert.deepEqual(pathsOf(after), [...pathsOf(before).filter((each) => each !== sample), path].toSorted(), "only the new path is listed")
  const renamed = itemsOf(after).find((item) => item.path === path)!
  assert.deepEqual(yield* read(fixture, renamed), content, "the content is what it was")
  const cursor = cursorOf(before)
  if (cursor === undefined) return
  // A connector may report that it has to list from the start.
  const changes = yield* Effect.result(listed(connector, cursor))
  if (changes._tag === "Failure") {
    return yield* fails(Effect.fail(changes.failure), "INVALID_ARGUMENT", "a cursor that cannot tell of the new name")
  }
  assert.ok(itemsOf(changes.success).some((item) => item.path === path), "a listing of what changed has the new path")
  if (connector.cursorMisses?.includes("deletions") === true) return
  assert.ok(changes.success.some((event) => event._tag === "deleted" && event.path === sample), "and tells that the old one is gone")
})

const tellsOfChanges = Effect.fnUntraced(function*({ connector, edit }: ConnectorFixture) {
  const { hints } = connector
  // A source that can only be polled has none.
  if (hints === undefined) return
  const told: Array<string> = []
  yield* Effect.forkScoped(Stream.runForEach(hints, ({ _tag }) => Effect.sync(() => void told.push(_tag))))
  yield* until(() => told.includes("watching"), "it says that it watches")
  yield* edit ?? Effect.void
  yield* until(() => told.includes("changed"), "it tells of the change")
})

const faultOf = ({ fault }: ConnectorFixture): NonNullable<ConnectorFixture["fault"]> => {
  assert.ok(fault, "the fixture has faults, or the suite is told that the source is `local`")
  return fault
}

/** The events of a listing until it ends, and its errors. */
const listedOrFailed = Effect.fnUntraced(function*(connector: Connector) {
  const events: Array<Listed> = []
  const end = yield* Effect.result(Stream.runForEach(connector.list(), (event) => Effect.sync(() => void events.push(event))))
  const told = events.flatMap((event) => event._tag === "failed" ? [event.error] : [])
  return { events, errors: end._tag === "Failure" ? [...told, end.failure] : told }
})

/** Milliseconds by which clocks may differ. */
const clockMs = 50

const waitsAndTriesAgain = Effect.fnUntraced(function*(fixture: ConnectorFixture, retryAfter: boolean) {
  const { connector, garbage } = fixture
  const fault = faultOf(fixture)
  const all = revisionsOf(yield* listed(connector))
  const again = Effect.fnUntraced(function*(after: string, ...answers: ReadonlyArray<SourceFault["answer"]>) {
    const faults = yield* Effect.forEach(answers, (answer) => fault({ to: "list", times: 1, answer }))
    const events = yield* listed(connector)
    assert.deepEqual(faults.map(({ met }) => met()), answers.map(() => 1), `the listing met ${after}`)
    assert.ok(isComplete(events), `a listing that met ${after} is complete`)
    assert.deepEqual(revisionsOf(events), all, `and tells the same`)
  })
  const start = Date.now()
  yield* again("a rate limit", { status: 429, headers: { "retry-after": "1" } })
  if (retryAfter) assert.ok(Date.now() - start >= 1000 - clockMs, "a rate limit is waited for as long as Retry-After says")
  yield* again("a service that is not there for now", { status: 503 })
  yield* again("an answer that breaks off", "cut")
  if (garbage !== undefined) {
    yield* again("an answer that is none", { status: 200, headers: { "content-type": "application/json" }, body: garbage })
  }
})

const staysIncomplete = Effect.fnUntraced(function*(fixture: ConnectorFixture) {
  yield* faultOf(fixture)({ to: "list", answer: { status: 500 } })
  const { errors, events } = yield* listedOrFailed(fixture.connector)
  assert.ok(!isComplete(events), "a listing that failed is not complete")
  assert.ok(errors.length > 0, "and says why")
})

const failsOneItem = Effect.fnUntraced(function*(fixture: ConnectorFixture) {
  // Items on this machine are read whatever the source does.
  if (fixture.keepsVersions === true) return
  const fault = faultOf(fixture)
  const events = yield* listed(fixture.connector)
  const item = sampleOf(fixture, events)
  const other = itemsOf(events).find(({ path }) => path !== fixture.sample)!
  const content = yield* read(fixture, item)
  yield* fault({ to: "read", times: 1, answer: { status: 503 } })
  assert.deepEqual(yield* read(fixture, item), content, "what breaks once is read again")
  const broken = yield* fault({ to: "read", answer: { status: 500 } })
  const error = yield* Effect.flip(read(fixture, item))
  assert.ok(error instanceof ServiceError, "what stays broken is a ServiceError")
  broken.end()
  yield* read(fixture, other)
})

const refusedSafely = Effect.fnUntraced(function*(fixture: ConnectorFixture) {
  const { connector, keepsVersions, secrets = [] } = fixture
  const item = sampleOf(fixture, yield* listed(connector))
  yield* faultOf(fixture)({ to: "all", answer: { status: 401, body: JSON.stringify({ message: `not with ${secrets.join(" ")}` }) } })
  const { errors, events } = yield* listedOrFailed(connector)
  assert.ok(!isComplete(events), "a listing that was refused is not complete")
  const reading = keepsVersions === true ? [] : [yield* Effect.flip(read(fixture, item))]
  const checking = yield* Effect.result(connector.check)
  assert.ok(
    errors.some((error) => error._tag === "ServiceError" && /^(?:UNAUTHENTICATED|PERMISSION_DENIED)$/.test(error.code)),
    "the error says that it was refused"
  )
  for (const error of [...errors, ...reading, ...checking._tag === "Failure" ? [checking.failure] : []]) {
    assert.ok(error._tag === "ServiceError" || error._tag === "SecretError", "errors are ServiceError or SecretError")
    const words = `${inspect(error, { depth: 10, showHidden: true })} ${JSON.stringify(error)}`
    for (const secret of secrets) assert.ok(!words.includes(secret), "no error holds a secret")
  }
})

const keepsSecretsHome = Effect.fnUntraced(function*(fixture: ConnectorFixture) {
  const { connector, secrets = [] } = fixture
  const fault = faultOf(fixture)
  const item = sampleOf(fixture, yield* listed(connector))
  const elsewhere = yield* testServer((_, response) => void response.end("{}"))
  const answer = { status: 302, headers: { location: `${elsewhere.origin}/other` } }
  for (const [to, work] of [["list", listedOrFailed(connector)], ["read", Effect.exit(read(fixture, item))]] as const) {
    const away = yield* fault({ to, times: 3, answer })
    yield* work
    away.end()
  }
  for (const { body, headers, url } of elsewhere.asked) {
    const sent = `${url.href} ${JSON.stringify(headers)} ${body.toString("latin1")}`
    for (const secret of secrets) assert.ok(!sent.includes(secret), "no secret goes to another server")
    assert.equal(headers.authorization ?? headers.cookie, undefined, "nor do other credentials")
  }
})

const stopsWhenInterrupted = Effect.fnUntraced(function*(fixture: ConnectorFixture) {
  const { connector } = fixture
  const item = sampleOf(fixture, yield* listed(connector))
  const { waiting } = yield* faultOf(fixture)({ to: "all", answer: "stall" })
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
