/**
 * For testing programs that use Sluice: an engine that leaves nothing behind, a model that answers from a script, a source
 * whose faults the test sets, and what a stage needs without any engine.
 *
 * @example
 * ```ts
 * const source = faultySource({ "leave.md": "# Leave\n\nFive days carry over." })
 * const { generator } = scriptedModel(["Five days. [1: \"Five days carry over.\"]"])
 * const pipeline = Pipeline.make("test", { corpus: { displayName: "Test" }, sources: { docs: source.source }, stages: compose(retrieve(), generateBy(generator)) })
 * yield* pipeline.run.pipe(Effect.provide(isolatedEngine()))
 * ```
 */
import { Effect, Layer, Schema, Stream } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type EmbeddedHostOptions, embedded } from "./compose/Host.ts"
import type { ChatEvent, ChatRequest } from "./domain/Chat.ts"
import { ServiceError } from "./domain/Errors.ts"
import { make as makeGrounded } from "./models/GroundedGenerator.ts"
import type { Host } from "./pipeline/Host.ts"
import type { ChatModel } from "./ports/ChatModel.ts"
import type { Connector, Listed } from "./ports/Connector.ts"
import type { Generator } from "./ports/Generator.ts"
import { defineConnector, type Source } from "./ports/Source.ts"

export { type TestContext, testContexts, testServices, type TestServicesOptions } from "./compose/TestServices.ts"

/** The embedded engine on a temporary folder, deleted with the layer: no test sees what another left behind. */
export const isolatedEngine = (options: Omit<EmbeddedHostOptions, "dataDir"> = {}): Layer.Layer<Host> =>
  Layer.unwrap(Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "sluice-test-"))),
      (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
    ),
    (dataDir) => embedded({ ...options, dataDir })
  ))

/** A scripted model, and the requests it has received. */
export interface ScriptedModel {
  /** The model as a generator, for `generateBy`: its citations are verified like those of any model. */
  readonly generator: Generator["Service"]
  readonly chat: ChatModel["Service"]
  /** Requests the model has received, in order. */
  readonly requests: ReadonlyArray<ChatRequest>
}

/**
 * A model that returns these answers in turn, word by word, and fails where the script has an error. Once the script is
 * used up it fails with `OUT_OF_RANGE`. The script may also be a function from each request to its answer.
 */
export const scriptedModel = (
  script: ReadonlyArray<string | ServiceError> | ((request: ChatRequest) => string | ServiceError),
  name = "scripted"
): ScriptedModel => {
  const requests: Array<ChatRequest> = []
  const next = (request: ChatRequest): string | ServiceError => {
    if (typeof script === "function") return script(request)
    return script[requests.length - 1] ??
      new ServiceError({
        code: "OUT_OF_RANGE",
        message: `${name} was asked ${requests.length} times, and its script has ${script.length} answers`
      })
  }
  const chat: ChatModel["Service"] = {
    model: name,
    stream: (request) =>
      Stream.suspend((): Stream.Stream<ChatEvent, ServiceError> => {
        requests.push(request)
        const answer = next(request)
        if (typeof answer !== "string") return Stream.fail(answer)
        const words = answer.match(/\S+\s*|\s+/g) ?? []
        return Stream.fromIterable<ChatEvent>([
          ...words.map((text): ChatEvent => ({ type: "text", candidate: 0, text })),
          { type: "end", candidate: 0, reason: "stop" }
        ])
      })
  }
  return { chat, generator: makeGrounded(chat), requests }
}

/** A source in memory, controlled by a test. */
export interface FaultySource {
  readonly source: Source
  /** Texts by path: add, change and delete them between runs. */
  readonly items: Map<string, string>
  /** Makes the next `times` reads of a path fail with this error. Default once. */
  readonly failRead: (path: string, error: ServiceError, times?: number) => void
  /** Makes the next `times` listings fail with this error after `after` items (default 0). Default once. */
  readonly failListing: (error: ServiceError, options?: { readonly after?: number; readonly times?: number }) => void
  /** Makes the next `times` listings end without an error and without `complete`, after `after` items (default 0). Default once. */
  readonly cutListing: (options?: { readonly after?: number; readonly times?: number }) => void
  /** Paths read so far, in order. */
  readonly reads: ReadonlyArray<string>
  readonly listings: number
}

/**
 * Creates a source of texts whose listings and reads fail as the test says. Several sources of one pipeline need different kinds, which are
 * also the hosts of their documents' addresses. Default `faulty`.
 */
export const faultySource = (texts: Readonly<Record<string, string>> = {}, kind = "faulty"): FaultySource => {
  const items = new Map(Object.entries(texts))
  const reads: Array<string> = []
  const readFaults = new Map<string, Array<ServiceError>>()
  const listFaults: Array<{ readonly after: number; readonly error: ServiceError | undefined }> = []
  let listings = 0
  const connector: Connector = {
    kind,
    check: Effect.void,
    list: () =>
      Stream.suspend((): Stream.Stream<Listed, ServiceError> => {
        listings++
        const fault = listFaults.shift()
        const events = [...items].map(([path, text]): Listed => ({
          _tag: "item",
          item: { path, uri: `memory://${kind}/${encodeURI(path)}`, displayName: path, revision: text, size: Buffer.byteLength(text) }
        }))
        if (fault === undefined) return Stream.fromIterable([...events, { _tag: "complete" }])
        const some = Stream.fromIterable(events.slice(0, fault.after))
        return fault.error === undefined ? some : Stream.concat(some, Stream.fail(fault.error))
      }),
    read: ({ path }, maxBytes) =>
      Stream.suspend((): Stream.Stream<Uint8Array, ServiceError> => {
        reads.push(path)
        const fault = readFaults.get(path)?.shift()
        if (fault !== undefined) return Stream.fail(fault)
        const text = items.get(path)
        if (text === undefined) return Stream.fail(ServiceError.notFound(path))
        const bytes = new TextEncoder().encode(text)
        return bytes.length > maxBytes
          ? Stream.fail(new ServiceError({ code: "OUT_OF_RANGE", message: `${path} is larger than ${maxBytes} bytes` }))
          : Stream.make(bytes)
      })
  }
  const definition = defineConnector({
    kind,
    description: "Texts of a test.",
    fields: { name: Schema.String.annotate({ description: "Any name." }) },
    connect: () => Effect.succeed(connector)
  })
  const repeat = <A>(value: A, times = 1): ReadonlyArray<A> => Array.from({ length: times }, () => value)
  return {
    source: definition({ name: "texts" }),
    items,
    reads,
    failRead: (path, error, times) => void readFaults.set(path, [...(readFaults.get(path) ?? []), ...repeat(error, times)]),
    failListing: (error, { after = 0, times } = {}) => void listFaults.push(...repeat({ after, error }, times)),
    cutListing: ({ after = 0, times } = {}) => void listFaults.push(...repeat({ after, error: undefined }, times)),
    get listings() {
      return listings
    }
  }
}
