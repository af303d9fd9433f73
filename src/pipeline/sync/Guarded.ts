import { Effect, Stream } from "effect"
import { types } from "node:util"
import { type SecretError, ServiceError } from "../../domain/Errors.ts"
import { redactText } from "../../domain/Redact.ts"
import type { Connector, Listed, SourceItem } from "../../ports/Connector.ts"

/** Kept by copies of a connector: what is guarded once is not guarded again. */
const mark: unique symbol = Symbol("sluice/pipeline/Guarded")

/** The `reason` of an item that cannot be taken as it was listed, though its path is known. */
export const malformedItem = "MALFORMED_ITEM"

/**
 * Anybody's connector, whose faults are its own: what it throws, and what it gives in the place of a stream, is an error of
 * its source, and an item that is none fails alone.
 */
export const guarded = (connector: Connector): Connector => {
  if (mark in connector) return connector
  const { cursorMisses, hints, kind, settled } = connector
  const made: Connector & { readonly [mark]: true } = {
    [mark]: true,
    kind,
    check: Effect.suspend(() => isEffect(connector.check)).pipe(
      Effect.mapError((error) => typed(kind, "check", error, "FAILED_PRECONDITION")),
      Effect.catchDefect((thrown) => Effect.fail(threw(kind, "check", thrown, "FAILED_PRECONDITION")))
    ),
    list: (cursor) =>
      Stream.suspend(() => isStream(connector.list(cursor))).pipe(
        Stream.mapArray((events) => events.every(isSound) ? events : checkedAll(events)),
        Stream.mapError((error) => typed(kind, "list", error)),
        Stream.catchDefect((thrown) => Stream.fail(threw(kind, "list", thrown)))
      ),
    // Guarded where an item is read whole: `readItem`.
    read: (item, maxBytes) => connector.read(item, maxBytes),
    ...(cursorMisses === undefined ? {} : { cursorMisses }),
    ...(settled === undefined ? {} : {
      settled: (item) => Effect.catchDefect(Effect.suspend(() => isEffect(settled.call(connector, item))), () => Effect.succeed(false))
    }),
    ...(hints === undefined ? {} : {
      hints: Stream.catchDefect(
        hints,
        (thrown) => Stream.succeed({ _tag: "blind" as const, message: threw(kind, "hints", thrown).message })
      )
    })
  }
  return made
}

/** The whole of what a connector reads of an item, in pieces. */
export const readPieces = (
  connector: Connector,
  item: SourceItem,
  maxBytes: number
): Effect.Effect<ReadonlyArray<Uint8Array>, ServiceError | SecretError> => {
  const { kind } = connector
  return Stream.suspend(() => isStream(connector.read(item, maxBytes))).pipe(
    Stream.runCollect,
    Effect.map((pieces) => {
      const wrong = pieces.findIndex((piece) => !types.isUint8Array(piece))
      if (wrong >= 0) throw new TypeError(`it gave ${nameOf(pieces[wrong])} where bytes are wanted, a Uint8Array`)
      return pieces
    }),
    Effect.mapError((error) => typed(kind, "read", error)),
    Effect.catchDefect((thrown) => Effect.fail(threw(kind, "read", thrown)))
  )
}

/** What whoever wrote it in JavaScript gives is another thing at times: said by its name, as all that is thrown here. */
const isStream = <A, E>(value: Stream.Stream<A, E>): Stream.Stream<A, E> => {
  if (Stream.isStream(value)) return value
  throw new TypeError(`it gave ${nameOf(value)} where a Stream is wanted`)
}

const isEffect = <A, E>(value: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  if (Effect.isEffect(value)) return value
  throw new TypeError(`it gave ${nameOf(value)} where an Effect is wanted`)
}

type Code = ServiceError["code"]

/** An error of the kinds that connectors fail with, as it is; of any other what it says. */
const typed = (
  kind: string,
  doing: string,
  error: ServiceError | SecretError,
  code: Code = "UNKNOWN"
): ServiceError | SecretError =>
  isA("ServiceError", error) || isA("SecretError", error)
    ? error
    : new ServiceError({ code, message: `connector ${kind}: ${doing} failed: ${saidBy(error)}`, fix: ownErrors, cause: error })

/** By its tag: whoever made it may have a copy of this package of their own. */
const isA = (tag: string, error: unknown): boolean => typeof error === "object" && error !== null && "_tag" in error && error._tag === tag

/** What was thrown, as an error of the connector. */
export const threw = (kind: string, doing: string, thrown: unknown, code: Code = "UNKNOWN"): ServiceError =>
  new ServiceError({ code, message: `connector ${kind}: ${doing} threw: ${saidBy(thrown)}`, fix: ownErrors, cause: thrown })

const ownErrors = "mend the connector, or have it fail with a ServiceError where the source is at fault"

const saidBy = (thrown: unknown): string =>
  thrown instanceof Error || types.isNativeError(thrown)
    ? redactText(thrown.message)
    : typeof thrown === "string"
    ? redactText(thrown)
    : nameOf(thrown)

const nameOf = (value: unknown): string => {
  if (value === undefined || value === null) return String(value)
  if (typeof value !== "object") return `a ${typeof value}`
  if (Stream.isStream(value)) return "a Stream"
  if (Effect.isEffect(value)) return "an Effect"
  const name: unknown = value.constructor?.name
  return typeof name === "string" && name !== "" && name !== "Object" ? `a value of class ${name}` : "an object"
}

const isSound = (event: Listed): boolean =>
  event?._tag === "item" && flawOf(event.item) === undefined && event.item.permissions?.principals.some(hasCapitals) !== true

const hasCapitals = (principal: string): boolean => principal !== principal.toLowerCase()

/** Principals are compared in lower case: as the source spells them, nobody could read the item. */
const withPlainPrincipals = ({ permissions, ...item }: SourceItem): SourceItem =>
  permissions === undefined ? item : {
    ...item,
    permissions: { ...permissions, principals: permissions.principals.map((principal) => principal.toLowerCase()) }
  }

const checkedAll = (events: ReadonlyArray<Listed>) => events.map(checked) as [Listed, ...Array<Listed>] // as many as there were

const checked = (event: Listed): Listed => {
  switch (event?._tag) {
    case "item": {
      const flaw = flawOf(event.item)
      if (flaw === undefined) return { ...event, item: withPlainPrincipals(event.item) }
      const { displayName, path, uri }: Partial<Record<keyof SourceItem, unknown>> = event.item ?? {}
      const named = isText(path)
      return {
        _tag: "failed",
        path: [path, uri, displayName].find(isText) ?? "(no path)",
        error: new ServiceError({
          code: "INVALID_ARGUMENT",
          message: `the connector listed it wrongly: ${flaw}`,
          fix: ownErrors,
          reason: named ? malformedItem : undefined
        })
      }
    }
    case "failed":
      mustBeText(event, "path")
      return isA("ServiceError", event.error)
        ? event
        : { ...event, error: new ServiceError({ code: "UNKNOWN", message: saidBy(event.error), cause: event.error }) }
    case "skipped":
      mustBeText(event, "reason")
      if (event.before !== undefined) mustBeText(event, "before")
      mustBeText(event, "path")
      return event
    case "deleted":
      mustBeText(event, "path")
      return event
    case "checkpoint":
      mustBeText(event, "cursor")
      return event
    case "complete":
      if (event.cursor !== undefined) mustBeText(event, "cursor")
      return event
    default:
      throw new TypeError(`it gave ${nameOf(event)} where an event of a listing is wanted, with a _tag of ${tags.join(", ")}`)
  }
}

const tags: ReadonlyArray<Listed["_tag"]> = ["item", "skipped", "failed", "deleted", "checkpoint", "complete"]

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

const mustBeText = <E extends Listed>(event: E, field: keyof E & string): void => {
  if (!isText(event[field])) throw new TypeError(`${field} of an event ${event._tag} is ${nameOf(event[field])}, not a text`)
}

/** What makes an item none, if anything. By hand: every item of every listing comes by. */
const flawOf = (item: SourceItem): string | undefined => {
  if (typeof item !== "object" || item === null) return `item is ${nameOf(item)}`
  const { displayName, metadata, mimeType, path, permissions, revision, size, unsettled, uri } = item
  if (!isText(path)) return `path is ${path === "" ? "empty" : `${nameOf(path)}, not a text`}`
  if (typeof uri !== "string") return `uri is ${nameOf(uri)}, not a text`
  if (typeof displayName !== "string") return `displayName is ${nameOf(displayName)}, not a text`
  if (typeof revision !== "string") return `revision is ${nameOf(revision)}, not a text`
  if (mimeType !== undefined && typeof mimeType !== "string") return `mimeType is ${nameOf(mimeType)}, not a text`
  if (unsettled !== undefined && typeof unsettled !== "boolean") return `unsettled is ${nameOf(unsettled)}, not true or false`
  if (size !== undefined && !(typeof size === "number" && size >= 0 && size < Infinity)) {
    return `size is ${typeof size === "number" ? size : nameOf(size)}, not a number of bytes`
  }
  return flawOfMetadata(metadata) ?? flawOfPermissions(permissions)
}

const flawOfMetadata = (metadata: SourceItem["metadata"]): string | undefined => {
  if (metadata === undefined) return undefined
  if (typeof metadata !== "object" || metadata === null) return `metadata is ${nameOf(metadata)}, not an object`
  for (const key of Object.keys(metadata)) {
    if (typeof metadata[key] !== "string") return `metadata.${key} is ${nameOf(metadata[key])}, not a text`
  }
  return undefined
}

const flawOfPermissions = (permissions: SourceItem["permissions"]): string | undefined => {
  if (permissions === undefined) return undefined
  if (typeof permissions !== "object" || permissions === null) return `permissions is ${nameOf(permissions)}, not an object`
  if (typeof permissions.public !== "boolean") return `permissions.public is ${nameOf(permissions.public)}, not true or false`
  const { principals } = permissions
  return Array.isArray(principals) && principals.every((principal) => typeof principal === "string")
    ? undefined
    : "permissions.principals is no list of texts"
}
