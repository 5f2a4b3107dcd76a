//! Signals.

use reqwest::Method;

use super::transport::{answer, data, key_header};
use super::{Client, ClientError};
use crate::envelope::{Many, PageQuery};
use crate::signal::{Signal, SignalCreate, SignalCreated};

impl Client {
    /// Takes a signal in and makes an issue of it; the same key with the same request answers the same pair.
    pub async fn signal_create(
        &self,
        create: &SignalCreate,
        key: Option<&str>,
    ) -> Result<SignalCreated, ClientError> {
        let mut request = self.request(Method::POST, &["signals"]).json(create);
        if let Some(key) = key {
            request = key_header(request, key)?;
        }
        data(request).await
    }

    /// Returns one page of signals, newest first.
    pub async fn signal_list(&self, query: &PageQuery) -> Result<Many<Signal>, ClientError> {
        answer(self.request(Method::GET, &["signals"]).query(query)).await
    }
}
