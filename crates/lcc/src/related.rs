//! Whether the files of an instance belong together.
//!
//! Files that are named together are one instance. If two of them each declare a team, and no role of
//! one team is ever addressed from a role of the other, they are two protocols that happen to be checked
//! at once: each would be a part of the other's environment and could change its verdicts.
//!
//! A file's *team* is what its members can come to be: the roles in which they start, and those that
//! they change to. Two files are related if a role of one team sends to, or receives from, a role of the
//! other, or if some file imports both (it may be one of them). Shared messages, facts and constants do
//! not relate files, and a file without a team belongs to all.

use masque_text::{Diagnostic, FileId, Sources, Span};
use rustc_hash::FxHashMap;

use crate::import::{Gathered, Library, gather};
use crate::lint::each_step;
use crate::lower::role_name;
use crate::tree::{Agent, Clause, Item, Proc, ProcKind, RoleDecl, Term, Tree};

/// Maximum number of parts that a message lists, and of files in each of them.
const MAX_SHOWN: usize = 6;

/// An error if the files fall apart. `imports` has for each file the positions of those that it imports;
/// `guests` are texts that may relate files but are no part themselves.
pub(crate) fn unrelated(
    sources: &Sources,
    files: &[Tree],
    imports: &[Vec<usize>],
    guests: &[Tree],
) -> Option<Diagnostic> {
    let mut protocol = Protocol::new(files.iter().chain(guests));
    // One file alone is never refused, and what nobody can play is an error of its own.
    if protocol.teams.iter().take(files.len()).flatten().count() < 2 || protocol.has_stranger {
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
    (parts.len() > 1).then(|| falls_apart(sources, &parts))
}

/// Roles by number.
type RoleId = usize;

/// What can be said and become in a role.
#[derive(Clone, Debug, Default)]
struct Role {
    /// Roles that agents in this role change to.
    next: Vec<RoleId>,
    /// Roles that it sends to or receives from.
    partners: Vec<RoleId>,
    /// Whether it addresses, or changes to, a role that is a variable.
    is_open: bool,
    has_clause: bool,
}

/// The team that a file declares.
#[derive(Clone, Debug)]
struct Team {
    /// Where the first member is declared.
    span: Span,
    /// The roles in which members start.
    start: Vec<RoleId>,
    /// What members do that are in the middle of a clause, or messages that are under way to them.
    now: Role,
}

#[derive(Debug, Default)]
struct Protocol<'t> {
    numbers: FxHashMap<&'t str, RoleId>,
    roles: Vec<Role>,
    /// For each file its team, if it declares one.
    teams: Vec<Option<Team>>,
    /// Whether somebody starts in a role that has no clause.
    has_stranger: bool,
}

impl<'t> Protocol<'t> {
    fn new(trees: impl Iterator<Item = &'t Tree> + Clone) -> Protocol<'t> {
        let mut protocol = Protocol::default();
        let mut homes: FxHashMap<&str, usize> = FxHashMap::default();
        for (file, tree) in trees.clone().enumerate() {
            protocol.teams.push(None);
            for item in &tree.items {
                match item {
                    Item::Clause(clause) => protocol.clause(clause),
                    Item::Member(member) => {
                        homes.extend(role_name(&member.agent.id).map(|id| (id, file)));
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
                    // Where an agent is says nothing of who is in the team, if a member has its id.
                    Item::Now(clause) => {
                        let home = role_name(&clause.head.id).and_then(|id| homes.get(id));
                        protocol.now(home.copied().unwrap_or(file), clause);
                    }
                    Item::Mail(mail) => {
                        let home = role_name(&mail.from.id).and_then(|id| homes.get(id));
                        let to = protocol.number(&mail.to.role);
                        if let Some(team) = home.and_then(|home| protocol.teams[*home].as_mut()) {
                            team.now.address(to);
                        }
                    }
                    _ => {}
                }
            }
        }
        let starts = protocol.teams.iter().flatten().flat_map(|team| &team.start);
        protocol.has_stranger = starts.into_iter().any(|role| !protocol.roles[*role].has_clause);
        protocol
    }

    /// The number of a role, unless it is a variable.
    fn number(&mut self, role: &'t Term) -> Option<RoleId> {
        let next = self.numbers.len();
        let number = *self.numbers.entry(role_name(role)?).or_insert(next);
        if number == next {
            self.roles.push(Role::default());
        }
        Some(number)
    }

    fn clause(&mut self, clause: &'t Clause) {
        let Some(number) = self.number(&clause.head.role) else { return };
        let done = self.process(&clause.body);
        let role = &mut self.roles[number];
        role.has_clause = true;
        role.next.extend(done.next);
        role.partners.extend(done.partners);
        role.is_open |= done.is_open;
    }

    /// What a process addresses, and what it changes to.
    fn process(&mut self, body: &'t Proc) -> Role {
        let mut role = Role::default();
        each_step(body, &mut |step| match &step.kind {
            ProcKind::Call(agent) | ProcKind::Frame(agent, _) => match self.number(&agent.role) {
                Some(number) => role.next.push(number),
                None => role.is_open |= matches!(step.kind, ProcKind::Call(_)),
            },
            ProcKind::Send(_, partner) | ProcKind::Receive(_, partner) => {
                let number = self.number(&partner.role);
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
        let role = self.number(&agent.role);
        let team = self.team(file, agent.span);
        team.start.extend(role);
        team.now.is_open |= role.is_none();
    }

    fn declared(&mut self, file: usize, decl: &'t RoleDecl) {
        if let Some(role) = self.number(&decl.role)
            && decl.n_members() > 0
        {
            self.team(file, decl.span).start.push(role);
        }
    }

    fn now(&mut self, file: usize, clause: &'t Clause) {
        let role = self.number(&clause.head.role);
        let done = self.process(&clause.body);
        let team = self.team(file, clause.head.span);
        // The role has been entered: what is left of its clause is here.
        team.now.next.extend(done.next);
        team.now.partners.extend(done.partners);
        team.now.is_open |= done.is_open;
        team.now.next.extend(role);
    }

    /// Relates files of which one addresses a role of the other.
    fn relate_by_roles(&mut self, groups: &mut Groups) {
        let n_roles = self.roles.len();
        // For each role a file that has it in its team, and a file that addresses it. All files that
        // have or address a role are related once there is one of each kind.
        let (mut players, mut speakers) = (vec![Vec::new(); n_roles], vec![Vec::new(); n_roles]);
        let mut reached_for = vec![usize::MAX; n_roles];
        let mut open = Vec::new();
        for (file, team) in self.teams.iter().enumerate() {
            let Some(team) = team else { continue };
            let mut todo: Vec<RoleId> = team.start.iter().chain(&team.now.next).copied().collect();
            let mut is_open = team.now.is_open;
            let mut address = |partner: RoleId| {
                if speakers[partner].last() != Some(&file) {
                    speakers[partner].push(file);
                }
            };
            team.now.partners.iter().for_each(|partner| address(*partner));
            while let Some(role) = todo.pop() {
                if reached_for[role] == file {
                    continue;
                }
                reached_for[role] = file;
                players[role].push(file);
                todo.extend(&self.roles[role].next);
                is_open |= self.roles[role].is_open;
                self.roles[role].partners.iter().for_each(|partner| address(*partner));
            }
            open.extend(is_open.then_some(file));
        }
        for (players, speakers) in players.iter().zip(&speakers) {
            if let (Some(first), false) = (players.first(), speakers.is_empty()) {
                players.iter().chain(speakers).for_each(|file| groups.join(*first, *file));
            }
        }
        // A role that is a variable may be anybody's.
        if let Some(open) = open.first() {
            let teams = self.teams.iter().enumerate().filter(|(_, team)| team.is_some());
            teams.for_each(|(file, _)| groups.join(*open, file));
        }
    }
}

impl Role {
    /// Addresses a role, or any role if it is a variable.
    fn address(&mut self, partner: Option<RoleId>) {
        match partner {
            Some(partner) => self.partners.push(partner),
            None => self.is_open = true,
        }
    }
}

/// Relates the files that some file imports, directly or not. Two files that import a third without a
/// team are not related by that.
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

/// Disjoint groups of files.
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

/// The message: which files make up which part.
fn falls_apart(sources: &Sources, parts: &[(usize, Vec<Span>)]) -> Diagnostic {
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
    for (span, number) in spans.take(MAX_SHOWN - 1) {
        diagnostic = diagnostic.also(span, format!("part {number} has its team here"));
    }
    diagnostic.hint(
        "check them in separate runs, or with `masque check --each FILE..`; `import \"FILE\".` in a file \
         says that another one belongs to it",
    )
}

/// The first few of a list, and how many are left out.
fn shortened(mut items: Vec<String>, separator: &str) -> String {
    if items.len() > MAX_SHOWN {
        let n_left_out = items.len() - MAX_SHOWN;
        items.truncate(MAX_SHOWN);
        items.push(format!("{n_left_out} more"));
    }
    items.join(separator)
}

/// What a file is with its imports, but without other files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has syntax errors, or something that it imports cannot be read.
    Broken,
    /// It has no team, so it is part of something else.
    NoTeam,
    /// It has a team, but no clauses for some role in which a member starts.
    NoClause,
    /// It has a team, and clauses for all roles in which members start.
    Whole,
}

/// Reads a file and its imports: what they are by themselves, and all of them, the file first.
pub fn survey(sources: &mut Sources, file: FileId, library: &dyn Library) -> (Standing, Vec<FileId>) {
    let Gathered { files, trees, properties, diagnostics, .. } = gather(sources, (&[file], &[]), library);
    let protocol = Protocol::new(trees.iter());
    let standing = match protocol.teams.iter().any(Option::is_some) {
        _ if diagnostics.iter().any(Diagnostic::is_error) => Standing::Broken,
        false => Standing::NoTeam,
        true if protocol.has_stranger => Standing::NoClause,
        true => Standing::Whole,
    };
    (standing, [files, properties].concat())
}
