import type { DatabaseSync } from "node:sqlite"
import { analysisVersion } from "../../../search/analysis/AnalysisVersion.ts"

/** Names of the corpora with segments of another version of the analysis, among all corpora or of the one given by its row id. */
export const outdatedCorpora = (db: DatabaseSync, corpus?: number): ReadonlyArray<string> =>
  db.prepare(
    `SELECT name FROM corpora c WHERE (?1 IS NULL OR id = ?1)
      AND EXISTS (SELECT 1 FROM segments s WHERE s.corpus = c.id AND s.analysis <> ?2)`
  ).all(corpus ?? null, analysisVersion).map((row) => String(row["name"]))
