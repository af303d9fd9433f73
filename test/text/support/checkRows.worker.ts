import { parentPort, workerData } from "node:worker_threads"
import { Effect, Stream } from "effect"
import type { ObjectStore } from "../../../src/ports/ObjectStore.ts"
import type { TableStore } from "../../../src/ports/TableStore.ts"
import { checkRows } from "../../../src/text/rows/CheckRows.ts"
import { batchLine } from "../../support/EchoModel.ts"

/** Checks as many rows as it is told to, made as they are read; the test bounds this thread's memory. */
const { rows } = workerData as { readonly rows: number }
const perPiece = 500
const padding = "x".repeat(300)

const objects = {
  get: () =>
    Stream.range(0, rows / perPiece - 1).pipe(
      // Else all pieces would be made at once.
      Stream.rechunk(1),
      Stream.map((piece) => Array.from({ length: perPiece }, (_, at) => `${batchLine(`row-${piece}-${at}`, padding)}\n`).join("")),
      Stream.encodeText
    )
} as unknown as ObjectStore["Service"] // nothing else is asked of it

const found = await Effect.runPromise(
  checkRows({ _tag: "jsonl", uris: ["gs://b/in.jsonl"] }, { objects, tables: {} as TableStore["Service"] })
)
parentPort?.postMessage(found)
