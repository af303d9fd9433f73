import { Effect, Schema, Stream } from "effect"
import { hash } from "node:crypto"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { Listed } from "../../src/ports/Connector.ts"
import { type Channel, listChannel } from "./Channel.ts"
import type { Directory } from "./Directory.ts"
import type { Failure, SlackApi } from "./SlackApi.ts"

/** How far a listing has come: the channel, and the moment from which on everything in it was listed. */
const Cursor = Schema.Struct({
  of: Schema.String,
  at: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  until: Schema.optionalKey(Schema.Finite),
  /** Something could not be listed, so the listing will not be complete. */
  failed: Schema.Boolean
})
const decodeCursor = Schema.decodeUnknownEffect(Schema.fromJsonString(Cursor))

/** Every channel in turn, newest first. */
export const listing = (
  api: SlackApi,
  directory: Directory,
  channels: ReadonlyArray<Channel>,
  cursor: string | undefined
): Stream.Stream<Listed, Failure> =>
  Stream.unwrap(Effect.gen(function*() {
    const of = hash("sha256", JSON.stringify(channels)).slice(0, 16)
    const start = cursor === undefined ? { of, at: 0, failed: false } : yield* decodeCursor(cursor).pipe(
      Effect.filterOrFail((decoded) => decoded.of === of),
      Effect.mapError(() => ServiceError.invalid("cursor", "is not one of these channels' listing", "List from the start."))
    )
    let failed = start.failed
    const failure = (path: string) => (error: Failure): Effect.Effect<ReadonlyArray<Listed>, Failure> => {
      if (error._tag === "SecretError" || error.code === "UNAUTHENTICATED") return Effect.fail(error)
      failed = true
      return Effect.succeed([{ _tag: "failed", path, error }])
    }
    const checkpoint = (at: number, until?: number): Listed => ({
      _tag: "checkpoint",
      cursor: JSON.stringify({ of, at, ...(until === undefined ? {} : { until }), failed })
    })

    return Stream.fromIterable(channels.entries()).pipe(
      Stream.drop(start.at),
      Stream.flatMap(([at, channel]) =>
        listChannel(api, directory, channel, at === start.at ? start.until : undefined, failure).pipe(
          Stream.map(({ events, until }): ReadonlyArray<Listed> => [...events, checkpoint(at, until)]),
          Stream.catch((error) => Stream.fromEffect(failure(channel.id)(error))),
          Stream.concat(Stream.sync(() => [checkpoint(at + 1)]))
        )
      ),
      Stream.flatMap(Stream.fromIterable),
      Stream.concat(Stream.suspend(() => failed ? Stream.empty : Stream.succeed<Listed>({ _tag: "complete" })))
    )
  }))
