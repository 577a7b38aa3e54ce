//! The page of a protocol, and its commands.

use axum::extract::{Path, Request};
use axum::http::StatusCode;
use axum::response::Response;
use maud::html;

use crate::form_fields::Fields;
use crate::page::{Place, empty, page};
use crate::protocol::{Ask, Reply};
use crate::protocol_page::{ProtocolView, protocol};
use crate::responses::{html_page, message, see};
use crate::server::plain;
use crate::simulator_routes::simulator_view;
use crate::tab::Tab;

/// Maximum number of changes that can be undone.
const MAX_UNDONE: usize = 100;

pub(crate) async fn protocol_page(tab: Tab, request: Request) -> Response {
    let query = Fields::of_query(&request);
    let model = tab.app.model();
    let main = if model.model.language == "lcc" && model.model.has_model {
        let view = protocol_view(&tab, &query).await;
        protocol(&tab.base, &model, &view)
    } else {
        html! { h1 { "Protocol" } (empty("There is no protocol; the overview shows why.")) }
    };
    html_page(page(&tab.base, Place::Protocol, &model, "Protocol", &main))
}

async fn protocol_view(tab: &Tab, query: &Fields) -> ProtocolView {
    let simulator = simulator_view(tab, query, "/protocol").await;
    let mut view = ProtocolView { simulator, standings: Vec::new(), switches: Err(String::new()) };
    let mut asker = match tab.app.asker().await {
        Ok(asker) => asker,
        Err(error) => {
            view.switches = Err(message(error));
            return view;
        }
    };
    if let Some((walk, _)) = tab.walk_so_far()
        && let Ok(Reply::Standings(found)) = asker.ask(&Ask::Standings { state: walk.last() }).await
    {
        view.standings = found;
    }
    let off: Vec<String> = tab.walk().off.iter().cloned().collect();
    view.switches = match asker.ask(&Ask::Switch { off }).await {
        Ok(Reply::Switched(info)) => Ok(info),
        Ok(_) => Err("unexpected reply".to_string()),
        Err(message) => Err(message),
    };
    view
}

pub(crate) async fn protocol_command(
    tab: Tab,
    Path((_, command)): Path<(u64, String)>,
    request: Request,
) -> Response {
    let fields = match Fields::of_body(request).await {
        Ok(fields) => fields,
        Err(response) => return response,
    };
    {
        let mut walk = tab.walk();
        let before = walk.off.clone();
        match command.as_str() {
            "switch" => {
                let text = fields.find("statement").unwrap_or_default().to_string();
                if !walk.off.remove(&text) {
                    walk.off.insert(text);
                }
            }
            "all" => walk.off.clear(),
            "undo" => {
                walk.off = walk.undo.pop().unwrap_or_default();
            }
            _ => return plain(StatusCode::NOT_FOUND, "there is no such command".to_string()),
        }
        if command != "undo" && walk.off != before {
            walk.undo.push(before);
            if walk.undo.len() > MAX_UNDONE {
                walk.undo.remove(0);
            }
        }
    }
    see(&tab.base, "/protocol")
}
