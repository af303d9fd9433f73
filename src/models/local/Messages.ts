import type { Pooling } from "../../domain/LocalModel.ts"

/** What a process that runs a model is sent first. */
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
  /** The tensor that is the table. */
  readonly table: string
  readonly dimensions: number
  /** Whether a token that stands for what the tokenizer does not know counts. */
  readonly countsUnknown: boolean
}

/** Texts to be embedded, or to be scored beside a question. What somebody waits for goes first. */
export type Task =
  & { readonly texts: ReadonlyArray<string>; readonly urgent: boolean }
  & (
    | { readonly pooling: Pooling | undefined; readonly prefix: string }
    | { readonly query: string }
  )

export type Request = { readonly start: Start } | { readonly id: number; readonly task: Task } | { readonly cancel: number }

/** What comes back. Silence means that something is wrong: each batch is told of. */
export type Reply =
  | { readonly open: true }
  | { readonly broken: string }
  | { readonly batch: true }
  /** As many numbers for each text: its vector, or its score. */
  | { readonly id: number; readonly values: Float32Array }
  | { readonly id: number; readonly error: string }
