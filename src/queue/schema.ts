/**
 * The queue's own tables, beside pg-boss's: documents with their bytes, one row per page with its state and result, and the pictures cut
 * from pages. Everything a worker needs and everything it makes stands here, so workers share nothing but the database. The tables are made
 * once and never altered by this version.
 */

/** Schema of the tables of this file. */
export const SCHEMA = "mineru_diffusion";
/** Schema of pg-boss's tables. */
export const JOBS_SCHEMA = "mineru_diffusion_jobs";
/** First half of the advisory locks that living workers hold; the second is their number. */
export const WORKER_LOCKS = 0x6d64_6966;

/**
 * A page is `waiting` (a job of pg-boss says since when and for how long), `reading` (by `worker`, for `job`), `done`, or `set-aside` after its
 * last attempt failed. `result` is a page in JSON, a failed one too, so that a document with bad pages is still a document.
 */
export const TABLES = `
create schema if not exists ${SCHEMA};
create sequence if not exists ${SCHEMA}.worker_numbers as integer cycle;
create table if not exists ${SCHEMA}.documents (
  id text primary key,
  name text not null,
  bytes bytea not null,
  options jsonb not null,
  submitted_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  written_at timestamptz
);
create index if not exists documents_unwritten on ${SCHEMA}.documents (finished_at) where written_at is null;
create table if not exists ${SCHEMA}.pages (
  document text not null references ${SCHEMA}.documents on delete cascade,
  page integer not null,
  state text not null default 'waiting' check (state in ('waiting', 'reading', 'done', 'set-aside')),
  job uuid,
  worker integer,
  attempts integer not null default 0,
  error text,
  result jsonb,
  reader jsonb,
  settled_at timestamptz,
  primary key (document, page)
);
create index if not exists pages_reading on ${SCHEMA}.pages (worker) where state = 'reading';
create table if not exists ${SCHEMA}.pictures (
  document text not null,
  page integer not null,
  path text not null,
  bytes bytea not null,
  primary key (document, path),
  foreign key (document, page) references ${SCHEMA}.pages on delete cascade
);
`;
