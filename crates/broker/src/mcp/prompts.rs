//! The prompts: what a user selects in a client to begin a task.

use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use super::resources;

/// Maximum number of bytes of an argument.
const MAX_ARGUMENT_BYTES: usize = 100_000;

/// A prompt, and how its text is made of its arguments.
struct PromptKind {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// Name, description, and whether the argument is required.
    arguments: &'static [(&'static str, &'static str, bool)],
    /// The task, with `{name}` for the arguments.
    task: &'static str,
    /// Pages of the documentation that follow the task.
    pages: &'static [&'static str],
}

static KINDS: [PromptKind; 3] = [
    PromptKind {
        name: "model-this-system",
        title: "Model this system",
        description: "Write a model of a system, and properties that it should have",
        arguments: &[
            ("system", "The system in words, or its code", true),
            ("questions", "What you want to know about it", false),
        ],
        task: "Model the system below for the model checker Masque, and find out whether it is correct.\n\n\
            1. Choose a language: LCC if agents exchange messages by a protocol or follow rules; ISPL if it matters what \
            agents know, observe or can enforce; BDI for agents with beliefs and intentions.\n\
            2. List the agents, what each sees and does, and what you leave out. Keep ranges small: two or three of \
            everything.\n\
            3. Write the properties before the model: what must never happen, what must always remain possible, what \
            must happen in the end. Add one property that must fail, and one that shows that something happens at \
            all: a model in which nothing happens satisfies every invariant.\n\
            4. Call `check`. Correct errors by their code and fix; then treat each verdict that surprises you as a \
            mistake of the model, of the property or of the system, and say which.\n\
            5. Report each property with its verdict, the counterexample in the words of the system, and your \
            assumptions.\n\n\
            The system:\n{system}\n\nQuestions:\n{questions}\n",
        pages: &["cheat-sheet"],
    },
    PromptKind {
        name: "explain-this-counterexample",
        title: "Explain this counterexample",
        description: "Find why a property fails, and what to change",
        arguments: &[
            ("model", "The text of the model, or the name of its file below the root", true),
            ("property", "The name of the property", true),
        ],
        task: "Explain why the property `{property}` of the model below fails.\n\n\
            1. Call `check` with `only`: [\"{property}\"], and read the counterexample.\n\
            2. Call `why` for the same property: which part of the formula is false, and where.\n\
            3. Walk along the counterexample with `simulate`, and find the first step after which the property cannot \
            be saved. What else was possible there?\n\
            4. Tell the story in the words of the system: who did what, who knew what, and which step should not have \
            been possible. Say whether the model, the property or the system is wrong.\n\
            5. Propose the smallest change, check it, and report which verdicts changed. A change that makes the \
            property hold because nothing happens any more is no repair.\n\n\
            The model:\n{model}\n",
        pages: &[],
    },
    PromptKind {
        name: "write-rules-for-this-team",
        title: "Write rules for this team",
        description: "Write deontic rules for agents, and check that they forbid and allow what they should",
        arguments: &[
            ("team", "The agents, their tools, and who talks to whom; or an LCC file", true),
            ("policy", "What must, may and must not be done, in words", true),
        ],
        task: "Write rules in LCC for the team below, so that they enforce the policy.\n\n\
            1. Write the protocol of the team as LCC clauses, unless it is given: one role per kind of agent, one \
            constraint per use of a tool. Agents try forbidden things, too: the rules, not the clauses, must prevent \
            them.\n\
            2. Write the rules: `rule e: (A, R, +action)` permits, `-` forbids, `!` obliges `after` an event.\n\
            3. For each sentence of the policy write a property that holds because of a rule, and check that it fails \
            when you remove the rule. Write also that the work can still be finished: `AG EF final`, and that nothing \
            is stuck: `AG !deadlock`.\n\
            4. Report the rules beside the sentences of the policy, and what the policy leaves open.\n\n\
            The team:\n{team}\n\nThe policy:\n{policy}\n",
        pages: &["cheat-sheet"],
    },
];

/// All prompts, for clients.
pub(super) fn list() -> Vec<Prompt> {
    let argument = |&(name, description, required): &(&str, &str, bool)| {
        PromptArgument::new(name).with_description(description).with_required(required)
    };
    let prompt = |kind: &PromptKind| {
        let arguments = kind.arguments.iter().map(argument).collect();
        Prompt::new(kind.name, Some(kind.description), Some(arguments)).with_title(kind.title)
    };
    KINDS.iter().map(prompt).collect()
}

/// A prompt with its arguments, or a message about them.
pub(super) fn get(name: &str, arguments: &JsonObject) -> Result<GetPromptResult, String> {
    let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        let brief = crate::fault::brief(name);
        return Err(format!("there is no prompt `{brief}`; the prompts are {}", names.join(", ")));
    };
    if let Some(unknown) =
        arguments.keys().find(|given| kind.arguments.iter().all(|(name, ..)| name != given))
    {
        let brief = crate::fault::brief(unknown);
        return Err(format!("the prompt `{name}` has no argument `{brief}`"));
    }
    let mut values = Vec::new();
    for (argument, description, required) in kind.arguments {
        let text = match arguments.get(*argument) {
            None if *required => return Err(format!("the argument `{argument}` is missing: {description}")),
            None => "none in particular",
            Some(value) => {
                value.as_str().ok_or_else(|| format!("the argument `{argument}` must be a text"))?
            }
        };
        if text.len() > MAX_ARGUMENT_BYTES {
            return Err(format!("the argument `{argument}` has more than {MAX_ARGUMENT_BYTES} bytes"));
        }
        values.push((*argument, text));
    }
    let mut text = filled(kind.task, &values);
    for page in kind.pages {
        text.push_str(&format!("\n---\n\n{}", resources::doc(page)));
    }
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(kind.description))
}

/// A text in which each `{name}` is replaced by its value. Values are not searched for names.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        text.push_str(&rest[..start]);
        let named = values.iter().find_map(|(name, value)| {
            let after = rest[start + 1..].strip_prefix(name)?.strip_prefix('}')?;
            Some((*value, after))
        });
        match named {
            Some((value, after)) => {
                text.push_str(value);
                rest = after;
            }
            None => {
                text.push('{');
                rest = &rest[start + 1..];
            }
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_not_searched() {
        assert_eq!(filled("a {x} {y} {z}", &[("x", "{y}"), ("y", "2")]), "a {y} 2 {z}");
    }

    /// Every place of a task is an argument, and every argument has a place.
    #[test]
    fn tasks_use_their_arguments() {
        for kind in &KINDS {
            let values: Vec<(&str, &str)> =
                kind.arguments.iter().map(|(name, ..)| (*name, "VALUE")).collect();
            let text = filled(kind.task, &values);
            assert!(!text.contains('{'), "{}", kind.name);
            for (name, ..) in kind.arguments {
                assert!(kind.task.contains(&format!("{{{name}}}")), "{}: {name}", kind.name);
            }
        }
    }
}
