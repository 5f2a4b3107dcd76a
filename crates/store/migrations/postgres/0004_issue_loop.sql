-- The issue loop: labels, signals, templates that make prompts, and what became of those.

CREATE TABLE label (
  id         TEXT COLLATE "C" PRIMARY KEY,
  name       TEXT NOT NULL CHECK (name <> ''),
  color      TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  deleted_at BIGINT
);
CREATE UNIQUE INDEX label_name ON label (name) WHERE deleted_at IS NULL;

CREATE TABLE task_label (
  task  BIGINT NOT NULL,
  label TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (task, label)
);
CREATE INDEX task_label_label ON task_label (label, task);

-- What a task is called where it came from, and whether its prompt could not be made.
ALTER TABLE task ADD COLUMN external_key TEXT;
ALTER TABLE task ADD COLUMN prompt_broken BIGINT NOT NULL DEFAULT 0 CHECK (prompt_broken IN (0, 1));
CREATE INDEX task_prompt_broken ON task (number) WHERE prompt_broken = 1;
CREATE UNIQUE INDEX task_external_key ON task (external_key)
  WHERE external_key IS NOT NULL AND deleted_at IS NULL;

-- What stands in the project's file, as JSON.
ALTER TABLE project ADD COLUMN settings TEXT;

CREATE TABLE signal (
  id         TEXT COLLATE "C" PRIMARY KEY,
  source     TEXT NOT NULL,
  source_id  TEXT,
  type       TEXT NOT NULL,
  severity   TEXT COLLATE "C" NOT NULL CHECK (severity IN ('low','medium','high','critical')),
  payload    TEXT NOT NULL,
  task       BIGINT NOT NULL REFERENCES task (number),
  created_at BIGINT NOT NULL
);
CREATE INDEX signal_task ON signal (task);
CREATE INDEX signal_created ON signal (created_at, id);

-- What was delivered: a second time it is the same signal.
CREATE TABLE delivery (
  source TEXT NOT NULL,
  id     TEXT NOT NULL,
  signal TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (source, id)
);

CREATE TABLE template (
  id          TEXT COLLATE "C" PRIMARY KEY,
  slug        TEXT COLLATE "C" NOT NULL CHECK (slug <> ''),
  name        TEXT NOT NULL CHECK (name <> ''),
  description TEXT,
  conditions  TEXT NOT NULL,
  specificity BIGINT NOT NULL CHECK (specificity BETWEEN 0 AND 100),
  project     BIGINT,
  created_at  BIGINT NOT NULL,
  updated_at  BIGINT NOT NULL,
  deleted_at  BIGINT
);
CREATE UNIQUE INDEX template_slug ON template (slug) WHERE deleted_at IS NULL;

CREATE TABLE template_version (
  id              TEXT COLLATE "C" PRIMARY KEY,
  template        TEXT COLLATE "C" NOT NULL REFERENCES template (id),
  number          BIGINT NOT NULL CHECK (number > 0),
  content         TEXT NOT NULL,
  changelog       TEXT,
  author_type     TEXT COLLATE "C" NOT NULL CHECK (author_type IN ('human','agent')),
  author          TEXT NOT NULL,
  status          TEXT COLLATE "C" NOT NULL CHECK (status IN ('draft','active','retired')),
  used            BIGINT NOT NULL DEFAULT 0,
  completed       BIGINT NOT NULL DEFAULT 0,
  failed          BIGINT NOT NULL DEFAULT 0,
  reworked        BIGINT NOT NULL DEFAULT 0,
  duration_micros BIGINT NOT NULL DEFAULT 0,
  review_count    BIGINT NOT NULL DEFAULT 0,
  score_micros    BIGINT,
  clarity_sum     BIGINT NOT NULL DEFAULT 0,
  completeness_sum BIGINT NOT NULL DEFAULT 0,
  relevance_sum   BIGINT NOT NULL DEFAULT 0,
  improvement     TEXT COLLATE "C",
  created_at      BIGINT NOT NULL,
  UNIQUE (template, number)
);
-- Two that promote at once cannot both succeed with different ones.
CREATE UNIQUE INDEX template_version_active ON template_version (template) WHERE status = 'active';

CREATE TABLE prompt_review (
  id           TEXT COLLATE "C" PRIMARY KEY,
  version      TEXT COLLATE "C" NOT NULL REFERENCES template_version (id),
  task         BIGINT NOT NULL REFERENCES task (number),
  dispatch     TEXT COLLATE "C",
  clarity      BIGINT NOT NULL CHECK (clarity BETWEEN 1 AND 5),
  completeness BIGINT NOT NULL CHECK (completeness BETWEEN 1 AND 5),
  relevance    BIGINT NOT NULL CHECK (relevance BETWEEN 1 AND 5),
  feedback     TEXT,
  author_type  TEXT COLLATE "C" NOT NULL CHECK (author_type IN ('human','agent')),
  author       TEXT NOT NULL,
  created_at   BIGINT NOT NULL
);
CREATE INDEX prompt_review_version ON prompt_review (version, created_at, id);
CREATE UNIQUE INDEX prompt_review_dispatch ON prompt_review (dispatch) WHERE dispatch IS NOT NULL;

-- Which templates there are: a new epoch with every change of one, so that whoever read
-- them knows whether they still are those.
CREATE TABLE catalogue (
  one   BIGINT PRIMARY KEY CHECK (one = 1),
  epoch TEXT NOT NULL
);
INSERT INTO catalogue (one, epoch) VALUES (1, '');

-- Up to where the log was counted for what became of prompts.
CREATE TABLE prompt_count (
  one BIGINT PRIMARY KEY CHECK (one = 1),
  pos BIGINT NOT NULL
);
INSERT INTO prompt_count (one, pos) SELECT 1, last_pos FROM sequencer;

-- The version a prompt was made by, and what its holder said it did.
ALTER TABLE dispatch ADD COLUMN version TEXT COLLATE "C";
ALTER TABLE dispatch ADD COLUMN summary TEXT;

-- Prompts are the largest thing a claim writes, and the usual compression takes longer than
-- all else it does. Servers that were built without the quick one keep them as they are.
DO $$
BEGIN
  EXECUTE 'ALTER TABLE dispatch ALTER COLUMN prompt SET COMPRESSION lz4';
EXCEPTION WHEN OTHERS THEN
  ALTER TABLE dispatch ALTER COLUMN prompt SET STORAGE EXTERNAL;
END
$$;
