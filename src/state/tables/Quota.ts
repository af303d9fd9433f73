/** Quota that remote services still allow. Times are in milliseconds since the epoch. */
export const quotaTables = `
-- Turns taken within the last minute, and turns waited for.
CREATE TABLE quota_turns (
  id     INTEGER PRIMARY KEY,
  bucket TEXT NOT NULL,
  at     INTEGER NOT NULL
);
CREATE INDEX quota_turns_by_bucket ON quota_turns (bucket, at);

CREATE TABLE quota_pauses (
  bucket TEXT PRIMARY KEY,
  until  INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE quota_places (
  bucket TEXT NOT NULL,
  holder TEXT NOT NULL,
  since  INTEGER NOT NULL,
  until  INTEGER NOT NULL,
  PRIMARY KEY (bucket, holder)
) WITHOUT ROWID;
`

/** The amount that a turn takes from its bucket. */
export const quotaAmounts = `ALTER TABLE quota_turns ADD COLUMN amount INTEGER NOT NULL DEFAULT 1;`
