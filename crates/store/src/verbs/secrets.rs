//! What authorises: the server key and the hashes of admin tokens.

use extraboard_core::clock::Timestamp;

use crate::error::Error;
use crate::tx::{Tx, Verb, first};
use crate::value::params;

/// Reads the key dispatch tokens are derived from; the first server makes it.
#[derive(Clone)]
pub struct ServerKey {
    /// The key to keep if there is none yet.
    pub candidate: String,
}

impl std::fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServerKey")
    }
}

impl Verb for ServerKey {
    type Output = String;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<String, Error> {
        let keep = "INSERT INTO secret (name, value) VALUES ('server_key', $1) ON CONFLICT (name) DO NOTHING";
        tx.execute(keep.into(), params![self.candidate.as_str()]).await?;
        let row = first(tx, "SELECT value FROM secret WHERE name = 'server_key'".into(), params![]).await?;
        row.ok_or_else(|| Error::unreadable("no server key"))?.text()
    }
}

/// Remembers the hash of an admin token, and forgets the one its file held before.
#[derive(Clone, Debug)]
pub struct AdminTokenKeep {
    /// The token's hash.
    pub hash: String,
    /// The file the token stands in; a file holds one token.
    pub origin: String,
    /// Whom it names.
    pub subject: String,
    /// The present.
    pub now: Timestamp,
}

impl Verb for AdminTokenKeep {
    type Output = ();

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), Error> {
        let forget = "DELETE FROM token WHERE origin = $1 AND hash <> $2";
        tx.execute(forget.into(), params![self.origin.as_str(), self.hash.as_str()]).await?;
        let keep = "INSERT INTO token (hash, scope, subject, origin, created_at) \
           VALUES ($1, 'admin', $2, $3, $4) \
           ON CONFLICT (hash) DO NOTHING";
        let params =
            params![self.hash.as_str(), self.subject.as_str(), self.origin.as_str(), self.now.as_micros(),];
        tx.execute(keep.into(), params).await.map(|_| ())
    }
}
