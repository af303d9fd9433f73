import { Effect, Layer } from "effect"
import { type ServiceError, StateError } from "../../domain/Errors.ts"
import { asStateError } from "../../state/Database.ts"
import { LedgerWrites } from "../../state/LedgerWrites.ts"
import { Writer } from "./store/Writer.ts"

/** Ledger changes that go through the store's writer, so that they are committed together with the files they are about. */
export const embeddedLedger: Layer.Layer<LedgerWrites, never, Writer> = Layer.effect(
  LedgerWrites,
  Effect.map(Writer, (writer) =>
    LedgerWrites.of({
      write: (scope, change) => Effect.mapError(writer.send("writeLedger", { scope, change }), asLedgerError),
      through: (statements) => writer.isRunning() ? Effect.mapError(writer.send("writeState", { statements }), asLedgerError) : undefined
    }))
)

const asLedgerError = (error: ServiceError): StateError =>
  error.cause instanceof StateError ? error.cause : asStateError(error, "the ledger")
