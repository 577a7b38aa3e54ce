//! Finds out whether the files of an instance belong together.
//!
//! Files that are named together are one instance. If two of them each declare a team, and no role of one
//! team is ever addressed from a role of the other, they are two protocols that would be checked together by
//! accident: each would be part of the other's environment and could change its verdicts.
//!
//! The *team* of a file consists of the roles in which its members start, and of the roles that they change
//! to. Two files are related if a role of one team sends to, or receives from, a role of the other, or if
//! some file imports both (it may be one of them). Shared messages, facts and constants do not relate files,
//! and a file without a team belongs to all.

use masque_text::{Diagnostic, FileId, Library, Sources, Span};
use rustc_hash::FxHashMap;

use crate::import::{Gathered, gather};
use crate::lint::each_step;
use crate::lower::role_name;
use crate::tree::{Agent, Clause, Item, Proc, ProcKind, RoleDecl, Term, Tree};

/// Maximum number of parts that a message lists, and of files listed for each of them.
const MAX_SHOWN_PARTS: usize = 6;

/// Returns an error if the files are unrelated. `imports` has, for each file, the indices of the files that
/// it imports. `candidates` are texts that may relate files but are not checked themselves.
pub(crate) fn unrelated(
    sources: &Sources,
    files: &[Tree],
    imports: &[Vec<usize>],
    candidates: &[Tree],
) -> Option<Diagnostic> {
    let mut protocol = Protocol::new(files.iter().chain(candidates));
    // One file alone is never refused, and a role without a clause is reported elsewhere.
    if protocol.teams.iter().take(files.len()).flatten().count() < 2 || protocol.has_role_without_clause {
        return None;
    }
    let mut groups = Groups::new(protocol.teams.len());
    protocol.relate_by_roles(&mut groups);
    relate_by_imports(imports, &protocol.teams, &mut groups);
    let mut parts: Vec<(usize, Vec<Span>)> = Vec::new();
    for (file, team) in protocol.teams.iter().enumerate().take(files.len()) {
        let Some(team) = team else { continue };
        let group = groups.find(file);
        match parts.iter_mut().find(|(other, _)| *other == group) {
            Some((_, spans)) => spans.push(team.span),
            None => parts.push((group, vec![team.span])),
        }
    }
    (parts.len() > 1).then(|| unrelated_diagnostic(sources, &parts))
}

/// Index of a role.
type RoleId = usize;

/// The roles that an agent in one role can address or change to.
#[derive(Clone, Debug, Default)]
struct Role {
    /// Roles that agents in this role change to.
    next: Vec<RoleId>,
    /// Roles that agents in this role send to or receive from.
    partners: Vec<RoleId>,
    /// Whether agents in this role address, or change to, a role that is a variable.
    is_open: bool,
    has_clause: bool,
}

/// The team that a file declares.
#[derive(Clone, Debug)]
struct Team {
    /// Location of the first member.
    span: Span,
    /// The roles in which members start.
    start: Vec<RoleId>,
    /// Roles addressed or entered by the rest of the clauses in `now` statements, and by messages under way.
    now: Role,
}

#[derive(Debug, Default)]
struct Protocol<'t> {
    role_ids: FxHashMap<&'t str, RoleId>,
    roles: Vec<Role>,
    /// For each file, its team, if it declares one.
    teams: Vec<Option<Team>>,
    /// Whether a member starts in a role that has no clause.
    has_role_without_clause: bool,
}

impl<'t> Protocol<'t> {
    fn new(trees: impl Iterator<Item = &'t Tree> + Clone) -> Protocol<'t> {
        let mut protocol = Protocol::default();
        let mut file_of_member: FxHashMap<&str, usize> = FxHashMap::default();
        for (file, tree) in trees.clone().enumerate() {
            protocol.teams.push(None);
            for item in &tree.items {
                match item {
                    Item::Clause(clause) => protocol.clause(clause),
                    Item::Member(member) => {
                        file_of_member.extend(role_name(&member.agent.id).map(|id| (id, file)));
                        protocol.member(file, &member.agent);
                    }
                    _ => {}
                }
            }
        }
        let has_members = protocol.teams.iter().any(Option::is_some);
        for (file, tree) in trees.enumerate() {
            for item in &tree.items {
                match item {
                    // Without members, declared roles make the team.
                    Item::Role(role) if !has_members => protocol.declared(file, role),
                    // A `now` statement belongs to the file of the member with the same id, if there is one.
                    Item::Now(clause) => {
                        let file_of_agent = role_name(&clause.head.id).and_then(|id| file_of_member.get(id));
                        protocol.now(file_of_agent.copied().unwrap_or(file), clause);
                    }
                    Item::Mail(mail) => {
                        let file_of_agent = role_name(&mail.from.id).and_then(|id| file_of_member.get(id));
                        let to = protocol.role_id(&mail.to.role);
                        if let Some(team) =
                            file_of_agent.and_then(|file_of_agent| protocol.teams[*file_of_agent].as_mut())
                        {
                            team.now.address(to);
                        }
                    }
                    _ => {}
                }
            }
        }
        let starts = protocol.teams.iter().flatten().flat_map(|team| &team.start);
        protocol.has_role_without_clause = starts.into_iter().any(|role| !protocol.roles[*role].has_clause);
        protocol
    }

    /// Returns the index of a role; `None` if the role is a variable.
    fn role_id(&mut self, role: &'t Term) -> Option<RoleId> {
        let next = self.role_ids.len();
        let number = *self.role_ids.entry(role_name(role)?).or_insert(next);
        if number == next {
            self.roles.push(Role::default());
        }
        Some(number)
    }

    fn clause(&mut self, clause: &'t Clause) {
        let Some(number) = self.role_id(&clause.head.role) else { return };
        let done = self.process(&clause.body);
        let role = &mut self.roles[number];
        role.has_clause = true;
        role.next.extend(done.next);
        role.partners.extend(done.partners);
        role.is_open |= done.is_open;
    }

    /// Returns the roles that a process addresses and changes to.
    fn process(&mut self, body: &'t Proc) -> Role {
        let mut role = Role::default();
        each_step(body, &mut |step| match &step.kind {
            ProcKind::Call(agent) | ProcKind::Frame(agent, _) => match self.role_id(&agent.role) {
                Some(number) => role.next.push(number),
                None => role.is_open |= matches!(step.kind, ProcKind::Call(_)),
            },
            ProcKind::Send(_, partner) | ProcKind::Receive(_, partner) => {
                let number = self.role_id(&partner.role);
                role.address(number);
            }
            _ => {}
        });
        role
    }

    fn team(&mut self, file: usize, span: Span) -> &mut Team {
        self.teams[file].get_or_insert(Team { span, start: Vec::new(), now: Role::default() })
    }

    fn member(&mut self, file: usize, agent: &'t Agent) {
        let role = self.role_id(&agent.role);
        let team = self.team(file, agent.span);
        team.start.extend(role);
        team.now.is_open |= role.is_none();
    }

    fn declared(&mut self, file: usize, decl: &'t RoleDecl) {
        if let Some(role) = self.role_id(&decl.role)
            && decl.n_members() > 0
        {
            self.team(file, decl.span).start.push(role);
        }
    }

    fn now(&mut self, file: usize, clause: &'t Clause) {
        let role = self.role_id(&clause.head.role);
        let done = self.process(&clause.body);
        let team = self.team(file, clause.head.span);
        // The role has been entered already; only the rest of its clause counts.
        team.now.next.extend(done.next);
        team.now.partners.extend(done.partners);
        team.now.is_open |= done.is_open;
        team.now.next.extend(role);
    }

    /// Relates files if the team of one addresses a role in the team of the other.
    fn relate_by_roles(&mut self, groups: &mut Groups) {
        let n_roles = self.roles.len();
        // For each role, the files that have it in their team, and the files that address it. If there are
        // files of both kinds, all of them are related.
        let (mut playing, mut addressing) = (vec![Vec::new(); n_roles], vec![Vec::new(); n_roles]);
        let mut reached_for = vec![usize::MAX; n_roles];
        let mut open = Vec::new();
        for (file, team) in self.teams.iter().enumerate() {
            let Some(team) = team else { continue };
            let mut todo: Vec<RoleId> = team.start.iter().chain(&team.now.next).copied().collect();
            let mut is_open = team.now.is_open;
            let mut address = |partner: RoleId| {
                if addressing[partner].last() != Some(&file) {
                    addressing[partner].push(file);
                }
            };
            team.now.partners.iter().for_each(|partner| address(*partner));
            while let Some(role) = todo.pop() {
                if reached_for[role] == file {
                    continue;
                }
                reached_for[role] = file;
                playing[role].push(file);
                todo.extend(&self.roles[role].next);
                is_open |= self.roles[role].is_open;
                self.roles[role].partners.iter().for_each(|partner| address(*partner));
            }
            open.extend(is_open.then_some(file));
        }
        for (playing, addressing) in playing.iter().zip(&addressing) {
            if let (Some(first), false) = (playing.first(), addressing.is_empty()) {
                playing.iter().chain(addressing).for_each(|file| groups.join(*first, *file));
            }
        }
        // A role that is a variable may be any role.
        if let Some(open) = open.first() {
            let teams = self.teams.iter().enumerate().filter(|(_, team)| team.is_some());
            teams.for_each(|(file, _)| groups.join(*open, file));
        }
    }
}

impl Role {
    /// Records that a role is addressed: any role if `None`.
    fn address(&mut self, partner: Option<RoleId>) {
        match partner {
            Some(partner) => self.partners.push(partner),
            None => self.is_open = true,
        }
    }
}

/// Relates the files that some file imports, directly or indirectly. Two files that import the same file
/// without a team are not related by that.
fn relate_by_imports(imports: &[Vec<usize>], teams: &[Option<Team>], groups: &mut Groups) {
    let mut reached_for = vec![usize::MAX; imports.len()];
    for root in 0..imports.len() {
        let (mut todo, mut first) = (vec![root], None);
        while let Some(file) = todo.pop() {
            if reached_for[file] == root {
                continue;
            }
            reached_for[file] = root;
            todo.extend(&imports[file]);
            if teams[file].is_some() {
                groups.join(*first.get_or_insert(file), file);
            }
        }
    }
}

/// Disjoint groups of files (union-find).
struct Groups {
    parents: Vec<usize>,
}

impl Groups {
    fn new(n_files: usize) -> Groups {
        Groups { parents: (0..n_files).collect() }
    }

    fn find(&mut self, mut file: usize) -> usize {
        while self.parents[file] != file {
            self.parents[file] = self.parents[self.parents[file]];
            file = self.parents[file];
        }
        file
    }

    fn join(&mut self, left: usize, right: usize) {
        let (left, right) = (self.find(left), self.find(right));
        self.parents[left.max(right)] = left.min(right);
    }
}

/// Makes the diagnostic, which lists the files of each part.
fn unrelated_diagnostic(sources: &Sources, parts: &[(usize, Vec<Span>)]) -> Diagnostic {
    let name = |span: &Span| format!("`{}`", sources.name(sources.file_of(*span)));
    let part = |spans: &Vec<Span>| shortened(spans.iter().map(name).collect(), ", ");
    let numbered =
        parts.iter().zip(1..).map(|((_, spans), number)| format!("part {number}: {}", part(spans)));
    let message = format!(
        "these files are {} unrelated protocols, because no role of one team addresses a role of another; {}",
        parts.len(),
        shortened(numbered.collect(), "; ")
    );
    let mut spans = parts.iter().map(|(_, spans)| spans[0]).zip(1..);
    let (first, _) = spans.next().unwrap_or_default();
    let mut diagnostic =
        Diagnostic::error("lcc/unrelated-files", first, message).label("part 1 has its team here");
    for (span, number) in spans.take(MAX_SHOWN_PARTS - 1) {
        diagnostic = diagnostic.also(span, format!("part {number} has its team here"));
    }
    diagnostic.hint(
        "check them in separate runs, or with `masque check --each FILE..`; `import \"FILE\".` in a file \
         says that another one belongs to it",
    )
}

/// Joins the first [`MAX_SHOWN_PARTS`] items of a list, and adds how many more there are.
fn shortened(mut items: Vec<String>, separator: &str) -> String {
    if items.len() > MAX_SHOWN_PARTS {
        let n_left_out = items.len() - MAX_SHOWN_PARTS;
        items.truncate(MAX_SHOWN_PARTS);
        items.push(format!("{n_left_out} more"));
    }
    items.join(separator)
}

/// Whether a file is an instance by itself, together with its imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileStatus {
    /// The file has syntax errors, or an imported file cannot be read.
    Broken,
    /// The file has no team, so it is part of another instance.
    NoTeam,
    /// The file has a team, but no clause for some role in which a member starts.
    NoClause,
    /// The file has a team, and clauses for all roles in which members start.
    Whole,
}

/// Reads a file and its imports. Returns whether they are an instance by themselves, and all files, the given
/// one first.
pub fn file_status(sources: &mut Sources, file: FileId, library: &dyn Library) -> (FileStatus, Vec<FileId>) {
    let Gathered { files, trees, properties, diagnostics, .. } = gather(sources, &[file], &[], library);
    let protocol = Protocol::new(trees.iter());
    let standing = if diagnostics.iter().any(Diagnostic::is_error) {
        FileStatus::Broken
    } else if protocol.teams.iter().all(Option::is_none) {
        FileStatus::NoTeam
    } else if protocol.has_role_without_clause {
        FileStatus::NoClause
    } else {
        FileStatus::Whole
    };
    (standing, [files, properties].concat())
}
