/** A folder on this machine. */
export interface LocalConfig {
  /** Absolute path of the folder. */
  readonly path: string
  /** Globs relative to the folder; a file is taken if one matches. Default: every file. */
  readonly include?: ReadonlyArray<string>
  /** Globs relative to the folder; what matches is not taken, and a folder that matches is not entered. */
  readonly exclude?: ReadonlyArray<string>
  /** Name of the ignore files, `.gitignore` syntax, in any folder. Default `.sluiceignore`. */
  readonly ignoreFile?: string
  /** Whether names that begin with a dot are taken. Default false. */
  readonly hidden?: boolean
  /** Whether symbolic links inside the folder are followed. Links that lead out of it never are. Default false. */
  readonly followLinks?: boolean
  /** Bytes; larger files are skipped. */
  readonly maxFileSize?: number
}

export const defaultIgnoreFile = ".sluiceignore"
