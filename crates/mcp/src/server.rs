//! The MCP server, built on the official SDK.

use std::sync::Arc;

use http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::Value;

use crate::api_client::{ApiClient, ApiError};
use crate::schema::drop_nulls;
use crate::tools::{TOOLS, ToolDefinition};

const INSTRUCTIONS: &str = "Uptake learns from feedback which retrieved items, strategies and answers work. \
    Before answering, call `strategies` for approaches that worked for similar questions, `examples` for good \
    answers to them, and `rerank` to order search results by earlier usage. After answering, call `record_usage` \
    with the text you wrote, `mark_helpful` or `mark_not_helpful` for single items, and `submit_feedback` for \
    feedback from the user.";

/// Serves the tools through an API client.
#[derive(Debug)]
pub struct ToolServer<D> {
    client: Arc<D>,
}

impl<D> Clone for ToolServer<D> {
    fn clone(&self) -> Self {
        Self { client: Arc::clone(&self.client) }
    }
}

/// The service mounted at `/mcp`.
pub type HttpToolService<D> = StreamableHttpService<ToolServer<D>, NeverSessionManager>;

impl<D: ApiClient> ServerHandler for ToolServer<D> {
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
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(ToolDefinition::to_tool).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        ToolDefinition::find_by_name(name).map(ToolDefinition::to_tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = ToolDefinition::find_by_name(&request.name) else {
            let known = TOOLS.each_ref().map(|tool| tool.name).join(", ");
            let message = format!("unknown tool {:?}, expected one of {known}", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        let headers = context.extensions.get::<Parts>().map(|parts| &parts.headers);
        Ok(self.run_tool(tool, drop_nulls(request.arguments), headers).await.into())
    }
}

impl<D: ApiClient> ToolServer<D> {
    /// Makes the tool's API calls. Errors are returned as tool results, so that the language model
    /// can correct its arguments.
    async fn run_tool(
        &self,
        tool: &ToolDefinition,
        arguments: JsonObject,
        headers: Option<&http::HeaderMap>,
    ) -> CallToolResult {
        let calls = match tool.read_arguments(arguments).and_then(tool.build_calls) {
            Ok(calls) => calls,
            Err(wrong) => return CallToolResult::error(vec![ContentBlock::text(wrong)]),
        };
        let mut answer = Value::Null;
        for call in calls {
            match self.client.post(headers, call).await {
                Ok(value) => answer = value,
                Err(ApiError { status, detail }) => {
                    let status = status.map(|status| format!(" (status {status})"));
                    let text = format!("{detail}{}", status.unwrap_or_default());
                    return CallToolResult::error(vec![ContentBlock::text(text)]);
                }
            }
        }
        // Part of a batch can be rejected while the rest is stored.
        let refused = answer["rejected"].as_u64().is_some_and(|count| count > 0);
        let mut result = CallToolResult::structured(answer);
        result.is_error = Some(refused);
        result
    }
}

/// The MCP service over HTTP. It is stateless: every request carries its key, so any node can
/// handle it. The caller authenticates requests and checks the host name.
pub fn http_service<D: ApiClient>(client: Arc<D>, body_bytes: usize) -> HttpToolService<D> {
    let tools = ToolServer { client };
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

/// Serves MCP over standard input and output until the input ends.
pub async fn serve_stdio<D: ApiClient>(client: Arc<D>) -> std::io::Result<()> {
    let serving = match (ToolServer { client }).serve(rmcp::transport::stdio()).await {
        Ok(serving) => serving,
        // The client disconnected before the handshake.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(std::io::Error::other(error)),
    };
    serving.waiting().await.map_err(std::io::Error::other)?;
    Ok(())
}
