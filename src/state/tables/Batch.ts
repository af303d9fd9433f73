/** Batch prediction jobs, and the rows of those that have not ended. */
export const batchTables = `
CREATE TABLE batch_jobs (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  name    TEXT NOT NULL UNIQUE,              -- last segment of the resource name
  job     TEXT NOT NULL,                     -- JSON of BatchJob
  ended   INTEGER NOT NULL DEFAULT 0,
  cancel  INTEGER NOT NULL DEFAULT 0,        -- someone asked for it to stop
  rows    INTEGER,                           -- of the input, once all of them are in batch_rows
  columns TEXT                               -- JSON array of Column: those of an output table, but for id and response
);
CREATE INDEX batch_jobs_open ON batch_jobs (id) WHERE ended = 0;

CREATE TABLE batch_rows (
  job       INTEGER NOT NULL,
  row       INTEGER NOT NULL,                -- its place in the input, from 1
  custom_id TEXT NOT NULL,
  place     TEXT NOT NULL,                   -- as people are told
  body      TEXT NOT NULL,                   -- JSON
  carried   TEXT NOT NULL,                   -- JSON of the columns handed over
  state     INTEGER NOT NULL DEFAULT 0,      -- 0 to be asked, 1 answered, 2 failed
  answer    TEXT,                            -- JSON of the completion, or of { code, message }
  PRIMARY KEY (job, row)
) WITHOUT ROWID;
CREATE UNIQUE INDEX batch_rows_by_id ON batch_rows (job, custom_id);
CREATE INDEX batch_rows_by_state ON batch_rows (job, state, row);
`
