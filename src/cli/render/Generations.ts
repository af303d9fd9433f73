import type { GenerationStatus } from "../../pipeline/sync/Generations.ts"
import { plural } from "./Numbers.ts"

const roles: Readonly<Record<string, string>> = {
  live: "serves",
  candidate: "is the candidate",
  kept: "is kept to go back to",
  retired: "is to be deleted by the next run"
}

/** The corpora of a pipeline, a line each, with what tells each from the one that serves. */
export const generationLines = (generations: ReadonlyArray<GenerationStatus>): ReadonlyArray<string> =>
  generations.map(({ corpus, differs, files, made, number, role, whole }) =>
    [
      `Generation ${number} ${roles[role] ?? role}: ${plural(files, "file")}, corpus ${corpus.slice(corpus.lastIndexOf("/") + 1)}`,
      ...(made === undefined ? [] : [`begun ${made}`]),
      ...(role === "candidate" ? [whole ? "whole" : "not whole yet"] : []),
      ...(role === "live" || generations.length === 1
        ? []
        : [
          differs.length === 0
            ? "settings as of the one that serves"
            : differs.map(({ field, from, to }) => `${field} ${from} -> ${to}`).join(", ")
        ])
    ].join("; ")
  )
