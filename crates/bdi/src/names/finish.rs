//! The finished index: names that are one are put together, and all lists are sorted.

use masque_text::{NameIndex, NameKind, NameUse, Section, counted};
use rustc_hash::FxHashMap;

use super::items::{Item, ItemKind, sections};
use super::scopes::Scopes;
use crate::lexer::Tokens;

/// End of the detail of the agent whose world is the top world.
pub(crate) const TOP_WORLD: &str = "top world";

/// Returns the index of all names.
pub(super) fn index(mut scopes: Scopes<'_>, items: &[Item], lexed: &[Tokens<'_>]) -> NameIndex {
    add_details(&mut scopes);
    // Every declaration stays, for outlines; the uses go to the first of those that are one.
    let mut order: Vec<u32> = (0..scopes.declarations.len() as u32).collect();
    order.sort_by_key(|&id| scopes.declarations[id as usize].span);
    let mut numbers = vec![0; order.len()];
    for (number, &id) in order.iter().enumerate() {
        numbers[id as usize] = number as u32;
    }
    let mut first: FxHashMap<u32, u32> = FxHashMap::default();
    for &id in &order {
        first.entry(scopes.first_of(id)).or_insert(numbers[id as usize]);
    }
    let declaration = |id: u32| first[&scopes.first_of(id)];
    let mut uses: Vec<NameUse> = scopes
        .uses
        .iter()
        .map(|name| NameUse { span: name.span, declaration: declaration(name.declaration) })
        .collect();
    for (id, declared) in scopes.declarations.iter().enumerate() {
        if declared.kind != NameKind::World {
            uses.push(NameUse { span: declared.span, declaration: declaration(id as u32) });
        }
    }
    uses.sort_unstable();
    uses.dedup_by_key(|name| name.span);
    let sections = all_sections(&scopes, items, lexed, &numbers);
    let declarations = order.iter().map(|&id| {
        let mut declared = scopes.declarations[id as usize].clone();
        declared.parent = declared.parent.map(|parent| numbers[parent as usize]);
        declared
    });
    NameIndex { declarations: declarations.collect(), uses, sections }
}

/// Adds who has attitudes about a name, and what agents consist of.
fn add_details(scopes: &mut Scopes<'_>) {
    for (declaration, observers) in std::mem::take(&mut scopes.observers) {
        let observers: Vec<String> = observers.into_iter().collect();
        let detail = format!("attitudes of {} are about it", observers.join(", "));
        scopes.declarations[declaration as usize].details.push(detail);
    }
    for (index, program) in scopes.programs.iter().enumerate() {
        let kinds = program.names.values().map(|&name| scopes.declarations[name as usize].kind);
        let (mut n_variables, mut n_actions) = (0, 0);
        for kind in kinds {
            n_variables += usize::from(kind == NameKind::Variable);
            n_actions += usize::from(kind == NameKind::Action);
        }
        let variables = counted(n_variables, "variable", "variables");
        let mut detail = format!("{variables}, {}", counted(n_actions, "action", "actions"));
        if scopes.top == Some(index) {
            detail = format!("{detail}, {TOP_WORLD}");
        }
        let details = &mut scopes.declarations[program.owner as usize].details;
        if details.is_empty() {
            details.push(detail);
        }
    }
}

/// Returns the sections of all files, outer ones first.
fn all_sections(scopes: &Scopes<'_>, items: &[Item], lexed: &[Tokens<'_>], numbers: &[u32]) -> Vec<Section> {
    let mut found = Vec::new();
    let owners: FxHashMap<u32, u32> = scopes
        .declarations
        .iter()
        .enumerate()
        .filter(|(_, declared)| declared.parent.is_none() && declared.kind != NameKind::Index)
        .map(|(id, declared)| (declared.whole.start, numbers[id]))
        .collect();
    for item in items.iter().filter(|item| item.kind != ItemKind::Stray) {
        let owner = owners.get(&item.span.start).copied();
        found.push(Section { heading: item.kind.heading(), span: item.span, owner });
        if matches!(item.kind, ItemKind::Agent | ItemKind::View) {
            let parts = sections(&lexed[item.file], item);
            found.extend(parts.into_iter().map(|(heading, span)| Section { heading, span, owner }));
        }
    }
    found
}
