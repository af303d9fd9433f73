/** Models, the endpoints that serve them, and the licences that were accepted. */
export const modelTables = `
CREATE TABLE models (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id       TEXT NOT NULL,                    -- last segment of the resource name
  version  INTEGER NOT NULL,                 -- from 1; the highest is the model's default
  body     TEXT NOT NULL,                    -- JSON of ModelRecord
  UNIQUE (id, version)
);

CREATE TABLE endpoints (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id       TEXT NOT NULL UNIQUE,             -- last segment of the resource name
  body     TEXT NOT NULL                     -- JSON of EndpointRecord
);

CREATE TABLE eulas (publisher_model TEXT PRIMARY KEY, accepted INTEGER NOT NULL) WITHOUT ROWID;

ALTER TABLE operations ADD COLUMN deployment TEXT; -- JSON of Deployment
`
