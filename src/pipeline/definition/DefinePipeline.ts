import { Result } from "effect"
import { decode } from "./Decode.ts"
import { PipelineInvalid } from "./PipelineInvalid.ts"
import { issueOf } from "./Place.ts"
import type { Definition, PipelineFile } from "./Definition.ts"

type WrittenStage = NonNullable<PipelineFile["stages"]>[number]
type Only<K extends string> = Extract<WrittenStage, { readonly [P in K]: unknown }>

type Answering = Only<"generate"> | Only<"chat"> | Only<"batch">

type Between = Only<"rank"> | Only<"diversify"> | Only<"expand">

/**
 * Stages in the order `retrieve`, then any that rank, diversify or expand, then stages that answer, at most one of each; or one whose
 * model searches by itself: another order does not compile.
 */
type StagesInOrder =
  | readonly [Only<"retrieve">, ...ReadonlyArray<Between>]
  | readonly [Only<"retrieve">, ...ReadonlyArray<Between>, Answering]
  | readonly [Only<"retrieve">, ...ReadonlyArray<Between>, Answering, Answering]
  | readonly [Only<"retrieve">, ...ReadonlyArray<Between>, Answering, Answering, Answering]
  | readonly [{ readonly generate: Only<"generate">["generate"] & { readonly ground: "corpus" } }]

/** A pipeline as a program writes it: like a pipeline file, with the order of stages checked by the compiler. */
export type PipelineInput = Omit<PipelineFile, "stages"> & { readonly stages?: StagesInOrder }

/**
 * Makes a pipeline in TypeScript, with every default filled in. Throws {@link PipelineInvalid} with every broken rule;
 * problems are located by their path in the value.
 *
 * @example
 * ```ts
 * export default definePipeline({
 *   name: "handbook",
 *   corpus: { displayName: "Handbook" },
 *   sources: { docs: { local: { path: "./docs", include: ["**\/*.md"] } } }
 * })
 * ```
 */
export const definePipeline = (input: PipelineInput): Definition =>
  Result.getOrThrowWith(
    decode(input),
    (problems) => new PipelineInvalid({ file: "definePipeline", issues: problems.map((problem) => issueOf("definePipeline", problem)) })
  )
