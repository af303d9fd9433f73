import { Effect } from "effect"
import type { ServiceError } from "../../../domain/Errors.ts"
import type { StoreDamage } from "../store/Checksum.ts"
import { damageError } from "../store/Commands.ts"
import type { Writer } from "../store/Writer.ts"

/** Fails with the error for some damage, after marking the damaged file. */
export type NoteDamage = (damage: StoreDamage) => Effect.Effect<never, ServiceError>

/** The file is marked so that the next run reads it again; a process that may not write leaves it unmarked. */
export const noteDamage = (writer: Writer["Service"]): NoteDamage =>
  Effect.fnUntraced(function*({ file, message }) {
    if (file !== undefined) yield* Effect.ignore(writer.send("noteDamage", { files: [file], what: message }))
    return yield* damageError(message)
  })
