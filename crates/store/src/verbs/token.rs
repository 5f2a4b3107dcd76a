//! Tokens: made, known, listed and taken back. Only their hashes are kept.

use extraboard_core::clock::Timestamp;
use extraboard_core::event::EventType;
use extraboard_core::token::{TOKEN_ID_CHARS, Token, TokenScope};
use serde_json::json;

use super::Ctx;
use crate::error::Error;
use crate::rows::event::{self, NewEvent};
use crate::tx::{Tx, Verb, expect_rows, first};
use crate::value::{Row, params};

/// Keeps a new token.
#[derive(Clone, Debug)]
pub struct TokenCreate {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// The token's hash.
    pub hash: String,
    /// What it is good for.
    pub scope: TokenScope,
    /// What people call it, and whom it speaks for.
    pub subject: String,
    /// The one agent that may use it.
    pub agent: Option<String>,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
}

const INSERT: &str = "INSERT INTO token (hash, scope, subject, agent, origin, created_at, expires_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7)";

impl Verb for TokenCreate {
    type Output = Token;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Token, Error> {
        let token = Token {
            id: id_of(&self.hash),
            scope: self.scope,
            subject: self.subject.clone(),
            agent: self.agent.clone(),
            created_at: self.ctx.now,
            expires_at: self.expires_at,
        };
        let params = params![
            self.hash.as_str(),
            token.scope.as_str(),
            token.subject.as_str(),
            &token.agent,
            format!("token:{}", token.id),
            token.created_at.as_micros(),
            token.expires_at.map(Timestamp::as_micros),
        ];
        expect_rows("keeping a token", 1, tx.execute(INSERT.into(), params).await?)?;
        tell(tx, &self.ctx, EventType::TokenCreated, &token).await?;
        Ok(token)
    }
}

fn id_of(hash: &str) -> String {
    hash.chars().take(TOKEN_ID_CHARS).collect()
}

async fn tell<T: Tx>(tx: &mut T, ctx: &Ctx, event_type: EventType, token: &Token) -> Result<(), Error> {
    let data = json!({
        "token": token.id,
        "scope": token.scope.as_str(),
        "name": token.subject,
        "agent": token.agent,
    });
    event::insert_all(tx, vec![NewEvent::of_desk(event_type, ctx).data(data)]).await
}

/// Asks for a token by its hash; one that has ended is not known any more.
#[derive(Clone, Debug)]
pub struct TokenKnown {
    /// The token's hash.
    pub hash: String,
    /// The present.
    pub now: Timestamp,
}

macro_rules! token_columns {
    () => {
        "hash, scope, subject, agent, created_at, expires_at"
    };
}

const KNOWN: &str = concat!(
    "SELECT ",
    token_columns!(),
    " FROM token WHERE hash = $1 AND (expires_at IS NULL OR expires_at > $2)"
);

impl Verb for TokenKnown {
    type Output = Option<Token>;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Option<Token>, Error> {
        let params = params![self.hash.as_str(), self.now.as_micros()];
        first(tx, KNOWN.into(), params).await?.map(token).transpose()
    }
}

fn token(mut row: Row) -> Result<Token, Error> {
    Ok(Token {
        id: id_of(&row.text()?),
        scope: row.parse()?,
        subject: row.text()?,
        agent: row.opt_text()?,
        created_at: Timestamp::from_micros(row.int()?),
        expires_at: row.opt_int()?.map(Timestamp::from_micros),
    })
}

/// Reads all tokens, the oldest first.
#[derive(Clone, Copy, Debug)]
pub struct TokenList;

const LIST: &str = concat!("SELECT ", token_columns!(), " FROM token ORDER BY created_at, hash");

impl Verb for TokenList {
    type Output = Vec<Token>;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<Token>, Error> {
        tx.query(LIST.into(), params![]).await?.into_iter().map(token).collect()
    }
}

/// Takes a token back: it is not known any more.
#[derive(Clone, Debug)]
pub struct TokenRevoke {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// The token's id.
    pub id: String,
}

const BY_ID: &str = concat!("SELECT ", token_columns!(), " FROM token WHERE substr(hash, 1, 12) = $1");
const REVOKE: &str = "DELETE FROM token WHERE substr(hash, 1, 12) = $1";

impl Verb for TokenRevoke {
    type Output = Token;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Token, Error> {
        let row = first(tx, BY_ID.into(), params![self.id.as_str()]).await?;
        let token = token(row.ok_or_else(|| Error::NoToken(self.id.clone()))?)?;
        if tx.execute(REVOKE.into(), params![self.id.as_str()]).await? == 0 {
            return Err(Error::NoToken(self.id.clone()));
        }
        tell(tx, &self.ctx, EventType::TokenRevoked, &token).await?;
        Ok(token)
    }
}
