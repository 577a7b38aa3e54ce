//! The requests of the protocol.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse,
    Implementation, ListPromptsResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool as Description,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use super::tools::Tool;
use super::{call, prompts, resources};
use crate::service::{Client, Service};

/// Instructions that clients receive when they connect.
const INSTRUCTIONS: &str = "\
Masque is a model checker for multi-agent systems. Write a model as text, call `check`, and correct it until every \
property has the verdict you expect; a property that fails comes with a counterexample, which `why` and `simulate` \
explore. Read the resource masque://docs/cheat-sheet first: it has a small model in each language. Whole language \
pages are masque://docs/ispl, masque://docs/bdi, masque://docs/lcc and masque://docs/mu; worked models are \
masque://models/... A property that fails is a result, not an error. `unknown` means that a limit was hit: use smaller \
parameters, or raise `limits`.";

/// The server for one client.
#[derive(Clone)]
pub(super) struct Server {
    service: Arc<Service>,
    client: Client,
    tools: Arc<Vec<Description>>,
}

impl Server {
    pub(super) fn new(service: Arc<Service>) -> Server {
        let client = service.client(true);
        Server { service, client, tools: Arc::new(Tool::ALL.map(Tool::describe).to_vec()) }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let offers = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        let masque = Implementation::new("masque", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(offers).with_server_info(masque).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool =
            Tool::named(&request.name).map_err(|why| ErrorData::new(ErrorCode::INVALID_PARAMS, why, None))?;
        let parameters = Value::Object(request.arguments.unwrap_or_default());
        tokio::select! {
            result = call::run(&self.service, self.client, tool, parameters) => Ok(result.into()),
            // The client gets no answer; dropping the other future ends the work.
            () = context.ct.cancelled() => Err(ErrorData::internal_error("the call was cancelled", None)),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match resources::read(&request.uri) {
            Ok(result) => Ok(result.into()),
            Err(why) => Err(ErrorData::resource_not_found(why, None)),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        match prompts::get(&request.name, &arguments) {
            Ok(result) => Ok(result.into()),
            Err(why) => Err(ErrorData::new(ErrorCode::INVALID_PARAMS, why, None)),
        }
    }
}
