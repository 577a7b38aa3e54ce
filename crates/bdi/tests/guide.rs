//! The tables of the language guide: their figures are right. The tests of the driver check its examples.

use masque_bdi::outcome::Status;
use masque_bdi::run;
use masque_verdict::{Budget, Show};

const GUIDE: &str = include_str!("../../../docs/bdi.md");

/// The table of Example 1, against the files.
#[test]
fn example_1_is_as_the_table_says() {
    let mut n_rows = 0;
    for row in GUIDE.lines().filter(|line| line.starts_with("| `news_")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let name = cells[0].split('`').nth(1).unwrap();
        let path = format!("{}/../../models/bdi/{name}", env!("CARGO_MANIFEST_DIR"));
        let (model, plan) = crate::support::model(&std::fs::read_to_string(path).unwrap(), &[]);
        let found = run(&model, &plan, Show::Failed, &Budget::default(), &mut |_, _| {});
        let world = |path: &str| {
            let id = plan.paths.iter().find(|p| p.text == path).unwrap().world;
            let world = &found.worlds.as_ref().unwrap()[id.index()];
            if world.status == Status::Ok {
                format!("{} of {}", world.kept, world.built)
            } else {
                "removed".to_string()
            }
        };
        let index = |name: &str| model.properties.iter().position(|p| p.name == name).unwrap();
        let verdict = |name: &str| found.properties[index(name)].verdict.to_string();
        assert_eq!(cells[1].trim_end_matches(" states"), world("snd"), "{name}");
        assert_eq!(cells[2], world("protocol"), "{name}");
        assert_eq!([cells[3], cells[4].trim_end_matches(" |")], [verdict("P1"), verdict("P2")], "{name}");
        n_rows += 1;
    }
    assert_eq!(n_rows, 3);
}

/// Commitments are the formulas that the table gives.
#[test]
fn commitments_mean_what_the_table_says() {
    let agents = "agent a is loop B(i, f) := any, g := any endloop\nagent i is loop f := any endloop\n";
    let (_, table) = GUIDE.split_once("### Commitment").unwrap();
    let mut n_rows = 0;
    for row in
        table.lines().skip_while(|line| !line.starts_with("| `")).take_while(|line| line.starts_with('|'))
    {
        let cells: Vec<String> = row.split('`').map(|cell| cell.replace("\\|", "|")).collect();
        let (written, meaning) = (&cells[1], &cells[3]);
        let text = format!("{agents}property x: {written};\nproperty y: {meaning};\n");
        let (model, _) = crate::support::model(&text, &[]);
        let formula = |p: usize| match model.properties[p].question {
            masque_bdi::model::Question::Formula(formula) => formula,
            _ => panic!("{text}"),
        };
        assert_eq!(formula(0), formula(1), "{text}");
        n_rows += 1;
    }
    assert_eq!(n_rows, 4);
}
