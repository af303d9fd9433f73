/** Files to store, with questions about them: generated, or written by people. */
export interface TextCorpus {
  /** Description for the output. */
  readonly about: string
  readonly files: number
  /** Writes the files below a folder, and returns their number of bytes. */
  readonly write: (folder: string) => number
  /** Changes a paragraph in a fraction of the files. Each `round` makes different edits. */
  readonly edit: (folder: string, fraction: number, round: number) => ReadonlyArray<Edit>
  readonly queries: (count: number) => ReadonlyArray<string>
}

export interface Edit {
  readonly path: string
  readonly before: string
  readonly after: string
}
