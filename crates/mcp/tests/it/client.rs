//! The official client, over both transports.

use std::collections::HashMap;
use std::time::Duration;

use axum::Router;
use extraboard_api::claimer::ClaimerQuery;
use extraboard_api::client::{Client, Credentials};
use extraboard_mcp::{Error, HttpService, HttpSettings, Settings, http_service, serve};
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::desk::FakeDesk;

/// A session as its client sees it.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: RunningService<RoleClient, ()>,
}

impl Session {
    pub(crate) async fn try_call(
        &self,
        tool: &'static str,
        arguments: Value,
    ) -> Result<CallToolResult, ServiceError> {
        let params = CallToolRequestParams::new(tool);
        let params = match arguments {
            Value::Object(object) => params.with_arguments(object),
            _ => params,
        };
        self.client.call_tool(params).await
    }

    /// Calls a tool that succeeds.
    pub(crate) async fn call(&self, tool: &'static str, arguments: Value) -> Said {
        let said = Said::of(self.try_call(tool, arguments).await.unwrap());
        assert!(!said.is_error, "{tool}: {}", said.text);
        said
    }

    /// Calls a tool that refuses.
    pub(crate) async fn refused(&self, tool: &'static str, arguments: Value) -> Said {
        let said = Said::of(self.try_call(tool, arguments).await.unwrap());
        assert!(said.is_error, "{tool}: {}", said.text);
        said
    }
}

/// What a tool answered.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) data: Value,
    pub(crate) is_error: bool,
}

impl Said {
    fn of(result: CallToolResult) -> Self {
        Self {
            text: result.content[0].as_text().unwrap().text.clone(),
            data: result.structured_content.unwrap(),
            is_error: result.is_error.unwrap_or_default(),
        }
    }

    pub(crate) fn orders(&self) -> &Value {
        &self.data["orders"]
    }

    pub(crate) fn code(&self) -> &str {
        self.data["code"].as_str().unwrap()
    }
}

/// A session over stdio, and what becomes of its server.
#[derive(Debug)]
pub(crate) struct Stdio {
    pub(crate) session: Session,
    pub(crate) server: JoinHandle<Result<(), Error>>,
    pub(crate) stop: oneshot::Sender<()>,
}

pub(crate) fn settings(desk: &FakeDesk) -> Settings {
    Settings {
        client: Client::new(&desk.url, &Credentials::Agent("curly".to_owned())).unwrap(),
        url: desk.url.clone(),
        agent: "curly".to_owned(),
        claimer: ClaimerQuery { adapter: Some("claude".to_owned()), ..ClaimerQuery::default() },
    }
}

pub(crate) async fn stdio(desk: &FakeDesk) -> Stdio {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async move {
        if stopped.await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let server = tokio::spawn(serve(settings(desk), reader, writer, stopped));
    let client = ().serve(ours).await.unwrap();
    Stdio { session: Session { client }, server, stop }
}

/// The HTTP endpoint of a desk.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) url: String,
    pub(crate) service: HttpService,
}

impl Endpoint {
    pub(crate) async fn start(desk: &FakeDesk) -> Self {
        Self::with(HttpSettings::new(desk.url.clone())).await
    }

    pub(crate) async fn with(settings: HttpSettings) -> Self {
        let service = http_service(settings);
        let router = Router::new().route_service("/mcp", service.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, service }
    }

    /// Begins a session as an agent.
    pub(crate) async fn session(&self, agent: &'static str) -> Session {
        let headers = [("x-agent-id".parse().unwrap(), agent.parse().unwrap())];
        let config = StreamableHttpClientTransportConfig::with_uri(self.url.clone());
        let config = config.custom_headers(HashMap::from_iter(headers));
        Session { client: ().serve(self.transport(config)).await.unwrap() }
    }

    pub(crate) fn transport(
        &self,
        config: StreamableHttpClientTransportConfig,
    ) -> StreamableHttpClientTransport<reqwest::Client> {
        StreamableHttpClientTransport::with_client(http(&self.url), config)
    }
}

/// Returns a plain HTTP client, after a client of the desk's has seen to what TLS needs.
pub(crate) fn http(url: &str) -> reqwest::Client {
    Client::new(url, &Credentials::Anonymous).unwrap();
    reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(30)).build().unwrap()
}

/// Returns no parameters.
pub(crate) fn none() -> Value {
    json!({})
}
