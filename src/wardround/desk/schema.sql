-- The desk's database. Times are UTC, as 2026-03-01T14:05:00.123Z; JSON is text.

CREATE TABLE IF NOT EXISTS people (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  role TEXT NOT NULL,
  specialty TEXT NOT NULL DEFAULT '',
  password TEXT,                          -- argon2; none: has not chosen one yet
  login TEXT NOT NULL DEFAULT '',         -- at the hospital's OpenID Connect
  active INTEGER NOT NULL DEFAULT 1,
  made TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS invitations (  -- tokens are kept as their hashes
  token BLOB PRIMARY KEY,
  role TEXT NOT NULL,
  person INTEGER REFERENCES people,       -- a new password for somebody who is here already
  name TEXT NOT NULL DEFAULT '',          -- of the person who is invited, if it is known
  specialty TEXT NOT NULL DEFAULT '',
  login TEXT NOT NULL DEFAULT '',
  made_by INTEGER REFERENCES people,
  made TEXT NOT NULL,
  until TEXT NOT NULL,
  used TEXT
);

CREATE TABLE IF NOT EXISTS sessions (     -- ids are kept as their hashes
  id BLOB PRIMARY KEY,
  person INTEGER NOT NULL REFERENCES people,
  made TEXT NOT NULL,
  until TEXT NOT NULL,
  ended TEXT
);

CREATE TABLE IF NOT EXISTS attempts (     -- log-ins that failed
  who TEXT NOT NULL,
  time REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS attempts_who ON attempts (who, time);

CREATE TABLE IF NOT EXISTS tasks (
  id INTEGER PRIMARY KEY,
  project TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  source TEXT NOT NULL,                   -- a path below the root
  settings TEXT NOT NULL,
  open INTEGER NOT NULL DEFAULT 1,
  round INTEGER NOT NULL DEFAULT 1,
  made_by INTEGER REFERENCES people,
  made TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS assigned (     -- person:7 or role:student
  task INTEGER NOT NULL REFERENCES tasks,
  who TEXT NOT NULL,
  PRIMARY KEY (task, who)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS items (
  task INTEGER NOT NULL REFERENCES tasks,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  batch TEXT NOT NULL,
  first INTEGER NOT NULL DEFAULT 0,       -- the higher, the earlier it is handed out
  shown TEXT NOT NULL,
  hidden TEXT NOT NULL,                   -- not shown before the decision: the judge's verdict, a blind run
  PRIMARY KEY (task, number),
  UNIQUE (task, name)
);
CREATE INDEX IF NOT EXISTS items_first ON items (task, first) WHERE first > 0;

CREATE TABLE IF NOT EXISTS wanted (       -- requested readings of an item, by level
  task INTEGER NOT NULL,
  item INTEGER NOT NULL,
  level TEXT NOT NULL,
  many INTEGER NOT NULL,
  given INTEGER NOT NULL DEFAULT 0,       -- people who have read it at this level
  round INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (task, level, item)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS wanted_open ON wanted (task, level, item) WHERE many > given;

CREATE TABLE IF NOT EXISTS verdicts (     -- only ever added to; of two by one person on one item the later counts
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL,
  item INTEGER NOT NULL,
  person INTEGER NOT NULL REFERENCES people,
  level TEXT NOT NULL,
  round INTEGER NOT NULL,
  said TEXT NOT NULL,
  opened TEXT,
  time TEXT NOT NULL,
  once TEXT NOT NULL UNIQUE               -- chosen by the page: a repeated request is saved once
);
CREATE INDEX IF NOT EXISTS verdicts_item ON verdicts (task, item, level, person);
CREATE INDEX IF NOT EXISTS verdicts_person ON verdicts (task, person, item);

CREATE TABLE IF NOT EXISTS drafts (       -- forms that are not submitted yet
  task INTEGER NOT NULL,
  item INTEGER NOT NULL,
  person INTEGER NOT NULL,
  form TEXT NOT NULL,
  time TEXT NOT NULL,
  PRIMARY KEY (task, item, person)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS claims (       -- who has an item open, at which level, since when
  task INTEGER NOT NULL,
  item INTEGER NOT NULL,
  person INTEGER NOT NULL,
  level TEXT NOT NULL,
  opened TEXT NOT NULL,
  seen REAL NOT NULL,
  PRIMARY KEY (task, item, person)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS todo (         -- items sent back to a reader, and why
  task INTEGER NOT NULL,
  item INTEGER NOT NULL,
  person INTEGER NOT NULL,
  round INTEGER NOT NULL,
  why TEXT NOT NULL,
  made TEXT NOT NULL,
  done TEXT,
  PRIMARY KEY (task, person, item, round)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS images (
  id TEXT PRIMARY KEY,                    -- random: reveals nothing of the file
  task INTEGER NOT NULL,
  item INTEGER NOT NULL,
  name TEXT NOT NULL,                     -- what the task calls it: 0, 1; L0, L1, L2
  image TEXT NOT NULL,                    -- path below the task's source, frame, window, modality
  degradation TEXT                        -- TYPE@SEVERITY
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS images_item ON images (task, item);

CREATE TABLE IF NOT EXISTS audit (
  id INTEGER PRIMARY KEY,
  time TEXT NOT NULL,
  person INTEGER,
  action TEXT NOT NULL,
  task INTEGER,
  item INTEGER,
  detail TEXT NOT NULL
);

CREATE TRIGGER IF NOT EXISTS verdicts_stay BEFORE UPDATE ON verdicts BEGIN SELECT RAISE(ABORT, 'verdicts are never changed'); END;
CREATE TRIGGER IF NOT EXISTS verdicts_are_kept BEFORE DELETE ON verdicts BEGIN SELECT RAISE(ABORT, 'verdicts are never removed'); END;
CREATE TRIGGER IF NOT EXISTS audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is never changed'); END;
CREATE TRIGGER IF NOT EXISTS audit_is_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is never shortened'); END;
