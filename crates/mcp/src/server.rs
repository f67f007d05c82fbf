//! The protocol, by its official SDK.

use std::sync::Arc;

use http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::Value;

use crate::arguments::Arguments;
use crate::door::{Door, Refusal};
use crate::tools::{ALL, Kind};

const INSTRUCTIONS: &str = "Uptake learns from feedback which retrieved items, strategies and answers work. \
    Before answering: `strategies` shows what worked for similar questions, `examples` shows good answers to \
    them, `rerank` puts search results in the order that use has shown. After answering: `record_usage` with the text you wrote, \
    `mark_helpful` or `mark_not_helpful` for single items, `submit_feedback` for what the user said.";

/// Offers the tools behind a door.
#[derive(Debug)]
pub struct Tools<D> {
    door: Arc<D>,
}

impl<D> Clone for Tools<D> {
    fn clone(&self) -> Self {
        Self { door: Arc::clone(&self.door) }
    }
}

/// What answers at `/mcp`.
pub type AgentService<D> = StreamableHttpService<Tools<D>, NeverSessionManager>;

impl<D: Door> ServerHandler for Tools<D> {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("uptake", env!("CARGO_PKG_VERSION")).with_title("Uptake");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(about)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(ALL.map(Kind::listed).into()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        Kind::named(name).map(Kind::listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(kind) = Kind::named(&request.name) else {
            let known = ALL.map(Kind::name).join(", ");
            let message = format!("there is no tool {:?}; there are {known}", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        let headers = context.extensions.get::<Parts>().map(|parts| &parts.headers);
        Ok(self.use_tool(kind, Arguments::new(request.arguments), headers).await.into())
    }
}

impl<D: Door> Tools<D> {
    /// Makes the tool's calls; what goes wrong is told to the model, which can mend its arguments.
    async fn use_tool(
        &self,
        kind: Kind,
        arguments: Arguments,
        headers: Option<&http::HeaderMap>,
    ) -> CallToolResult {
        let calls = match kind.calls(arguments) {
            Ok(calls) => calls,
            Err(wrong) => return CallToolResult::error(vec![ContentBlock::text(wrong)]),
        };
        let mut answer = Value::Null;
        for call in calls {
            match self.door.call(headers, call).await {
                Ok(value) => answer = value,
                Err(Refusal { status, detail }) => {
                    let status = status.map(|status| format!(" (status {status})"));
                    let text = format!("{detail}{}", status.unwrap_or_default());
                    return CallToolResult::error(vec![ContentBlock::text(text)]);
                }
            }
        }
        // A batch of which a part was refused is stored in part.
        let refused = answer["rejected"].as_u64().is_some_and(|count| count > 0);
        let mut result = CallToolResult::structured(answer);
        result.is_error = Some(refused);
        result
    }
}

/// The tools over HTTP. It keeps no sessions: every request brings its key, any node can answer it.
/// Who may ask, and under which host name, is for whoever mounts it.
pub fn over_http<D: Door>(door: Arc<D>, body_bytes: usize) -> AgentService<D> {
    let tools = Tools { door };
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .with_max_request_body_bytes(body_bytes);
    StreamableHttpService::new(
        move || Ok(tools.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    )
}

/// The tools over standard input and output, until the input ends.
pub async fn over_stdio<D: Door>(door: Arc<D>) -> std::io::Result<()> {
    let serving = match (Tools { door }).serve(rmcp::transport::stdio()).await {
        Ok(serving) => serving,
        // Whoever started it left without a word.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(std::io::Error::other(error)),
    };
    serving.waiting().await.map_err(std::io::Error::other)?;
    Ok(())
}
