import type { Pooling } from "../../domain/LocalModel.ts"

/** The first message to a process that runs a model. */
export type Start = StartOnnx | StartStatic

export interface StartOnnx {
  readonly form: "onnx"
  /** The path of `onnxruntime-node`. */
  readonly runtime: string
  readonly folder: string
  readonly weights: string
  readonly maxTokens: number
  readonly threads: number
}

export interface StartStatic {
  readonly form: "static"
  readonly folder: string
  readonly weights: string
  readonly tokenizer: string
  /** Name of the tensor that contains the table. */
  readonly table: string
  readonly dimensions: number
  /** Whether the token for unknown words counts. */
  readonly countsUnknown: boolean
}

/** Texts to be embedded, or to be scored together with a question. Tasks that somebody waits for go first. */
export type Task =
  & { readonly texts: ReadonlyArray<string>; readonly urgent: boolean }
  & (
    | { readonly pooling: Pooling | undefined; readonly prefix: string }
    | { readonly query: string }
  )

export type Request = { readonly start: Start } | { readonly id: number; readonly task: Task } | { readonly cancel: number }

/** A reply of the process. It reports every batch, so silence means that something is wrong. */
export type Reply =
  | { readonly open: true }
  | { readonly broken: string }
  | { readonly batch: true }
  /** The same number of values for each text: its vector, or its score. */
  | { readonly id: number; readonly values: Float32Array }
  | { readonly id: number; readonly error: string }
