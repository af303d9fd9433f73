/** Metadata that people write for files, and the schemas of its keys. */
export const metadataTables = `
CREATE TABLE data_schemas (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  corpus INTEGER NOT NULL REFERENCES corpora (id) ON DELETE CASCADE,
  name   TEXT NOT NULL,                      -- last segment of the resource name
  key    TEXT NOT NULL,
  schema TEXT NOT NULL,                      -- JSON of DataSchemaSpec
  UNIQUE (corpus, name),
  UNIQUE (corpus, key)
);

CREATE TABLE file_metadata (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  file   INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  name   TEXT NOT NULL,                      -- last segment of the resource name
  key    TEXT NOT NULL,
  value  TEXT NOT NULL,                      -- JSON of MetadataValue
  UNIQUE (file, name),
  UNIQUE (file, key)
);
`
