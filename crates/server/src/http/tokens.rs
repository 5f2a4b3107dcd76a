//! `GET|POST /api/tokens` and `DELETE /api/tokens/:id`: who may do what.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use extraboard_api::envelope::{Many, One};
use extraboard_api::token::{Token, TokenCreate, TokenCreated};
use extraboard_core::task::OWNER_CHARS_MAX;
use extraboard_core::token::{self, TOKEN_ID_CHARS, TokenScope};
use extraboard_store::verbs::{self, TokenList, TokenRevoke};

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Admin, Body, Nothing, Params, TokenPath};
use crate::guard::check_agent_name;
use crate::tokens::{hash_token, new_secret};
use crate::validate::Problems;

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Params(Nothing {}): Params<Nothing>,
) -> Result<Json<Many<Token>>, ApiError> {
    let tokens = app.desk.read(TokenList).await?;
    Ok(Json(Many::whole(tokens.into_iter().map(shown).collect())))
}

pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
    Params(Nothing {}): Params<Nothing>,
    Body(body): Body<TokenCreate>,
) -> Result<(StatusCode, Json<One<TokenCreated>>), ApiError> {
    let ctx = app.desk.ctx(caller);
    let mut problems = Problems::default();
    let scope = problems.word("scope", &body.scope).unwrap_or(TokenScope::Viewer);
    let expires_at = body.expires_at.as_deref().and_then(|text| problems.moment("expiresAt", text));
    if expires_at.is_some_and(|at| at <= ctx.now) {
        problems.add("expiresAt", "expected a moment that is yet to come");
    }
    if let Some(agent) = &body.agent {
        check_agent(&mut problems, scope, agent);
    }
    if let Some(name) = &body.name {
        problems.name("name", name, OWNER_CHARS_MAX);
    }
    problems.check()?;
    let secret = new_secret(scope, &app.desk);
    let hash = hash_token(&secret);
    // Two tokens without names are two agents.
    let unnamed = || format!("{scope}-{}", &hash[..TOKEN_ID_CHARS]);
    let name = body.name.or_else(|| body.agent.clone()).unwrap_or_else(unnamed);
    let create = verbs::TokenCreate { ctx, hash, scope, subject: name, agent: body.agent, expires_at };
    let token = shown(app.desk.write(create).await?);
    Ok((StatusCode::CREATED, Json(One { data: TokenCreated { token, secret } })))
}

fn check_agent(problems: &mut Problems, scope: TokenScope, agent: &str) {
    if !matches!(scope, TokenScope::Agent | TokenScope::Node) {
        problems.add("agent", format!("expected none for the scope {scope}"));
    }
    if let Err(message) = check_agent_name(agent) {
        problems.add("agent", message);
    }
}

pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
    Params(Nothing {}): Params<Nothing>,
    TokenPath(id): TokenPath,
    Body(Nothing {}): Body<Nothing>,
) -> Result<StatusCode, ApiError> {
    app.desk.write(TokenRevoke { ctx: app.desk.ctx(caller), id }).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn shown(token: token::Token) -> Token {
    Token {
        id: token.id,
        scope: token.scope.as_str().to_owned(),
        name: token.subject,
        agent: token.agent,
        created_at: convert::time(token.created_at),
        expires_at: token.expires_at.map(convert::time),
    }
}
