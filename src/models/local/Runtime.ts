/** The parts of onnxruntime-node, an optional package, that are used here; its own types may not be installed. */

export interface Tensor {
  readonly data: ArrayLike<number> | ArrayLike<bigint>
  readonly dims: ReadonlyArray<number>
}

export interface Session {
  readonly inputNames: ReadonlyArray<string>
  readonly outputNames: ReadonlyArray<string>
  readonly run: (
    inputs: Readonly<Record<string, Tensor>>,
    outputs: ReadonlyArray<string>
  ) => Promise<Readonly<Record<string, Tensor>>>
}

export interface Runtime {
  readonly InferenceSession: {
    readonly create: (path: string, options: {
      readonly executionProviders: ReadonlyArray<"cpu">
      readonly intraOpNumThreads: number
      readonly interOpNumThreads: number
      /** 3 logs errors only. */
      readonly logSeverityLevel: number
      /** Settings by the runtime's own names. */
      readonly extra: object
    }) => Promise<Session>
  }
  readonly Tensor: new(type: "int64", data: BigInt64Array, dims: ReadonlyArray<number>) => Tensor
}
