-- Rank, graph and gates: rules, projects and goals, relations, what holds tasks back.

-- What all replicas rank and hand out by. Version 0: nobody has said yet.
CREATE TABLE rules (
  one                INTEGER PRIMARY KEY CHECK (one = 1),
  version            INTEGER NOT NULL CHECK (version >= 0),
  profile            TEXT NOT NULL,
  limits             TEXT NOT NULL,
  poll_interval_secs INTEGER NOT NULL CHECK (poll_interval_secs > 0)
);
INSERT INTO rules (one, version, profile, limits, poll_interval_secs)
VALUES (1, 0, '{"name":"pipeline","numbers":{}}', '{}', 1);

-- Waiting tasks that still stand by older rules: of a project, or of all (0).
CREATE TABLE rerank (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  project INTEGER NOT NULL,
  after   INTEGER NOT NULL
);
-- The line so far knew priority and age alone.
INSERT INTO rerank (project, after) SELECT 0, 0 WHERE EXISTS (SELECT 1 FROM line);

CREATE TABLE goal (
  id            TEXT PRIMARY KEY,
  title         TEXT NOT NULL CHECK (title <> ''),
  description   TEXT,
  metric        TEXT,
  target_value  TEXT,
  current_value TEXT,
  unit          TEXT,
  status        TEXT NOT NULL CHECK (status IN ('active','achieved','abandoned')),
  project       INTEGER,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  deleted_at    INTEGER
);
CREATE INDEX goal_project ON goal (project) WHERE project IS NOT NULL;

CREATE TABLE project (
  number      INTEGER PRIMARY KEY AUTOINCREMENT,
  id          TEXT NOT NULL UNIQUE,
  name        TEXT NOT NULL CHECK (name <> ''),
  description TEXT,
  status      TEXT NOT NULL CHECK (status IN
                ('backlog','planned','active','paused','completed','canceled')),
  health      TEXT NOT NULL CHECK (health IN ('on_track','at_risk','off_track')),
  goal        TEXT,
  goal_active INTEGER NOT NULL DEFAULT 0 CHECK (goal_active IN (0, 1)),
  workspace   TEXT,
  run_limit   INTEGER CHECK (run_limit >= 0),
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  deleted_at  INTEGER
);
CREATE UNIQUE INDEX project_name ON project (name) WHERE deleted_at IS NULL;
-- Every claim asks whether there are any of these.
CREATE INDEX project_gate ON project (number)
  WHERE deleted_at IS NULL AND (status IN ('paused','canceled') OR run_limit IS NOT NULL);
CREATE INDEX project_goal ON project (goal) WHERE goal IS NOT NULL;

ALTER TABLE task ADD COLUMN boost            INTEGER NOT NULL DEFAULT 0 CHECK (boost BETWEEN -10000 AND 10000);
ALTER TABLE task ADD COLUMN needs            TEXT NOT NULL DEFAULT '';
ALTER TABLE task ADD COLUMN owner            TEXT;
ALTER TABLE task ADD COLUMN project          INTEGER;
ALTER TABLE task ADD COLUMN parent           INTEGER;
ALTER TABLE task ADD COLUMN depth            INTEGER NOT NULL DEFAULT 0 CHECK (depth BETWEEN 0 AND 8);
ALTER TABLE task ADD COLUMN gated_by_parent  INTEGER NOT NULL DEFAULT 0 CHECK (gated_by_parent IN (0, 1));
ALTER TABLE task ADD COLUMN parent_open      INTEGER NOT NULL DEFAULT 0 CHECK (parent_open IN (0, 1));
ALTER TABLE task ADD COLUMN open_blockers    INTEGER NOT NULL DEFAULT 0 CHECK (open_blockers >= 0);
ALTER TABLE task ADD COLUMN artifact         TEXT;
ALTER TABLE task ADD COLUMN artifact_present INTEGER NOT NULL DEFAULT 0 CHECK (artifact_present IN (0, 1));
CREATE INDEX task_project ON task (project, number) WHERE project IS NOT NULL;
CREATE INDEX task_parent ON task (parent, number) WHERE parent IS NOT NULL;
CREATE INDEX task_artifact ON task (artifact) WHERE artifact IS NOT NULL;

-- Queued tasks that a blocker, their parent or an artifact holds back.
CREATE TABLE held (
  task INTEGER PRIMARY KEY
);

CREATE TABLE relation (
  id         TEXT PRIMARY KEY,
  type       TEXT NOT NULL CHECK (type IN ('blocks','related','duplicate')),
  task       INTEGER NOT NULL REFERENCES task (number),
  other      INTEGER NOT NULL REFERENCES task (number),
  created_at INTEGER NOT NULL,
  UNIQUE (task, other, type),
  CHECK (task <> other)
);
CREATE INDEX relation_other ON relation (other);

-- What tasks wait for: text that was sent, or a file somebody vouched for.
CREATE TABLE artifact (
  id         TEXT PRIMARY KEY,
  project    INTEGER NOT NULL,
  path       TEXT NOT NULL,
  task       INTEGER NOT NULL REFERENCES task (number),
  content    TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (project, path)
);
CREATE INDEX artifact_task ON artifact (task);

-- Provider accounts that refused: until when they are left alone.
CREATE TABLE account_gate (
  provider TEXT NOT NULL,
  account  TEXT NOT NULL,
  hits     INTEGER NOT NULL CHECK (hits >= 0),
  until    INTEGER NOT NULL,
  PRIMARY KEY (provider, account)
);

-- SQLite cannot change what is unique in a table, so this is a new one.
CREATE TABLE lane_whole (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  project INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  needs   TEXT NOT NULL,
  owner   TEXT NOT NULL,
  doors   INTEGER NOT NULL,
  UNIQUE (project, kind, needs, owner, doors)
);
INSERT INTO lane_whole (id, project, kind, needs, owner, doors)
SELECT id, 0, kind, '', '', doors FROM lane;
DROP TABLE lane;
ALTER TABLE lane_whole RENAME TO lane;

ALTER TABLE line ADD COLUMN level INTEGER NOT NULL DEFAULT 0;
DROP INDEX line_rank;
DROP INDEX line_lane_rank;
CREATE INDEX line_rank ON line (level, arrival, queued_at, task);
CREATE INDEX line_lane_rank ON line (lane, level, arrival, queued_at, task);

-- Where each level of the line begins: nothing in line is ahead of that. Claims start there,
-- because what was handed out leaves entries in the index that are walked over until they
-- can be removed, which an idle snapshot somewhere prevents.
CREATE TABLE line_head (
  level   INTEGER PRIMARY KEY,
  arrival INTEGER NOT NULL
);
INSERT INTO line_head (level, arrival) SELECT level, MIN(arrival) FROM line GROUP BY level;

ALTER TABLE dispatch ADD COLUMN kind     TEXT NOT NULL DEFAULT 'task';
ALTER TABLE dispatch ADD COLUMN project  INTEGER;
ALTER TABLE dispatch ADD COLUMN adapter  TEXT;
ALTER TABLE dispatch ADD COLUMN provider TEXT;
ALTER TABLE dispatch ADD COLUMN account  TEXT;
UPDATE dispatch SET kind = (SELECT task.kind FROM task WHERE task.number = dispatch.task);

CREATE INDEX event_task ON event (task, id);
