/** Files to take in, and what is asked of them: generated, or of people. */
export interface TextCorpus {
  /** What it is, for people. */
  readonly about: string
  readonly files: number
  /** Writes the files below a folder and gives their bytes. */
  readonly write: (folder: string) => number
  /** Changes a paragraph in a share of the files. Another `round` is another edit. */
  readonly edit: (folder: string, fraction: number, round: number) => ReadonlyArray<Edit>
  readonly queries: (count: number) => ReadonlyArray<string>
}

export interface Edit {
  readonly path: string
  readonly before: string
  readonly after: string
}
