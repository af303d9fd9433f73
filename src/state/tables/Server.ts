/** Operations that the server reported to its clients, and its settings. The first servers made these tables themselves. */
export const serverTables = `
CREATE TABLE IF NOT EXISTS server_operations (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id       TEXT NOT NULL UNIQUE,             -- last segment of the operation's name
  target   TEXT NOT NULL,                    -- resource name of what it changes, the engine's
  done     INTEGER NOT NULL,
  entry    TEXT NOT NULL                     -- JSON of the server's Entry
);
CREATE INDEX IF NOT EXISTS server_operations_unfinished ON server_operations (sequence) WHERE done = 0;

CREATE TABLE IF NOT EXISTS server_settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`

/** Contents that generation requests refer to instead of sending them each time. Expired rows are deleted when new ones are added. */
export const cachedContents = `
CREATE TABLE cached_contents (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id       TEXT NOT NULL UNIQUE,             -- last segment of the resource name
  place    TEXT NOT NULL,                    -- projects/{project}/locations/{location}, as its maker wrote it
  expires  INTEGER NOT NULL,                 -- milliseconds since the epoch
  about    TEXT NOT NULL,                    -- JSON of what is told of it
  prefix   TEXT NOT NULL                     -- JSON of its contents, system instruction and tools
);
CREATE INDEX cached_contents_expiry ON cached_contents (expires);
`
