/** The ledger of sync, which records where each item was put, and the runs. Times are in milliseconds since the epoch. */
export const ledgerTables = `
CREATE TABLE scopes (
  scope    TEXT PRIMARY KEY,
  corpus   TEXT NOT NULL,
  replaces TEXT
) WITHOUT ROWID;

CREATE TABLE ledger (
  scope       TEXT NOT NULL,
  source      TEXT NOT NULL,
  path        TEXT NOT NULL,
  state       TEXT NOT NULL CHECK (state IN ('intent', 'done', 'failed', 'quarantined', 'skipped')),
  revision    TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  size        INTEGER,
  file        TEXT,
  reason      TEXT,
  message     TEXT,
  PRIMARY KEY (scope, source, path)
) WITHOUT ROWID;

CREATE TABLE runs (
  id      INTEGER PRIMARY KEY,
  scope   TEXT NOT NULL,
  started INTEGER NOT NULL,
  ended   INTEGER,
  report  TEXT
);
CREATE INDEX runs_by_scope ON runs (scope, id);
`

/** For each source, the cursor up to which its changes were processed. */
export const listingTable = `
CREATE TABLE listings (
  scope     TEXT NOT NULL,
  source    TEXT NOT NULL,
  cursor    TEXT NOT NULL,
  signature TEXT NOT NULL,
  whole     INTEGER NOT NULL,
  again     TEXT NOT NULL,                   -- JSON array of JSON texts
  PRIMARY KEY (scope, source)
);
`

/** The contents of files that contain files, at the revision at which they were opened. */
export const contentsTable = `
CREATE TABLE contents (
  scope     TEXT NOT NULL,
  source    TEXT NOT NULL,
  path      TEXT NOT NULL,
  revision  TEXT NOT NULL,
  signature TEXT NOT NULL,
  contents  TEXT NOT NULL,                   -- JSON
  PRIMARY KEY (scope, source, path)
) WITHOUT ROWID;
`

/**
 * The corpora of a pipeline on a target: the serving one, and others. It replaces `scopes`, in which a corpus built next to another had the
 * other's scope with `~next`.
 */
export const generationTable = `
CREATE TABLE generations (
  scope    TEXT PRIMARY KEY,                 -- of the ledger's entries
  pipeline TEXT NOT NULL,                    -- and its target
  number   INTEGER NOT NULL,
  role     TEXT NOT NULL CHECK (role IN ('live', 'candidate', 'kept', 'retired', 'gone')),
  corpus   TEXT NOT NULL,
  made     INTEGER,
  whole    INTEGER,
  built    TEXT,                             -- JSON
  name     TEXT,
  served   INTEGER NOT NULL DEFAULT 0        -- it was live at some time
) WITHOUT ROWID;
CREATE INDEX generations_by_pipeline ON generations (pipeline, number);
CREATE INDEX generations_by_corpus ON generations (corpus);
INSERT INTO generations (scope, pipeline, number, role, corpus, served)
  SELECT scope, scope, 1, 'live', corpus, 1 FROM scopes WHERE scope NOT LIKE '%~next';
INSERT INTO generations (scope, pipeline, number, role, corpus)
  SELECT scope, substr(scope, 1, length(scope) - 5), 2, 'candidate', corpus FROM scopes WHERE scope LIKE '%~next';
INSERT INTO generations (scope, pipeline, number, role, corpus, served)
  SELECT scope || '~0', scope, 0, 'retired', replaces, 1 FROM scopes WHERE replaces IS NOT NULL;
DROP TABLE scopes;
`
