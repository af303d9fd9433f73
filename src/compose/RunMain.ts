import { runMain as runOnNode } from "@effect/platform-node/NodeRuntime"
import type { Effect } from "effect"

/**
 * Runs a program as the process: `Effect.provide(program, engine).pipe(runMain)`. An error is printed with its fix, and
 * the process ends with the error's exit code (see `ExitCode`); Ctrl-C and SIGTERM interrupt the program in order, which
 * records a run as interrupted. Same as `NodeRuntime.runMain` of `@effect/platform-node`, which therefore need not be
 * installed.
 */
export const runMain = <A, E>(program: Effect.Effect<A, E>): void => runOnNode(program)
