import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import type { ServiceError } from "../../domain/Errors.ts"
import { OperationName } from "../../domain/Operation.ts"
import { lastSegment } from "../../domain/ResourceNames.ts"
import { Operations } from "../../ports/Operations.ts"
import { pages } from "../../ports/Paging.ts"
import { printDone, printValue, rows } from "../render/Values.ts"
import { resourceName } from "../Resources.ts"
import { onResources, pipelineFlag } from "../Session.ts"

const name = Argument.String("operation").pipe(Argument.withDescription("The operation's name, or its id"))

const list = Command.make(
  "list",
  { pipeline: pipelineFlag },
  Effect.fn(function*(args) {
    yield* onResources(
      args.pipeline,
      Effect.gen(function*() {
        const operations = yield* Operations
        yield* rows(pages(operations.list), [
          { title: "id", cell: (o) => lastSegment(o.name) },
          { title: "kind", cell: (o) => o.kind },
          { title: "target", cell: (o) => lastSegment(o.target), flexible: true },
          { title: "state", cell: (o) => (!o.done ? "running" : o.error === undefined ? "done" : o.error.code) },
          { title: "%", cell: (o) => String(o.progress ?? ""), align: "right" },
          { title: "updated", cell: (o) => o.updateTime }
        ])
      })
    )
  })
).pipe(
  Command.withDescription("List long-running operations."),
  Command.withExamples([{ command: "sluice operations list --json", description: "counts and partial failures too" }])
)

const act = <const Name extends string>(
  command: Name,
  description: string,
  does: (operations: Operations["Service"], name: OperationName) => Effect.Effect<void, ServiceError>,
  title: string
) =>
  Command.make(
    command,
    { operation: name, pipeline: pipelineFlag },
    Effect.fn(function*(args) {
      yield* onResources(
        args.pipeline,
        Effect.gen(function*() {
          const operation = yield* resourceName(OperationName, "operations", args.operation)
          yield* does(yield* Operations, operation)
          yield* printDone(title, operation)
        })
      )
    })
  ).pipe(
    Command.withDescription(description),
    Command.withExamples([{ command: `sluice operations ${command} 8013846402219253760`, description: "by the id that list shows" }])
  )

const get = Command.make(
  "get",
  { operation: name, pipeline: pipelineFlag },
  Effect.fn(function*(args) {
    yield* onResources(
      args.pipeline,
      Effect.gen(function*() {
        const operations = yield* Operations
        yield* printValue(yield* operations.get(yield* resourceName(OperationName, "operations", args.operation)))
      })
    )
  })
).pipe(
  Command.withDescription("Show one operation: progress, counts, partial failures."),
  Command.withExamples([{ command: "sluice operations get 8013846402219253760", description: "by the id that list shows" }])
)

/** `sluice operations`: long-running operations of the engine. */
export const operations = Command.make("operations").pipe(
  Command.withDescription("List, show, cancel and delete long-running operations."),
  Command.withExamples([{ command: "sluice operations list", description: "imports and deletes, running and ended" }]),
  Command.withSubcommands([
    list,
    get,
    act("cancel", "Ask a running operation to stop.", (o, name) => o.cancel(name), "cancelled"),
    act("delete", "Delete a finished operation from the list.", (o, name) => o.delete(name), "deleted")
  ])
)
