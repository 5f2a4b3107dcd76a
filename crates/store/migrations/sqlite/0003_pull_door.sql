-- The last position whose event is gone: events are kept for a while, not for ever.
ALTER TABLE sequencer ADD COLUMN pruned_pos INTEGER NOT NULL DEFAULT 0;

-- The one writer gives positions as it writes; these still waited for theirs.
UPDATE event
SET pos = (SELECT last_pos FROM sequencer) + fresh.nr
FROM (SELECT id, row_number() OVER (ORDER BY id) AS nr FROM event WHERE pos IS NULL) AS fresh
WHERE event.id = fresh.id;
UPDATE sequencer SET last_pos = MAX(last_pos, COALESCE((SELECT MAX(pos) FROM event), 0));
DROP INDEX event_unstamped;

-- What came of a task, and what its agent asked last.
ALTER TABLE task ADD COLUMN commits TEXT;
ALTER TABLE task ADD COLUMN pull_requests TEXT;
ALTER TABLE task ADD COLUMN question TEXT;
ALTER TABLE task ADD COLUMN answer TEXT;

-- What people and agents say about a task, questions and answers among it.
CREATE TABLE comment (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  task        INTEGER NOT NULL REFERENCES task (number),
  kind        TEXT NOT NULL CHECK (kind IN ('comment','question','answer')),
  body        TEXT NOT NULL,
  author      TEXT NOT NULL,
  author_type TEXT NOT NULL CHECK (author_type IN ('human','agent')),
  parent      INTEGER REFERENCES comment (id),
  created_at  INTEGER NOT NULL
);
CREATE INDEX comment_task ON comment (task, id);

-- What waits for a person: at most one thing per task.
CREATE TABLE inbox (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  task       INTEGER NOT NULL REFERENCES task (number),
  kind       TEXT NOT NULL CHECK (kind IN ('question','blocked','dead_letter','broken_prompt')),
  text       TEXT,
  created_at INTEGER NOT NULL,
  closed_at  INTEGER,
  closed_by  TEXT
);
CREATE UNIQUE INDEX inbox_task ON inbox (task) WHERE closed_at IS NULL;
CREATE INDEX inbox_open ON inbox (id) WHERE closed_at IS NULL;
INSERT INTO inbox (task, kind, text, created_at)
SELECT number, CASE WHEN state = 'blocked' THEN 'blocked' ELSE 'dead_letter' END, last_error, updated_at
FROM task
WHERE deleted_at IS NULL AND state IN ('blocked','failed','timed_out')
ORDER BY number;

-- Tokens for others than admins. Only hashes are kept.
ALTER TABLE token RENAME TO token_before;
CREATE TABLE token (
  hash       TEXT PRIMARY KEY,
  scope      TEXT NOT NULL CHECK (scope IN ('admin','agent','node','viewer')),
  subject    TEXT NOT NULL,
  agent      TEXT,
  origin     TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER
);
INSERT INTO token (hash, scope, subject, origin, created_at)
SELECT hash, scope, subject, origin, created_at FROM token_before;
DROP TABLE token_before;
