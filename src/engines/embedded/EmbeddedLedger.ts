import { Effect, Layer } from "effect"
import { StateError } from "../../domain/Errors.ts"
import { asStateError } from "../../state/Database.ts"
import { LedgerWrites } from "../../state/LedgerWrites.ts"
import { Writer } from "./store/Writer.ts"

/** Ledger changes through the store's writer: committed in the same transactions as the files they speak of. */
export const embeddedLedger: Layer.Layer<LedgerWrites, never, Writer> = Layer.effect(
  LedgerWrites,
  Effect.map(Writer, (writer) =>
    LedgerWrites.of({
      write: (scope, change) =>
        writer.send("writeLedger", { scope, change }).pipe(
          Effect.mapError((error) => error.cause instanceof StateError ? error.cause : asStateError(error, "the ledger"))
        )
    }))
)
