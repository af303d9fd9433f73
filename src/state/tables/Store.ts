/**
 * The embedded engine's corpora, files, chunks, embeddings and sparse index.
 *
 * Chunk numbers (`first_chunk` and what counts on from it) are global, ascending and never used twice. A file's
 * chunks are one run of them, which is what ties pages, segments and tombstones to files.
 */
export const storeTables = `
CREATE TABLE corpora (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  name            TEXT NOT NULL UNIQUE,      -- last segment of the resource name
  display_name    TEXT NOT NULL,
  description     TEXT,
  vector_db       TEXT NOT NULL,             -- JSON of VectorDb
  embedding_model TEXT,                      -- as asked for
  embedder        TEXT NOT NULL,             -- Embedder.id, for good
  files           INTEGER NOT NULL DEFAULT 0,
  chunks          INTEGER NOT NULL DEFAULT 0,
  generation      INTEGER NOT NULL DEFAULT 0, -- grows with every commit that a reader of the corpus must notice
  created         INTEGER NOT NULL,          -- microseconds since the epoch
  updated         INTEGER NOT NULL
);

CREATE TABLE files (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  corpus       INTEGER NOT NULL REFERENCES corpora (id),
  name         TEXT NOT NULL UNIQUE,         -- last segment of the resource name
  display_name TEXT NOT NULL,
  description  TEXT,
  source_uri   TEXT NOT NULL,
  size_bytes   INTEGER NOT NULL,
  marker       TEXT,                         -- JSON, or packed (Rows.ts)
  metadata     TEXT,                         -- JSON
  permissions  TEXT,                         -- JSON
  first_chunk  INTEGER NOT NULL,
  chunks       INTEGER NOT NULL,
  tokens       INTEGER NOT NULL,
  pages        INTEGER,
  language     TEXT,                         -- language, title and author: as the document declares them
  title        TEXT,
  author       TEXT,
  created      INTEGER NOT NULL,
  updated      INTEGER NOT NULL
);
CREATE INDEX files_by_corpus ON files (corpus, id);

CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO counters VALUES
  ('chunk', 1),                              -- number of the next chunk
  ('sweep', 0);                              -- when unused embeddings were last swept, microseconds since the epoch

CREATE TABLE chunk_pages (
  first_chunk INTEGER PRIMARY KEY,
  file        INTEGER NOT NULL,
  chunks      INTEGER NOT NULL,
  hashes      BLOB NOT NULL,                 -- 16 bytes of SHA-256 of each chunk's text
  body        BLOB NOT NULL                  -- zstd of JSON
);

CREATE TABLE embeddings (
  id       INTEGER PRIMARY KEY,
  embedder TEXT NOT NULL,
  hash     BLOB NOT NULL,
  uses     INTEGER NOT NULL,                 -- chunks that have this text; 0: paid for, not committed to a file yet
  added    INTEGER NOT NULL,
  vector   BLOB NOT NULL
);
CREATE UNIQUE INDEX embeddings_by_hash ON embeddings (hash, embedder);

CREATE TABLE segments (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  corpus      INTEGER NOT NULL,
  first_chunk INTEGER NOT NULL,
  last_chunk  INTEGER NOT NULL,
  chunks      INTEGER NOT NULL,              -- dead ones counted until a merge drops them
  first_page  INTEGER NOT NULL,
  pages       INTEGER NOT NULL,
  analysis    TEXT NOT NULL,                 -- version of the analysis that made the terms
  analyzers   TEXT NOT NULL,                 -- JSON array of analyzer ids
  body        BLOB NOT NULL                  -- chunk numbers, lengths, embedding ids
);
CREATE INDEX segments_by_corpus ON segments (corpus, first_chunk);

CREATE TABLE posting_pages (
  id         INTEGER PRIMARY KEY AUTOINCREMENT, -- those of a segment follow one another
  first_term BLOB NOT NULL,                  -- UTF-8
  body       BLOB NOT NULL
);

CREATE TABLE tombstones (
  corpus      INTEGER NOT NULL,
  first_chunk INTEGER NOT NULL,
  chunks      INTEGER NOT NULL,
  PRIMARY KEY (corpus, first_chunk)
) WITHOUT ROWID;

CREATE TABLE operations (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  name      TEXT NOT NULL UNIQUE,
  kind      TEXT NOT NULL,
  target    TEXT NOT NULL,
  done      INTEGER NOT NULL,
  progress  INTEGER,
  error     TEXT,                            -- JSON { code, message }
  failures  TEXT NOT NULL,                   -- JSON array of { code, message }
  counts    TEXT,                            -- JSON { imported, failed, skipped }
  cancel    INTEGER NOT NULL DEFAULT 0,      -- someone asked for it to stop
  owner     INTEGER NOT NULL,                -- process that runs it
  created   INTEGER NOT NULL,
  updated   INTEGER NOT NULL
);
`

/** JSON of a corpus's CorpusOptions. */
export const corpusOptions = `ALTER TABLE corpora ADD COLUMN options TEXT;`

/** Checksums (CRC-32, see Checksum.ts), the files known to be damaged, and an index of vectors by how long they have been unused. */
export const checksums = `
ALTER TABLE corpora ADD COLUMN sum INTEGER;
ALTER TABLE files ADD COLUMN sum INTEGER;
ALTER TABLE chunk_pages ADD COLUMN sum INTEGER;
ALTER TABLE embeddings ADD COLUMN sum INTEGER;
ALTER TABLE segments ADD COLUMN sum INTEGER;
ALTER TABLE segments ADD COLUMN first_terms INTEGER; -- CRC-32 of its posting pages' first terms, one after the other
ALTER TABLE posting_pages ADD COLUMN sum INTEGER;
ALTER TABLE tombstones ADD COLUMN sum INTEGER;
CREATE TABLE damage (
  file INTEGER PRIMARY KEY REFERENCES files (id) ON DELETE CASCADE,
  what TEXT NOT NULL
);
CREATE INDEX embeddings_unused ON embeddings (added) WHERE uses = 0; -- added: of a vector without uses, since when
`

/**
 * An inverted index of the heaviest components of a large segment's vectors. Like everything in a segment it is derived; segments without
 * lists are scanned in full.
 */
export const vectorLists = `
CREATE TABLE vector_lists (
  id   INTEGER PRIMARY KEY,                  -- the segment's, times 65,536, plus the component
  body BLOB NOT NULL                         -- sealed with a checksum
);
`

/** Changes nothing in the schema. The new version keeps an older Sluice from opening pages that it cannot read. */
export const lz4Pages = `
-- Bodies of chunk_pages are LZ4 blocks, each after its size. Those of before stay as they are: Zstandard.
`

/**
 * An index of files by their chunks, since a question looks up the files of hundreds of chunks. A lookup in `chunk_pages`, whose rows are
 * long, would read another page of the database for each.
 */
export const filesByChunk = `
CREATE INDEX files_by_chunk ON files (first_chunk) WHERE chunks > 0; -- a file of chunk N: that of the largest first_chunk up to N
`
