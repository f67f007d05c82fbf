//! An MCP server with tools to send feedback and to read what Uptake learned.
//!
//! Each tool makes one or two calls to the API through an [`ApiClient`], with the key of the MCP
//! client. Authentication, tenants, rate limits and idempotency therefore work as in the API.

mod api_client;
mod feedback;
mod schema;
mod tools;
mod server;

pub use api_client::{ApiCall, ApiClient, ApiError};
pub use server::{HttpToolService, ToolServer, http_service, serve_stdio};
