-- The issue loop: labels, signals, templates that make prompts, and what became of those.

CREATE TABLE label (
  id         TEXT PRIMARY KEY,
  name       TEXT NOT NULL CHECK (name <> ''),
  color      TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  deleted_at INTEGER
);
CREATE UNIQUE INDEX label_name ON label (name) WHERE deleted_at IS NULL;

CREATE TABLE task_label (
  task  INTEGER NOT NULL,
  label TEXT NOT NULL,
  PRIMARY KEY (task, label)
) WITHOUT ROWID;
CREATE INDEX task_label_label ON task_label (label, task);

-- What a task is called where it came from, and whether its prompt could not be made.
ALTER TABLE task ADD COLUMN external_key TEXT;
ALTER TABLE task ADD COLUMN prompt_broken INTEGER NOT NULL DEFAULT 0 CHECK (prompt_broken IN (0, 1));
CREATE INDEX task_prompt_broken ON task (number) WHERE prompt_broken = 1;
CREATE UNIQUE INDEX task_external_key ON task (external_key)
  WHERE external_key IS NOT NULL AND deleted_at IS NULL;

-- What stands in the project's file, as JSON.
ALTER TABLE project ADD COLUMN settings TEXT;

CREATE TABLE signal (
  id         TEXT PRIMARY KEY,
  source     TEXT NOT NULL,
  source_id  TEXT,
  type       TEXT NOT NULL,
  severity   TEXT NOT NULL CHECK (severity IN ('low','medium','high','critical')),
  payload    TEXT NOT NULL,
  task       INTEGER NOT NULL REFERENCES task (number),
  created_at INTEGER NOT NULL
);
CREATE INDEX signal_task ON signal (task);
CREATE INDEX signal_created ON signal (created_at, id);

-- What was delivered: a second time it is the same signal.
CREATE TABLE delivery (
  source TEXT NOT NULL,
  id     TEXT NOT NULL,
  signal TEXT NOT NULL,
  PRIMARY KEY (source, id)
) WITHOUT ROWID;

CREATE TABLE template (
  id          TEXT PRIMARY KEY,
  slug        TEXT NOT NULL CHECK (slug <> ''),
  name        TEXT NOT NULL CHECK (name <> ''),
  description TEXT,
  conditions  TEXT NOT NULL,
  specificity INTEGER NOT NULL CHECK (specificity BETWEEN 0 AND 100),
  project     INTEGER,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  deleted_at  INTEGER
);
CREATE UNIQUE INDEX template_slug ON template (slug) WHERE deleted_at IS NULL;

CREATE TABLE template_version (
  id              TEXT PRIMARY KEY,
  template        TEXT NOT NULL REFERENCES template (id),
  number          INTEGER NOT NULL CHECK (number > 0),
  content         TEXT NOT NULL,
  changelog       TEXT,
  author_type     TEXT NOT NULL CHECK (author_type IN ('human','agent')),
  author          TEXT NOT NULL,
  status          TEXT NOT NULL CHECK (status IN ('draft','active','retired')),
  used            INTEGER NOT NULL DEFAULT 0,
  completed       INTEGER NOT NULL DEFAULT 0,
  failed          INTEGER NOT NULL DEFAULT 0,
  reworked        INTEGER NOT NULL DEFAULT 0,
  duration_micros INTEGER NOT NULL DEFAULT 0,
  review_count    INTEGER NOT NULL DEFAULT 0,
  score_micros    INTEGER,
  clarity_sum     INTEGER NOT NULL DEFAULT 0,
  completeness_sum INTEGER NOT NULL DEFAULT 0,
  relevance_sum   INTEGER NOT NULL DEFAULT 0,
  improvement     TEXT,
  created_at      INTEGER NOT NULL,
  UNIQUE (template, number)
);
-- Two that promote at once cannot both succeed with different ones.
CREATE UNIQUE INDEX template_version_active ON template_version (template) WHERE status = 'active';

CREATE TABLE prompt_review (
  id           TEXT PRIMARY KEY,
  version      TEXT NOT NULL REFERENCES template_version (id),
  task         INTEGER NOT NULL REFERENCES task (number),
  dispatch     TEXT,
  clarity      INTEGER NOT NULL CHECK (clarity BETWEEN 1 AND 5),
  completeness INTEGER NOT NULL CHECK (completeness BETWEEN 1 AND 5),
  relevance    INTEGER NOT NULL CHECK (relevance BETWEEN 1 AND 5),
  feedback     TEXT,
  author_type  TEXT NOT NULL CHECK (author_type IN ('human','agent')),
  author       TEXT NOT NULL,
  created_at   INTEGER NOT NULL
);
CREATE INDEX prompt_review_version ON prompt_review (version, created_at, id);
CREATE UNIQUE INDEX prompt_review_dispatch ON prompt_review (dispatch) WHERE dispatch IS NOT NULL;

-- Which templates there are: a new epoch with every change of one, so that whoever read
-- them knows whether they still are those.
CREATE TABLE catalogue (
  one   INTEGER PRIMARY KEY CHECK (one = 1),
  epoch TEXT NOT NULL
);
INSERT INTO catalogue (one, epoch) VALUES (1, '');

-- Up to where the log was counted for what became of prompts.
CREATE TABLE prompt_count (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  pos INTEGER NOT NULL
);
INSERT INTO prompt_count (one, pos) SELECT 1, last_pos FROM sequencer;

-- The version a prompt was made by, and what its holder said it did.
ALTER TABLE dispatch ADD COLUMN version TEXT;
ALTER TABLE dispatch ADD COLUMN summary TEXT;
