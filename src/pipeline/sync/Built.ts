import { isDeepStrictEqual } from "node:util"
import { defined } from "../../domain/Defined.ts"
import type { Definition } from "../definition/Definition.ts"

/**
 * The settings of a pipeline that determine what is stored for a document. They are kept with each generation of its
 * corpus, so that a generation can be kept up to date, and queried, with its own settings while the pipeline's file
 * describes another. Secrets are named by their versions, as in the file.
 */
export interface Built {
  readonly chunking: Definition["chunking"]
  readonly parsing: Definition["parsing"]
  readonly parsers?: Definition["parsers"]
  readonly vectorDb: Definition["corpus"]["vectorDb"]
  readonly embedding?: Definition["corpus"]["embedding"]
  readonly limits?: Definition["import"]["limits"]
  readonly textRecognition?: Definition["import"]["textRecognition"]
  /** Versions of the engine's parsers and embedder. */
  readonly engine: string
}

/** The settings with which a pipeline builds its corpus on an engine, as JSON. */
export const builtBy = (
  { chunking, corpus: { embedding, vectorDb }, import: { limits, textRecognition }, parsers, parsing }: Definition,
  engine: string
): string => JSON.stringify(defined({ chunking, parsing, parsers, vectorDb, embedding, limits, textRecognition, engine } satisfies Built))

/** Decodes JSON that {@link builtBy} wrote. */
export const decodeBuilt = (built: string): Built => JSON.parse(built) as Built // our own

/** The pipeline with the settings of a generation in the place of its own. */
export const asBuilt = ({ parsers, ...pipeline }: Definition, built: Built): Definition => ({
  ...pipeline,
  ...defined({ parsers: sameSection("parsers", built, parsers) ? parsers : built.parsers }),
  chunking: built.chunking,
  parsing: sameSection("parsing", built, pipeline.parsing) ? pipeline.parsing : built.parsing,
  corpus: defined({
    ...pipeline.corpus,
    vectorDb: sameSection("vectorDb", built, pipeline.corpus.vectorDb) ? pipeline.corpus.vectorDb : built.vectorDb,
    embedding: sameSection("embedding", built, pipeline.corpus.embedding) ? pipeline.corpus.embedding : built.embedding
  }),
  import: defined({ ...pipeline.import, limits: built.limits, textRecognition: built.textRecognition })
})

const sameSection = (name: "parsing" | "parsers" | "vectorDb" | "embedding", built: Built, now: unknown): boolean =>
  isDeepStrictEqual(stored(built[name]), stored(now))

/** Rates, keys and sizes of requests: they do not change what is stored. */
const manners = new Set(["maxRequestsPerMinute", "apiKey", "batch"])

/** The fields of a section that determine what is stored, by name. */
const stored = (section: unknown): Readonly<Record<string, unknown>> =>
  typeof section !== "object" || section === null
    ? section === undefined ? {} : { "": section }
    : Object.fromEntries(Object.entries(section).filter(([key, value]) => !manners.has(key) && value !== undefined))

const sections = ["chunking", "parsing", "parsers", "embedding", "vectorDb", "limits", "textRecognition"] as const
const inFile: Readonly<Record<typeof sections[number], string>> = {
  chunking: "chunking",
  parsing: "parsing",
  parsers: "parsers",
  embedding: "corpus.embedding",
  vectorDb: "corpus.vectorDb",
  limits: "import.limits",
  textRecognition: "import.textRecognition"
}

/** A setting that differs between two generations. */
export interface Difference {
  /** Name of the setting in the pipeline's file; `engine`: the versions of parsers and embedder. */
  readonly field: string
  /** Value before; `(unset)` where there was none. */
  readonly from: string
  readonly to: string
}

const told = (value: unknown): string => value === undefined ? "(unset)" : typeof value === "string" ? value : JSON.stringify(value)

/** Lists the settings that differ, field by field. Versions of the engine are listed only where nothing else explains the difference. */
export const differences = (before: Built, now: Built): ReadonlyArray<Difference> => {
  const settings = sections.flatMap((section): ReadonlyArray<Difference> => {
    const [from, to] = [stored(before[section]), stored(now[section])]
    return [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap((key) =>
      isDeepStrictEqual(from[key], to[key])
        ? []
        : [{
          field: key === "" ? inFile[section] : `${inFile[section]}.${key === "_tag" ? "kind" : key}`,
          from: told(from[key]),
          to: told(to[key])
        }]
    )
  })
  return settings.length > 0 || before.engine === now.engine ? settings : [{ field: "engine", from: before.engine, to: now.engine }]
}

/** Whether the declared settings build the same corpus, apart from the engine's versions. */
export const describes = (declared: Built, built: Built): boolean =>
  sections.every((section) => isDeepStrictEqual(stored(declared[section]), stored(built[section])))
