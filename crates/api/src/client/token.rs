//! Tokens.

use reqwest::Method;

use super::transport::{answer, data, send};
use super::{Client, ClientError};
use crate::envelope::Many;
use crate::token::{Token, TokenCreate, TokenCreated};

impl Client {
    /// Returns all tokens, without their secrets.
    pub async fn token_list(&self) -> Result<Many<Token>, ClientError> {
        answer(self.request(Method::GET, &["tokens"])).await
    }

    /// Makes a token.
    pub async fn token_create(&self, create: &TokenCreate) -> Result<TokenCreated, ClientError> {
        data(self.request(Method::POST, &["tokens"]).json(create)).await
    }

    /// Takes a token back.
    pub async fn token_revoke(&self, id: &str) -> Result<(), ClientError> {
        send(self.request(Method::DELETE, &["tokens", id])).await.map(drop)
    }
}
