//! What the overview shows about a model, as data.

use masque_driver::trace::TraceAction;
use masque_driver::{Decision, Finding, Limits, Loaded, Model, Run, Sources, System, VarId, lcc};
use masque_report::{DiagnosticReport, Subject, check_summary, model_size, state_values};

use crate::protocol::{
    AgentInfo, CheckInfo, DiagnosticInfo, ModelInfo, NamedRun, PropertyInfo, SourceInfo, Values, VerdictInfo,
};

/// Maximum bytes of a source text that the page shows.
const MAX_SOURCE_BYTES: usize = 400 << 10;
/// Maximum number of values of an enumeration that are listed.
const MAX_LISTED_VALUES: usize = 12;
/// Maximum number of agents that are listed.
const MAX_LISTED_AGENTS: usize = 2000;

/// The data of a loaded model.
pub(crate) fn model_info(loaded: &Loaded) -> ModelInfo {
    let model = loaded.model.as_ref();
    ModelInfo {
        name: loaded.name(),
        language: loaded.language.map(|language| language.name().to_string()).unwrap_or_default(),
        has_model: model.is_some(),
        size: model.map(model_size).unwrap_or_default(),
        sources: sources(&loaded.sources),
        watched: loaded.watched_files(),
        diagnostics: loaded.diagnostics.iter().map(|d| diagnostic(&loaded.sources, d)).collect(),
        parameters: loaded.parameters.clone(),
        options: loaded.options.iter().map(|(name, value)| (name.to_string(), value.clone())).collect(),
        agents: model.map(agents).unwrap_or_default(),
        properties: model.map(|model| properties(&loaded.sources, model)).unwrap_or_default(),
    }
}

fn sources(sources: &Sources) -> Vec<SourceInfo> {
    let files = sources.files().filter(|file| !is_option(sources.name(*file)));
    let source = |file| {
        let text = sources.text(file);
        let mut end = text.len().min(MAX_SOURCE_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let name = sources.name(file).to_string();
        SourceInfo { name, text: text[..end].to_string(), is_cut: end < text.len() }
    };
    files.map(source).collect()
}

/// Whether a name is that of a text from the command line, such as `<-D>`.
fn is_option(name: &str) -> bool {
    name.starts_with('<') && name.ends_with('>')
}

fn diagnostic(sources: &Sources, diagnostic: &masque_driver::Diagnostic) -> DiagnosticInfo {
    let report = DiagnosticReport::new(sources, diagnostic);
    let primary = report.spans.iter().find(|span| span.primary);
    DiagnosticInfo {
        place: primary.map(|span| (span.file.clone(), span.start.line)),
        severity: report.severity,
        code: report.code,
        message: report.message,
        help: report.help,
        run: None,
    }
}

fn properties(sources: &Sources, model: &Model) -> Vec<PropertyInfo> {
    let spans = model.property_spans();
    let property = |(index, property): (usize, masque_driver::PropertyText)| {
        let place = spans.get(index).map(|span| {
            let (start, _) = sources.locate(*span);
            (sources.name(sources.file_of(*span)).to_string(), start.line)
        });
        PropertyInfo { title: property.title, text: property.text, place, world: property.world }
    };
    model.properties().into_iter().enumerate().map(property).collect()
}

fn agents(model: &Model) -> Vec<AgentInfo> {
    match model {
        Model::Ispl(system) => {
            system.agent_ids().take(MAX_LISTED_AGENTS).map(|agent| system_agent(system, agent)).collect()
        }
        Model::Bdi(worlds) => {
            let programs = &worlds.programs;
            let program = |program: &masque_driver::bdi::model::Program| {
                let variable = |var: &masque_driver::bdi::model::VarId| {
                    let var = programs.var(*var);
                    (var.name.clone(), bdi_domain(&var.domain))
                };
                let action = |action: &masque_driver::bdi::model::ActionId| {
                    programs.actions[action.index()].name.clone()
                };
                AgentInfo {
                    name: program.name.clone(),
                    variables: program.vars.iter().map(variable).collect(),
                    actions: program.actions.iter().map(action).collect(),
                    sees: Vec::new(),
                }
            };
            programs.programs.iter().take(MAX_LISTED_AGENTS).map(program).collect()
        }
        Model::Lcc(instance) => {
            let mut system = instance.system.clone();
            let first = lcc_state(&mut system);
            let agent = |name: String| {
                let place = first.iter().find(|(id, _)| *id == name).map(|(_, place)| place.clone());
                let variables = place.map(|place| ("begins with".to_string(), place)).into_iter().collect();
                AgentInfo { name, variables, ..AgentInfo::default() }
            };
            instance.system.team().into_iter().take(MAX_LISTED_AGENTS).map(agent).collect()
        }
        Model::Aut(_) => Vec::new(),
    }
}

/// The first state of a protocol.
fn lcc_state(system: &mut lcc::System) -> Values {
    use masque_driver::Explorer;
    let initial = Explorer::initial(system);
    initial.first().map(|&state| Explorer::values(system, state)).unwrap_or_default()
}

fn system_agent(system: &System, id: masque_driver::AgentId) -> AgentInfo {
    let agent = system.agent(id);
    let variable = |id: &VarId| {
        let full = system.full_name(*id);
        let name = full.rsplit_once('.').map_or(full.as_str(), |(_, name)| name).to_string();
        (name, domain(system, *id))
    };
    let is_own = |id: &&VarId| !agent.variables.contains(id);
    let actions = agent.actions.iter().map(|action| action.name.clone());
    AgentInfo {
        name: agent.name.clone(),
        variables: agent.variables.iter().map(variable).collect(),
        actions: actions.filter(|action| !action.is_empty()).collect(),
        sees: agent.sees.iter().filter(is_own).map(|id| system.full_name(*id)).collect(),
    }
}

fn domain(system: &System, id: VarId) -> String {
    let domain = &system.variable(id).domain;
    let n_values = u64::try_from(domain.size()).unwrap_or(u64::MAX);
    if n_values == 0 {
        return String::new();
    }
    let text = |code: u64| system.value_text(id, domain.value(code));
    let is_range = text(0).parse::<i64>().is_ok();
    match n_values {
        2 if text(0) == "false" => "boolean".to_string(),
        n if is_range => format!("{}..{}", text(0), text(n - 1)),
        n => {
            let listed = n.min(MAX_LISTED_VALUES as u64);
            let names: Vec<String> = (0..listed).map(text).collect();
            let more = if listed < n { ", .." } else { "" };
            format!("{}{more}", names.join(", "))
        }
    }
}

fn bdi_domain(domain: &masque_driver::bdi::model::Domain) -> String {
    use masque_driver::bdi::model::Domain;
    match domain {
        Domain::Bool => "boolean".to_string(),
        Domain::Range(low, high) => format!("{low}..{high}"),
        Domain::Enum(names) => names.join(", "),
    }
}

/// The data of a check.
pub(crate) fn check_info(loaded: &Loaded, run: &Run) -> CheckInfo {
    let verdict = |decision: &Decision| VerdictInfo {
        word: decision.verdict.word().to_string(),
        reason: decision.verdict.reason().map(str::to_string),
        milliseconds: u64::try_from(decision.time.as_millis()).unwrap_or(u64::MAX),
        has_evidence: decision.evidence.is_some(),
        remarks: decision.remarks.clone(),
    };
    let withheld = run.decisions.iter().filter_map(|decision| decision.withheld.clone());
    CheckInfo {
        summary: check_summary(Subject { loaded, run: Some(run) }),
        states: run.states.as_ref().map(ToString::to_string),
        verdicts: run.decisions.iter().map(verdict).collect(),
        findings: run.findings.iter().map(|finding| finding_info(loaded, finding)).collect(),
        milliseconds: u64::try_from(run.time.as_millis()).unwrap_or(u64::MAX),
        bugs: run.bugs.iter().cloned().chain(withheld).chain(run.cluster_error.clone()).collect(),
    }
}

fn finding_info(loaded: &Loaded, finding: &Finding) -> DiagnosticInfo {
    let run = loaded.system().zip(finding.path.as_ref()).map(|(system, path)| NamedRun {
        states: path.states.iter().map(|state| state_values(system, state)).collect(),
        steps: path.actions.iter().map(|joint| joint_action(system, joint)).collect(),
    });
    DiagnosticInfo { run, ..diagnostic(&loaded.sources, &finding.diagnostic) }
}

fn joint_action(system: &System, joint: &masque_driver::JointAction) -> TraceAction {
    let named = system.agents.iter().zip(joint);
    let named = named.map(|(agent, action)| (agent.name.clone(), agent.actions[action.index()].name.clone()));
    TraceAction::Joint(named.filter(|(_, action)| !action.is_empty()).collect())
}

/// The limits of one request: the time that the user allows, or else `default_time`.
pub(crate) fn request_limits(base: &Limits, time: Option<std::time::Duration>) -> Limits {
    let deadline = time.and_then(|time| std::time::Instant::now().checked_add(time));
    Limits { deadline, ..base.clone() }
}
