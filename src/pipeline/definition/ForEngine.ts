import { Result } from "effect"
import type { Problem, ValuePath } from "./PipelineInvalid.ts"
import type { Definition } from "./Definition.ts"
import type { EngineChoice, EngineName } from "./EngineSettings.ts"

type Section = "vectorDb" | "embedding" | "chunking" | "parsing" | "import" | "stages" | "judge"

const ownPath: Readonly<Record<Section, ValuePath>> = {
  vectorDb: ["corpus", "vectorDb"],
  embedding: ["corpus", "embedding"],
  chunking: ["chunking"],
  parsing: ["parsing"],
  import: ["import"],
  stages: ["stages"],
  judge: ["judge"]
}

/** The path of the section that applies on an engine: under `engines`, or at its own place. */
export const sectionPath = (pipeline: Definition, engine: EngineName, section: Section): ValuePath =>
  pipeline.engines[engine]?.[section] === undefined ? ownPath[section] : ["engines", engine, section]

/** The written path of a part of the pipeline as it runs on an engine. */
export const writtenPath = (pipeline: Definition, engine: EngineName, path: ValuePath): ValuePath => {
  const sections = Object.entries(ownPath) as ReadonlyArray<readonly [Section, ValuePath]>
  const [section, own] = sections.find(([, own]) => own.every((key, at) => path[at] === key)) ?? []
  return section === undefined || own === undefined ? path : [...sectionPath(pipeline, engine, section), ...path.slice(own.length)]
}

/**
 * The pipeline as it runs on one engine (default: its own): each section under `engines` replaces the pipeline's. Fails
 * where the engine needs settings that the pipeline does not have.
 */
export const forEngine = (
  pipeline: Definition,
  engine: EngineName = pipeline.engine._tag
): Result.Result<Definition, ReadonlyArray<Problem>> =>
  Result.map(engineSettings(pipeline, engine), (settings) => {
    const override = pipeline.engines[engine]
    const { chunking, import: imports, judge, parsing, stages, vectorDb, embedding } = override ?? {}
    return {
      ...pipeline,
      engine: settings,
      engines: {},
      corpus: {
        ...pipeline.corpus,
        vectorDb: vectorDb ?? pipeline.corpus.vectorDb,
        ...(embedding === undefined ? {} : { embedding })
      },
      chunking: chunking ?? pipeline.chunking,
      parsing: parsing ?? pipeline.parsing,
      import: imports ?? pipeline.import,
      stages: stages ?? pipeline.stages,
      ...(judge === undefined ? {} : { judge })
    }
  })

const engineSettings = (pipeline: Definition, engine: EngineName): Result.Result<EngineChoice, ReadonlyArray<Problem>> => {
  if (engine === "embedded") return Result.succeed({ _tag: "embedded" })
  const own = pipeline.engine._tag === "vertex" ? pipeline.engine : undefined
  const override = pipeline.engines.vertex
  const project = override?.project ?? own?.project
  const location = override?.location ?? own?.location
  const baseUrl = override?.baseUrl ?? own?.baseUrl
  const quotaProject = override?.quotaProject ?? own?.quotaProject
  const requestsPerMinute = override?.requestsPerMinute ?? own?.requestsPerMinute
  if (project !== undefined && location !== undefined) {
    return Result.succeed({
      _tag: "vertex",
      project,
      location,
      baseUrl,
      quotaProject,
      requestsPerMinute
    })
  }
  const missing = Object.entries({ project, location }).filter(([, value]) => value === undefined)
  return Result.fail(missing.map(([key]) => ({
    path: ["engines", "vertex", key],
    rule: `the vertex engine needs a ${key}`,
    fix: `give ${key} under engines.vertex, or engine: { vertex: { project: ..., location: ... } }`,
    place: "key" as const,
    near: ["engine"]
  })))
}
