//! Names of a model for editors: where each is declared and where it is used.
//!
//! A language fills a [`NameIndex`] from its syntax tree, before names are resolved by its checker, so that an
//! error in one part of a file leaves the names of the others.

use crate::Span;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NameKind {
    /// An agent, or a family of agents.
    Agent,
    /// A variable of the state.
    Variable,
    /// A value of an enumeration.
    Value,
    /// An action.
    Action,
    /// A named condition on states.
    Proposition,
    /// A group of agents.
    Group,
    /// A parameter of the model.
    Parameter,
    /// A variable that an operator or a family binds, such as `i` in `forall(i in 1..N : ..)`.
    Index,
    /// A variable of a fixpoint.
    Fixpoint,
    /// A property.
    Property,
    /// A role of a protocol.
    Role,
    /// A message of a protocol.
    Message,
    /// A predicate of facts and constraints.
    Predicate,
    /// A world or the view of an agent.
    World,
}

/// The declaration of a name. A name that needs none, such as a message, is declared by its first use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The name.
    pub name: String,
    /// What it stands for.
    pub kind: NameKind,
    /// Location of the name.
    pub span: Span,
    /// Location of the whole declaration.
    pub whole: Span,
    /// The declaration around this one, as its place in [`NameIndex::declarations`], for outlines.
    pub parent: Option<u32>,
    /// The declaration on one line, such as `bit : boolean`.
    pub text: String,
    /// More about the name, a sentence per entry: domain, number of bits, who sees it.
    pub details: Vec<String>,
}

/// An occurrence of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameUse {
    /// Location of the name.
    pub span: Span,
    /// Its declaration, as its place in [`NameIndex::declarations`].
    pub declaration: u32,
}

/// A part of a file that has a heading, such as the protocol of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Heading, in the words of the language: `Protocol`, `Formulae`, `program`, `rule`.
    pub heading: &'static str,
    /// Location of the section, headings and end included.
    pub span: Span,
    /// The declaration that the section belongs to, such as an agent.
    pub owner: Option<u32>,
}

/// The names of a model: its file and its imports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameIndex {
    /// The declarations in the order of the texts.
    pub declarations: Vec<Declaration>,
    /// All occurrences, those in declarations included, sorted by location.
    pub uses: Vec<NameUse>,
    /// The sections, outer ones first.
    pub sections: Vec<Section>,
}

impl NameIndex {
    /// Returns the name at a position, or just before it.
    pub fn at(&self, position: u32) -> Option<NameUse> {
        let after = self.uses.partition_point(|name| name.span.start <= position);
        let found = self.uses[..after].last()?;
        (position <= found.span.end).then_some(*found)
    }

    /// Returns a declaration.
    pub fn declaration(&self, name: NameUse) -> &Declaration {
        &self.declarations[name.declaration as usize]
    }

    /// Returns all occurrences of the name that a declaration declares, in the order of the texts.
    pub fn uses_of(&self, declaration: u32) -> impl Iterator<Item = Span> + '_ {
        self.uses.iter().filter(move |name| name.declaration == declaration).map(|name| name.span)
    }

    /// Returns the declarations directly inside a declaration, or those outside all others, in the order of the
    /// texts.
    pub fn children(&self, parent: Option<u32>) -> impl Iterator<Item = (u32, &Declaration)> + '_ {
        let numbered = self.declarations.iter().enumerate().map(|(index, one)| (index as u32, one));
        numbered.filter(move |(_, one)| one.parent == parent)
    }

    /// Sorts declarations, uses and sections as their fields say, after all were added in any order, and keeps
    /// one declaration and one use per place. In a broken text, one word may be read as two declarations: the one
    /// that was added first stays.
    pub fn sort(&mut self) {
        let mut order: Vec<u32> = (0..self.declarations.len() as u32).collect();
        order.sort_by_key(|index| self.declarations[*index as usize].span);
        let mut new_places = vec![0; order.len()];
        let is_same =
            |a: &u32, b: &u32| self.declarations[*a as usize].span == self.declarations[*b as usize].span;
        for (place, same) in order.chunk_by(is_same).enumerate() {
            same.iter().for_each(|index| new_places[*index as usize] = place as u32);
        }
        let mut sorted = std::mem::take(&mut self.declarations);
        for (index, declaration) in sorted.iter_mut().enumerate() {
            let parent = declaration.parent.map(|parent| new_places[parent as usize]);
            declaration.parent = parent.filter(|parent| *parent != new_places[index]);
        }
        // The sort is stable, so that names at one place keep the order in which they were added.
        sorted.sort_by_key(|declaration| declaration.span);
        sorted.dedup_by_key(|declaration| declaration.span);
        self.declarations = sorted;
        for name in &mut self.uses {
            name.declaration = new_places[name.declaration as usize];
        }
        self.uses.sort_unstable();
        // Where one place has several meanings, a declaration is the right one.
        let declarations = &self.declarations;
        self.uses.dedup_by(|later, kept| {
            let is_same = later.span == kept.span;
            if is_same && declarations[later.declaration as usize].span == later.span {
                kept.declaration = later.declaration;
            }
            is_same
        });
        for section in &mut self.sections {
            section.owner = section.owner.map(|owner| new_places[owner as usize]);
        }
        self.sections.sort_by_key(|section| (section.span.start, std::cmp::Reverse(section.span.end)));
    }

    /// Returns the innermost section at a position.
    pub fn section_at(&self, position: u32) -> Option<&Section> {
        let contains = |section: &&Section| section.span.start <= position && position <= section.span.end;
        self.sections.iter().filter(contains).min_by_key(|section| section.span.end - section.span.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    #[test]
    fn a_name_is_found_at_its_ends_and_not_beside_them() {
        let index = NameIndex {
            uses: vec![
                NameUse { span: span(2, 4), declaration: 0 },
                NameUse { span: span(6, 9), declaration: 1 },
                NameUse { span: span(12, 14), declaration: 0 },
            ],
            ..NameIndex::default()
        };
        let found: Vec<_> = (0..15).map(|position| index.at(position).map(|name| name.span.start)).collect();
        let (a, b, c) = (Some(2), Some(6), Some(12));
        assert_eq!(found, [None, None, a, a, a, None, b, b, b, b, None, None, c, c, c]);
        assert_eq!(index.uses_of(0).collect::<Vec<_>>(), [span(2, 4), span(12, 14)]);
    }

    fn declaration(name: &str, from: u32, parent: Option<u32>) -> Declaration {
        Declaration {
            name: name.to_string(),
            kind: NameKind::Variable,
            span: span(from, from + 1),
            whole: span(from, from + 1),
            parent,
            text: String::new(),
            details: Vec::new(),
        }
    }

    #[test]
    fn sorting_keeps_what_refers_to_what() {
        let mut index = NameIndex {
            declarations: vec![declaration("x", 9, Some(1)), declaration("A", 2, None)],
            uses: vec![
                NameUse { span: span(9, 10), declaration: 0 },
                NameUse { span: span(2, 3), declaration: 1 },
                NameUse { span: span(9, 10), declaration: 0 },
            ],
            sections: vec![
                Section { heading: "Vars", span: span(2, 8), owner: Some(1) },
                Section { heading: "Agent", span: span(2, 20), owner: None },
            ],
        };
        index.sort();
        assert_eq!(index.declarations.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["A", "x"]);
        assert_eq!(index.uses.iter().map(|name| name.declaration).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(index.sections[1].owner, Some(0));
        assert_eq!(index.children(Some(0)).map(|(place, _)| place).collect::<Vec<_>>(), [1]);
    }

    /// One word of a broken text is read as an agent and as its action.
    #[test]
    fn a_word_is_declared_once() {
        let mut index = NameIndex {
            declarations: vec![
                declaration("b", 9, None),
                declaration("agent", 5, None),
                declaration("action", 5, Some(1)),
                declaration("x", 7, Some(2)),
            ],
            uses: [(9, 0), (5, 1), (5, 2), (7, 3)]
                .map(|(from, declaration)| NameUse { span: span(from, from + 1), declaration })
                .to_vec(),
            sections: Vec::new(),
        };
        index.sort();
        assert_eq!(
            index.declarations.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
            ["agent", "x", "b"]
        );
        assert_eq!(
            index.declarations.iter().map(|one| one.parent).collect::<Vec<_>>(),
            [None, Some(0), None]
        );
        assert_eq!(index.at(5).unwrap().declaration, 0);
    }

    #[test]
    fn the_innermost_section_counts() {
        let section = |heading, from, to| Section { heading, span: span(from, to), owner: None };
        let index = NameIndex {
            sections: vec![section("Agent", 0, 20), section("Vars", 5, 9)],
            ..NameIndex::default()
        };
        assert_eq!(index.section_at(7).unwrap().heading, "Vars");
        assert_eq!(index.section_at(12).unwrap().heading, "Agent");
        assert_eq!(index.section_at(30), None);
    }
}
