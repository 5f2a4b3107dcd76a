//! The desk itself: how it is doing, its rules, its gates, and what its doctor finds.

use reqwest::Method;

use super::transport::{data, send};
use super::{Client, ClientError};
use crate::doctor::{DoctorRange, DoctorReport};
use crate::gate::{AccountGate, GatePath};
use crate::rules::{Rules, RulesPut};
use crate::status::DeskStatus;

impl Client {
    /// Returns how the desk itself is doing.
    pub async fn status(&self) -> Result<DeskStatus, ClientError> {
        data(self.request(Method::GET, &["status"])).await
    }

    /// Returns the rules in force.
    pub async fn rules_get(&self) -> Result<Rules, ClientError> {
        data(self.request(Method::GET, &["rules"])).await
    }

    /// Replaces the parts of the rules that the body names.
    pub async fn rules_put(&self, body: &RulesPut) -> Result<Rules, ClientError> {
        data(self.request(Method::PUT, &["rules"]).json(body)).await
    }

    /// Returns the provider accounts that refused.
    pub async fn gate_list(&self) -> Result<Vec<AccountGate>, ClientError> {
        data(self.request(Method::GET, &["gates"])).await
    }

    /// Opens the gate of a provider account.
    pub async fn gate_delete(&self, gate: GatePath<'_>) -> Result<(), ClientError> {
        send(self.request(Method::DELETE, &gate.segments())).await.map(drop)
    }

    /// Returns what the desk keeps wrong about some issues, and changes nothing.
    pub async fn doctor_check(&self, range: &DoctorRange) -> Result<DoctorReport, ClientError> {
        data(self.request(Method::GET, &["doctor"]).query(range)).await
    }

    /// Puts right what the desk keeps wrong about some issues.
    pub async fn doctor_repair(&self, range: &DoctorRange) -> Result<DoctorReport, ClientError> {
        data(self.request(Method::POST, &["doctor", "repair"]).json(range)).await
    }
}
