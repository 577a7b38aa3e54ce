//! The system of an instance whose team can be replaced.
//!
//! Statements that all teams share are lowered once. Terms, labels and local situations are shared by all
//! teams: if an agent consults the same facts and rules in two teams, its situations are computed once.

use std::sync::Arc;

use masque_mu::{Property, Space, parse_formula, resolve};
use masque_text::{Diagnostic, Severity, Sources};
use masque_verdict::Budget;

use super::{Candidate, Request};
use crate::entry::Entry;
use crate::instance::{InstanceInput, OpenedInstance};
use crate::lint::lint;
use crate::lower::{Lowered, Lowering, lower_part};
use crate::names::check_statements;
use crate::parser::parse;
use crate::program::Program;
use crate::session::{Question, RefusedTexts, parts, too_large};
use crate::stratify::stratify;
use crate::system::System;
use crate::term::Terms;
use crate::tree::{Item, Member, Tree};
use crate::unrelated_files::unrelated;

/// The statements of a candidate.
struct Contribution {
    members: Vec<Member>,
    entries: Vec<Entry>,
}

/// An instance whose team can be replaced.
pub(super) struct TeamSystem {
    sources: Sources,
    /// The instance without candidates.
    base: Program,
    /// The statements of each candidate of each role.
    roles: Vec<Vec<Contribution>>,
    /// Whether some team might not be stratified, so that each team must be checked for that.
    may_be_unstratified: bool,
    pub(super) space: Space<System>,
    pub(super) properties: Vec<Property>,
    /// Warnings about the instance, the candidates and the formulas in questions.
    pub(super) warnings: Vec<Diagnostic>,
}

impl TeamSystem {
    /// Reads the instance and all candidates.
    pub(super) fn new(request: &Request, budget: &Budget) -> Result<TeamSystem, Box<RefusedTexts>> {
        let mut sources = Sources::with_limits(budget.read_limits());
        match TeamSystem::read(&mut sources, request) {
            Ok(mut team_system) => {
                std::mem::swap(&mut team_system.sources, &mut sources);
                Ok(team_system)
            }
            Err(diagnostics) => Err(RefusedTexts::new(sources, diagnostics)),
        }
    }

    fn read(sources: &mut Sources, request: &Request) -> Result<TeamSystem, Vec<Diagnostic>> {
        let parts: InstanceInput = parts(sources, &request.setup).map_err(|diagnostic| vec![diagnostic])?;
        let (mut opened, imports) = OpenedInstance::gather(sources, &parts, request.setup.library());
        let mut roles: Vec<Vec<Tree>> = Vec::new();
        for role in &request.roles {
            let mut trees = Vec::new();
            for Candidate { name, statements, .. } in &role.candidates {
                let name = format!("{}: {name}", role.name);
                sources.limits().charge(statements.len() as u64);
                let file = sources.add(name, statements.clone()).map_err(|_| vec![too_large()])?;
                let (tree, found) = parse(sources, file);
                opened.diagnostics.extend(found);
                trees.push(tree);
            }
            roles.push(trees);
        }
        opened.stop_on_errors(sources)?;
        // The trees of the candidates are copied twice.
        sources.limits().charge(sources.limits().bytes());
        opened.stop_on_errors(sources)?;
        let candidates: Vec<Tree> = roles.iter().flatten().cloned().collect();
        opened.diagnostics.extend(unrelated(sources, &opened.trees, &imports, &candidates));
        opened.stop_on_errors(sources)?;
        let limits = &sources.limits().clone();
        let Lowered { program, terms, diagnostics } =
            lower_part(&opened.trees, &parts.options, false, limits);
        opened.diagnostics.extend(diagnostics);
        let mut lowering = Lowering::of(program, terms, limits);
        let roles_lowered: Vec<Vec<Contribution>> = roles
            .iter()
            .map(|trees| trees.iter().map(|tree| contribution(&mut lowering, tree)).collect())
            .collect();
        opened.diagnostics.append(&mut lowering.diagnostics);
        // Errors in roles and clauses concern every team, so all files are checked together.
        let all: Vec<Tree> = opened.trees.iter().cloned().chain(candidates).collect();
        opened.diagnostics.extend(lint(&all, limits));
        opened.stop_on_errors(sources)?;
        let Lowering { program: mut base, mut terms, .. } = lowering;
        let candidates: Vec<Item> = roles.into_iter().flatten().flat_map(|tree| tree.items).collect();
        Arc::make_mut(&mut base.names).extend(&candidates, &mut terms);
        opened.diagnostics.extend(stratify(&base, &terms, limits));
        opened.stop_on_errors(sources)?;
        limits.charge(2 * base.bytes());
        // If the statements of all candidates together are stratified, so are those of each team.
        let mut together = base.clone();
        let entries = roles_lowered.iter().flatten().flat_map(|one| &one.entries);
        entries.for_each(|entry| together.add(entry.clone()));
        let may_be_unstratified = !stratify(&together, &terms, limits).is_empty();
        let items = all.iter().flat_map(|tree| &tree.items);
        opened.diagnostics.extend(check_statements(&together, &terms, items, limits));
        Arc::make_mut(&mut base.names).add_constants(&candidates, &mut terms);
        // Properties may name only agents that are in every team.
        let mut system = System::new(base.clone(), terms);
        opened.read_properties(sources, &mut system);
        opened.stop_on_errors(sources)?;
        let properties = std::mem::take(&mut opened.properties);
        let (sources, space) = (Sources::default(), Space::new(system));
        let warnings = opened.diagnostics;
        Ok(TeamSystem {
            sources,
            base,
            roles: roles_lowered,
            may_be_unstratified,
            space,
            properties,
            warnings,
        })
    }

    /// Returns the texts that diagnostics refer to.
    pub(super) fn into_sources(self) -> Sources {
        self.sources
    }

    /// Returns the formulas of questions, with their names.
    pub(super) fn formulas(
        &mut self,
        questions: &[Question],
    ) -> Result<Vec<(String, masque_mu::Formula)>, Vec<Diagnostic>> {
        let named = |property: &Property| (property.source.name.text.clone(), property.formula.clone());
        if questions.is_empty() {
            return Ok(self.properties.iter().map(named).collect());
        }
        let mut formulas = Vec::new();
        for question in questions {
            formulas.push(match question {
                Question::Property(name) => {
                    let found = self.properties.iter().find(|property| property.source.name.text == *name);
                    named(found.ok_or_else(|| vec![crate::session::no_property(&self.properties, name)])?)
                }
                Question::Formula(text) => {
                    let file = self.sources.add("formula", text.clone()).map_err(|_| vec![too_large()])?;
                    let span = self.sources.span(file);
                    let (phi, found) = parse_formula(&self.sources, span);
                    let phi = phi.ok_or(found)?;
                    let (formula, found) = resolve(&phi, self.space.lts());
                    let formula = formula.ok_or(found)?;
                    self.warnings.extend(self.space.system().name_warnings(&phi));
                    (text.clone(), formula)
                }
            });
        }
        Ok(formulas)
    }

    /// Replaces the team. `chosen` has the index of the candidate for each role.
    pub(super) fn set_team(&mut self, chosen: &[usize], budget: &Budget) -> Result<(), Vec<Diagnostic>> {
        let system = self.space.lts();
        let limits = budget.read_limits();
        let mut lowering = Lowering::of(self.base.clone(), Terms::default(), &limits);
        std::mem::swap(&mut lowering.terms, &mut system.terms);
        for contribution in self.roles.iter().zip(chosen).map(|(candidates, index)| &candidates[*index]) {
            contribution.members.iter().for_each(|member| lowering.member(member));
            contribution.entries.iter().for_each(|entry| lowering.program.add(entry.clone()));
        }
        let mut diagnostics = if self.may_be_unstratified {
            stratify(&lowering.program, &lowering.terms, &limits)
        } else {
            Vec::new()
        };
        std::mem::swap(&mut lowering.terms, &mut system.terms);
        if lowering.program.agents.is_empty() {
            let message = "one of the teams has no members";
            diagnostics.push(Diagnostic::nowhere(Severity::Error, "lcc/no-team", message));
        }
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        system.set_team(lowering.program);
        self.space.forget_states();
        Ok(())
    }
}

impl OpenedInstance {
    /// Returns all diagnostics if one of them is an error, or if a limit is exceeded.
    fn stop_on_errors(&mut self, sources: &Sources) -> Result<(), Vec<Diagnostic>> {
        if self.has_errors() || !sources.limits().may_continue() {
            Err(std::mem::take(&mut self.diagnostics))
        } else {
            Ok(())
        }
    }
}

/// Lowers the statements of a candidate.
fn contribution(lowering: &mut Lowering, tree: &Tree) -> Contribution {
    let mut contribution = Contribution { members: Vec::new(), entries: Vec::new() };
    for item in &tree.items {
        if !lowering.may_continue() {
            break;
        }
        match item {
            Item::Member(member) => {
                let id = crate::lower::Scope::default().term(&mut lowering.terms, &member.agent.id);
                if lowering.is_member(id) {
                    let message = format!("`{}` is in the team already", lowering.terms.text(id));
                    let diagnostic = Diagnostic::error("lcc/candidate", member.agent.id.span, message)
                        .hint("a candidate needs an id that no agent of the instance has");
                    lowering.diagnostics.push(diagnostic);
                } else {
                    contribution.members.push(member.clone());
                }
            }
            Item::Fact(_) | Item::Rule(_) | Item::Choice(_) => {
                contribution.entries.extend(lowering.entry(item));
            }
            other => {
                let message = "a candidate cannot have this statement";
                let diagnostic = Diagnostic::error("lcc/candidate", other.span(), message).hint(
                    "a candidate has `agent` or `server`, `know`, `common`, `rule` and `choice` statements",
                );
                lowering.diagnostics.push(diagnostic);
            }
        }
    }
    contribution
}
