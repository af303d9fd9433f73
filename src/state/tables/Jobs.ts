/** Columns that tables of batch jobs and of a server's operations have in common: `src/jobs/JobTable.ts` reads and writes both. */
export const jobColumns = `
ALTER TABLE batch_jobs RENAME COLUMN id TO sequence;
ALTER TABLE batch_jobs RENAME COLUMN name TO id;
ALTER TABLE batch_jobs RENAME COLUMN job TO body;
ALTER TABLE batch_jobs RENAME COLUMN ended TO done;
ALTER TABLE batch_jobs ADD COLUMN target TEXT NOT NULL DEFAULT '';

ALTER TABLE server_operations RENAME COLUMN entry TO body;
ALTER TABLE server_operations ADD COLUMN cancel INTEGER NOT NULL DEFAULT 0;
UPDATE server_operations SET cancel = 1 WHERE body ->> '$.import.cancelled' IS NOT NULL;
`
