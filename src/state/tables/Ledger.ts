/** What sync knows: which item was put where, and the runs. Times are milliseconds since the epoch. */
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

/** How far each source's changes were taken in. */
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

/** What files hold that hold files, at the revision at which they were opened. */
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
 * The corpora that a pipeline has on a target: the one that serves, and those beside it. Takes the place of `scopes`,
 * where one that was built beside another was called as that, with `~next`.
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
