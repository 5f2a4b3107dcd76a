-- The spine: tasks, the line, dispatches, events.
-- Times are microseconds since 1970 in UTC; ids are lower-case uuids as text.

CREATE TABLE task (
  number         INTEGER PRIMARY KEY AUTOINCREMENT,
  id             TEXT NOT NULL UNIQUE,
  title          TEXT NOT NULL CHECK (title <> ''),
  description    TEXT,
  kind           TEXT NOT NULL CHECK (kind IN
                   ('signal','hypothesis','plan','spec','phase','code','task','monitor')),
  state          TEXT NOT NULL CHECK (state IN
                   ('triage','backlog','queued','assigned','running','in_review','blocked','done','failed','timed_out','canceled')),
  priority       INTEGER NOT NULL CHECK (priority BETWEEN 1 AND 100),
  doors          INTEGER NOT NULL CHECK (doors BETWEEN 1 AND 7),
  max_retries    INTEGER NOT NULL CHECK (max_retries BETWEEN 0 AND 100),
  signal_source  TEXT,
  signal_payload TEXT,
  hypothesis     TEXT,
  agent_summary  TEXT,
  result         TEXT,
  last_error     TEXT,
  not_before     INTEGER,
  queued_at      INTEGER,
  fence          INTEGER NOT NULL DEFAULT 0 CHECK (fence >= 0),
  attempt        INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
  dispatch       TEXT,
  crash_count       INTEGER NOT NULL DEFAULT 0 CHECK (crash_count >= 0),
  unavailable_count INTEGER NOT NULL DEFAULT 0 CHECK (unavailable_count >= 0),
  retry_count       INTEGER NOT NULL DEFAULT 0 CHECK (retry_count >= 0),
  lost_count        INTEGER NOT NULL DEFAULT 0 CHECK (lost_count >= 0),
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  started_at     INTEGER,
  completed_at   INTEGER,
  deleted_at     INTEGER,
  CHECK (state <> 'queued' OR queued_at IS NOT NULL),
  CHECK (state NOT IN ('assigned','running') OR dispatch IS NOT NULL)
);

-- What tasks of one lane have in common. Lanes are never removed.
CREATE TABLE lane (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  kind  TEXT NOT NULL,
  doors INTEGER NOT NULL,
  UNIQUE (kind, doors)
);

-- Exactly the ready tasks, sorted on write.
CREATE TABLE line (
  task      INTEGER PRIMARY KEY,
  lane      INTEGER NOT NULL,
  arrival   INTEGER NOT NULL,
  queued_at INTEGER NOT NULL
);
CREATE INDEX line_rank ON line (arrival, queued_at, task);
CREATE INDEX line_lane_rank ON line (lane, arrival, queued_at, task);

-- Queued tasks that wait for a moment.
CREATE TABLE timer (
  task   INTEGER PRIMARY KEY,
  due_at INTEGER NOT NULL
);
CREATE INDEX timer_due ON timer (due_at);

CREATE TABLE dispatch (
  id           TEXT PRIMARY KEY,
  task         INTEGER NOT NULL REFERENCES task (number),
  attempt      INTEGER NOT NULL CHECK (attempt > 0),
  fence        INTEGER NOT NULL CHECK (fence > 0),
  holder       TEXT NOT NULL,
  door         TEXT NOT NULL CHECK (door IN ('pull','push','run')),
  phase        TEXT NOT NULL CHECK (phase IN ('open','ending','closed')),
  reason       TEXT,
  outcome      TEXT CHECK (outcome IN ('completed','failed','released','asked')),
  lease_micros INTEGER NOT NULL CHECK (lease_micros > 0),
  lease_until  INTEGER NOT NULL,
  started_at   INTEGER NOT NULL,
  heartbeat_at INTEGER NOT NULL,
  closed_at    INTEGER,
  progress     TEXT,
  result       TEXT,
  error        TEXT,
  retryable    INTEGER NOT NULL DEFAULT 1 CHECK (retryable IN (0, 1)),
  cost_micros  INTEGER,
  tokens_in    INTEGER,
  tokens_out   INTEGER,
  prompt       TEXT,
  CHECK ((phase = 'closed') = (closed_at IS NOT NULL)),
  CHECK (phase <> 'ending' OR reason IS NOT NULL),
  CHECK (phase <> 'open' OR (reason IS NULL AND outcome IS NULL))
);
-- At most one dispatch of a task is not closed.
CREATE UNIQUE INDEX dispatch_unclosed ON dispatch (task) WHERE closed_at IS NULL;
CREATE UNIQUE INDEX dispatch_fence ON dispatch (task, fence);
CREATE INDEX dispatch_lease ON dispatch (lease_until) WHERE closed_at IS NULL;

-- Written with the change it tells of; the sequencer gives `pos` after the commit.
CREATE TABLE event (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  pos      INTEGER UNIQUE,
  type     TEXT NOT NULL,
  task     INTEGER,
  dispatch TEXT,
  actor    TEXT NOT NULL,
  at       INTEGER NOT NULL,
  data     TEXT NOT NULL
);
CREATE INDEX event_unstamped ON event (id) WHERE pos IS NULL;

CREATE TABLE sequencer (
  one      INTEGER PRIMARY KEY CHECK (one = 1),
  last_pos INTEGER NOT NULL
);
INSERT INTO sequencer (one, last_pos) VALUES (1, 0);

CREATE TABLE idempotency (
  caller      TEXT NOT NULL,
  scope       TEXT NOT NULL,
  key         TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  task        INTEGER NOT NULL,
  dispatch    TEXT,
  at          INTEGER NOT NULL,
  PRIMARY KEY (caller, scope, key)
);
CREATE INDEX idempotency_at ON idempotency (at);

-- What all replicas share: the key dispatch tokens are derived from.
CREATE TABLE secret (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

CREATE TABLE token (
  hash       TEXT PRIMARY KEY,
  scope      TEXT NOT NULL CHECK (scope IN ('admin')),
  subject    TEXT NOT NULL,
  origin     TEXT NOT NULL,
  created_at INTEGER NOT NULL
);
