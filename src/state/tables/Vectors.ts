/**
 * Work to be done in the vector databases that corpora name. A row outlives its corpus, and any process that finds a row whose writer is
 * gone does its work.
 */
export const vectorTables = `
CREATE TABLE vector_work (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  corpus TEXT NOT NULL,                      -- last segments of the resource names
  file   TEXT NOT NULL,                      -- the version; empty: all that is the corpus's
  action TEXT NOT NULL,                      -- writing: not visible yet; rewrite: its facts changed; delete
  place  TEXT NOT NULL,                      -- JSON of the corpus's VectorDb
  owner  INTEGER NOT NULL,                   -- process that writes it
  UNIQUE (corpus, file)
);

CREATE TABLE vector_analyzers (              -- what a corpus's texts were analyzed by
  corpus   INTEGER NOT NULL,
  analyzer TEXT NOT NULL,
  PRIMARY KEY (corpus, analyzer)
) WITHOUT ROWID;
`
