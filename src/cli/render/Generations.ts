import type { GenerationStatus } from "../../pipeline/sync/Generations.ts"
import { lastSegment } from "../../domain/ResourceNames.ts"
import { plural } from "./Numbers.ts"

const roles: Readonly<Record<string, string>> = {
  live: "serves",
  candidate: "is the candidate",
  kept: "is kept to go back to",
  retired: "is to be deleted by the next run"
}

/** Describes the corpora of a pipeline, a line each, with how each differs from the live one. */
export const generationLines = (generations: ReadonlyArray<GenerationStatus>): ReadonlyArray<string> =>
  generations.map(({ corpus, differs, files, made, number, role, whole }) =>
    [
      `Generation ${number} ${roles[role] ?? role}: ${plural(files, "file")}, corpus ${lastSegment(corpus)}`,
      ...(made === undefined ? [] : [`begun ${made}`]),
      ...(role === "candidate" ? [whole ? "complete" : "not complete yet"] : []),
      ...(role === "live" || generations.length === 1
        ? []
        : [
          differs.length === 0
            ? "same settings as the live one"
            : differs.map(({ field, from, to }) => `${field} ${from} -> ${to}`).join(", ")
        ])
    ].join("; ")
  )
