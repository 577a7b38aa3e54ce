//! The models of the gallery that are parts of programs: what `masque mcp` serves.
//!
//! The package is the folder of the models itself. So a published package contains them, and each model exists once.
//!
//! ```
//! assert!(masque_gallery::MODELS.iter().any(|model| model.path == "ispl/card_game.ispl"));
//! ```
#![forbid(unsafe_code)]

/// A model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// Path below this folder.
    pub path: &'static str,
    /// What the model is about.
    pub title: &'static str,
    /// Text of the file.
    pub text: &'static str,
}

/// Declares models by their paths.
macro_rules! models {
    ($($path:literal $title:literal,)*) => {
        [$(Model { path: $path, title: $title, text: include_str!($path) },)*]
    };
}

/// The models, in the order of their languages and names.
#[rustfmt::skip]
pub static MODELS: &[Model] = &models![
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
    "lcc/m07_common.lcc" "Common versus private knowledge; and a permission that holds only through what another enforcer knows",
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
