//! The names of a system, for editors: where each is declared and where it is used, also in broken files.
//!
//! Items that could be parsed are read from the tree ([`walk`]), broken ones token by token ([`broken`]), so an
//! error in one item does not hide the names of the others, and a broken item still has most of its names.
//!
//! * A variable belongs to a program, that is, to an agent or a view. A formula inside an attitude is about the program
//!   that the attitude leads to.
//! * Terms such as `sent(p)` and `sent(!p)` share the name `sent`. Names in the arguments have no meaning for the
//!   checker; here they are uses of the program's variables and of agents, so that renaming keeps messages readable.
//! * Some questions compare programs by names: `subworld` of different programs, `introspection`, commitments, and
//!   `option delay = a`. Then equal names of these programs are one name.
//! * A view has no name of its own: its declaration is for outlines and has no uses.
//!
//! | file | does |
//! |---|---|
//! | `items` | finds the items and sections of a file from its tokens |
//! | `scopes` | programs and the names they declare |
//! | `walk` | names in items of the tree |
//! | `broken` | names in broken items |
//! | `finish` | the index, sorted, with details |

mod broken;
mod finish;
mod items;
mod scopes;
mod walk;

use masque_text::{FileId, Library, NameIndex, Sources};

pub(crate) use self::finish::TOP_WORLD;
use self::items::{Item, ItemKind, items};
use self::scopes::Scopes;
use crate::lexer::Tokens;
use crate::parser::{System, parse_system};

/// Returns the names of a file and of the files that it imports.
///
/// ```
/// use masque_text::{NoFiles, Sources};
///
/// let mut sources = Sources::default();
/// let text = "agent a is loop p := any endloop property x: EF p; property broken: (p &";
/// let file = sources.add("tiny.bdi", text).unwrap();
/// let index = masque_bdi::names(&mut sources, file, &NoFiles);
/// let p = index.at(text.find("p :=").unwrap() as u32).unwrap();
/// assert_eq!(index.declaration(p).details[0], "variable of agent a");
/// assert_eq!(index.uses_of(p.declaration).count(), 3);
/// ```
pub fn names(sources: &mut Sources, file: FileId, library: &dyn Library) -> NameIndex {
    let system = parse_system(sources, file, library);
    system_names(sources, &system)
}

/// Returns the names of a parsed system.
pub fn system_names(sources: &Sources, system: &System) -> NameIndex {
    let lexed: Vec<Tokens<'_>> =
        system.files.iter().map(|&file| Tokens::new(sources.text(file), sources.span(file).start)).collect();
    let mut scopes = Scopes::new(sources, &system.tree);
    let found: Vec<Item> =
        lexed.iter().enumerate().flat_map(|(file, tokens)| items(file, tokens, &system.tree)).collect();
    for item in &found {
        declare(&mut scopes, item, &lexed[item.file]);
    }
    scopes.find_top();
    for item in &found {
        walk::declare_names(&mut scopes, item);
        broken::declare_names(&mut scopes, item, &lexed[item.file]);
    }
    for item in &found {
        if item.is_broken {
            broken::use_names(&mut scopes, item, &lexed[item.file]);
        }
    }
    walk::use_names(&mut scopes);
    finish::index(scopes, &found, &lexed)
}

/// Declares the agent, the view or the property that an item begins with.
fn declare<'t>(scopes: &mut Scopes<'t>, item: &Item, tokens: &Tokens<'t>) {
    match item.kind {
        ItemKind::Agent => match items::name_at(tokens, item.first + 1) {
            Some(name) => {
                scopes.declare_agent(&name, item);
                if !items::has_is(tokens, item) {
                    scopes.note_half_typed(&name.text, item);
                }
            }
            None => scopes.declare_unnamed(tokens.span(item.first), item),
        },
        ItemKind::View => {
            if let Some(heading) = broken::view_heading(tokens, item, scopes) {
                scopes.declare_view(heading, item);
            }
        }
        ItemKind::Property => {
            if let Some(name) = items::name_at(tokens, item.first + 1) {
                scopes.declare_property(&name, item);
            }
        }
        _ => {}
    }
}
