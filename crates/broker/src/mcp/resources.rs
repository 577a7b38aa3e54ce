//! The resources: pages of the documentation and models of the gallery. They are parts of the program.

use masque_text::did_you_mean;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents};

/// A text of the program.
struct Page {
    uri: &'static str,
    title: &'static str,
    text: &'static str,
}

/// Declares pages by their paths in the repository.
macro_rules! pages {
    ($kind:literal, $folder:literal, $ending:literal: $($name:literal $title:literal,)*) => {
        [$(Page {
            uri: concat!("masque://", $kind, "/", $name),
            title: $title,
            text: include_str!(concat!("../../../../", $folder, "/", $name, $ending)),
        },)*]
    };
}

/// Pages of the documentation.
#[rustfmt::skip]
static DOCS: &[Page] = &pages!["docs", "docs", ".md":
    "cheat-sheet" "Cheat sheet: two pages: a small model in each language, and the operators",
    "ispl" "The language ISPL: interpreted systems",
    "logics" "Logics: the operators of ISPL formulas",
    "bdi" "The language BDI: agents with beliefs, desires and intentions",
    "lcc" "The language LCC: protocols of agents, and their rules",
    "mu" "The mu-calculus: properties of LCC protocols and transition systems",
    "evidence" "Evidence: what counterexamples and witnesses show",
    "testing" "Expectations: expected verdicts in comments",
    "monitor" "Watching agents at work: observations, goals, obligations, and logs",
    "mcp" "Agents write models: this server: tools, limits, how to work",
    "agents" "A checker beside agents: monitors, guards and the broker",
];

/// Models of the gallery.
#[rustfmt::skip]
static MODELS: &[Page] = &pages!["models", "models", "":
    "ispl/bit_transmission.ispl" "The bit transmission problem over a fair channel, N pairs sharing it",
    "ispl/bit_transmission_faulty1.ispl" "The bit transmission problem with a receiver that may fail to acknowledge",
    "ispl/bit_transmission_faulty2.ispl" "The bit transmission problem with a receiver that may acknowledge what it never received",
    "ispl/card_game.ispl" "A card game against chance",
    "ispl/card_rounds.ispl" "A card game in rounds, in which red cards beat black ones",
    "ispl/dining_cryptographers.ispl" "Dining cryptographers",
    "ispl/dining_cryptographers_liar.ispl" "Dining cryptographers, the first of whom may lie",
    "ispl/go_back_n.ispl" "Go-back-n",
    "ispl/horse_race.ispl" "Tian Ji races the king",
    "ispl/muddy_children.ispl" "Muddy children",
    "ispl/needham_schroeder.ispl" "Needham-Schroeder public-key authentication with an intruder who is the network",
    "ispl/needham_schroeder_lowe.ispl" "Needham-Schroeder with Lowe's fix",
    "ispl/nspk_partners.ispl" "Needham-Schroeder public-key authentication with partners that are chosen at the start",
    "ispl/trains.ispl" "N trains share a tunnel; a controller with one light lets in one train after another",
    "bdi/news_figure2.bdi" "News, after Example 1 of Bourahla and Benmohamed, as Figure 2 draws it",
    "bdi/news_literal.bdi" "News, after Example 1 of Bourahla and Benmohamed, as printed",
    "bdi/news_repaired.bdi" "News, after Example 1 of Bourahla and Benmohamed, as it was evidently meant",
    "bdi/robot.bdi" "A robot that drops an intention when it believes it impossible",
    "bdi/sally_anne.bdi" "Sally and Anne",
    "bdi/trader.bdi" "A trader with desires and intentions",
    "bdi/two_robots.bdi" "Two robots and a room",
    "lcc/contract_net.lcc" "The contract net [Smith80]",
    "lcc/english_auction.lcc" "An English auction",
    "lcc/f_black.lcc" "f_black.lcc",
    "lcc/f_customer.lcc" "f_customer.lcc",
    "lcc/f_member.lcc" "f_member.lcc",
    "lcc/f_nocustomer.lcc" "f_nocustomer.lcc",
    "lcc/f_nomember.lcc" "f_nomember.lcc",
    "lcc/f_pgp.lcc" "f_pgp.lcc",
    "lcc/f_x509.lcc" "f_x509.lcc",
    "lcc/llm_team.lcc" "A team of language-model agents and its tools",
    "lcc/m01_value.lcc" "Value passing with a non-ground message (OpenKnowledge requester/informer idiom)",
    "lcc/m02_or.lcc" "Internal choice of the seller against a buyer that only understands one answer",
    "lcc/m03_par.lcc" "Two concurrent sends and a receiver that requires a fixed order",
    "lcc/m04_recursion.lcc" "Role change, recursion over a list, result returned through an unbound role argument",
    "lcc/m05_constraint.lcc" "Constraint failure and negation as failure",
    "lcc/m06_conflict.lcc" "+ and - clash; three strategies",
    "lcc/m07_common.lcc" "Common versus private knowledge; and a permission that holds only through another enforcer's private",
    "lcc/m10_guards.lcc" "guards=lcc",
    "lcc/rules.pol" "Table 1, in the concrete syntax",
    "lcc/rules_no2.pol" "rules_no2.pol",
    "lcc/travel.lcc" "Travel agency",
    "lcc/travel.mu" "The eleven properties of the travel example",
    "lcc/travel_asprinted.lcc" "Travel agency",
    "lcc/travel_team.lcc" "The team and the knowledge of each agent, without policies",
    "lcc/travel_team_noretry.lcc" "The team and the knowledge of each agent, without policies",
    "lcc/two_phase_commit.lcc" "Two-phase commit [Gray78]",
];

/// All resources, for clients.
pub(super) fn list() -> Vec<Resource> {
    let resource = |page: &Page, kind: &str| {
        let name = page.uri.trim_start_matches("masque://");
        Resource::new(page.uri, name)
            .with_title(page.title)
            .with_mime_type(kind)
            .with_size(page.text.len() as u64)
    };
    let docs = DOCS.iter().map(|page| resource(page, MARKDOWN));
    docs.chain(MODELS.iter().map(|page| resource(page, PLAIN))).collect()
}

/// The type of pages of the documentation.
const MARKDOWN: &str = "text/markdown";
/// The type of models.
const PLAIN: &str = "text/plain";

/// A resource by its URI, or a message about the URI.
pub(super) fn read(uri: &str) -> Result<ReadResourceResult, String> {
    let all = || DOCS.iter().map(|page| (page, MARKDOWN)).chain(MODELS.iter().map(|page| (page, PLAIN)));
    let Some((page, kind)) = all().find(|(page, _)| page.uri == uri) else {
        let hint = did_you_mean(uri, all().map(|(page, _)| page.uri));
        let hint = hint.unwrap_or_else(|| "`resources/list` has all of them".to_string());
        return Err(format!("there is no resource `{}`; {hint}", crate::fault::brief(uri)));
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(page.text, page.uri).with_mime_type(kind)]))
}

/// The text of a page of the documentation, by its name.
pub(super) fn doc(name: &str) -> &'static str {
    let is_it = |page: &&Page| page.uri.rsplit('/').next() == Some(name);
    DOCS.iter().find(is_it).map_or("", |page| page.text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// Every file of the gallery is a resource.
    #[test]
    fn the_gallery_is_complete() {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let mut files = BTreeSet::new();
        for language in ["ispl", "bdi", "lcc"] {
            for entry in std::fs::read_dir(models.join(language)).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    let name = path.file_name().unwrap().to_string_lossy().into_owned();
                    files.insert(format!("masque://models/{language}/{name}"));
                }
            }
        }
        let listed: BTreeSet<String> = MODELS.iter().map(|page| page.uri.to_string()).collect();
        assert_eq!(listed, files);
    }

    #[test]
    fn resources_by_their_uris() {
        for resource in list() {
            assert!(read(&resource.uri).is_ok(), "{}", resource.uri);
        }
        let unknown = read("masque://docs/isp").unwrap_err();
        assert!(unknown.contains("did you mean `masque://docs/ispl`?"), "{unknown}");
        assert!(read("file:///etc/passwd").is_err() && read("").is_err());
    }
}
