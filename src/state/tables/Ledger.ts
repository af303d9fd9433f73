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
