/** The part of WebAssembly that is used here: Node's types leave it out, and the types that include it bring all of a browser's. */
declare const WebAssembly: {
  readonly validate: (code: Uint8Array) => boolean
  readonly Module: new(code: Uint8Array) => object
  readonly Instance: new(
    module: object,
    imports?: Readonly<Record<string, Readonly<Record<string, object>>>>
  ) => { readonly exports: unknown }
  readonly Memory: new(pages: { readonly initial: number }) => {
    readonly buffer: ArrayBuffer
    readonly grow: (pages: number) => number
  }
}
