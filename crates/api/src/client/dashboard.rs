//! The dashboard.

use reqwest::Method;

use super::transport::{answer, data};
use super::{Client, ClientError};
use crate::dashboard::{Activity, ActivityQuery, DashboardStats, PromptHealth};
use crate::envelope::Many;

impl Client {
    /// Returns how much there is of everything.
    pub async fn dashboard_stats(&self) -> Result<DashboardStats, ClientError> {
        data(self.request(Method::GET, &["dashboard", "stats"])).await
    }

    /// Returns the issues something happened to, the latest first.
    pub async fn dashboard_activity(&self, query: &ActivityQuery) -> Result<Many<Activity>, ClientError> {
        answer(self.request(Method::GET, &["dashboard", "activity"]).query(query)).await
    }

    /// Returns how the prompts of each template do.
    pub async fn dashboard_prompts(&self) -> Result<Many<PromptHealth>, ClientError> {
        answer(self.request(Method::GET, &["dashboard", "prompts"])).await
    }
}
