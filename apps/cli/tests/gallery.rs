//! The reports on the models of the gallery.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The models' names, in order.
fn names(root: &Path) -> Vec<String> {
    let mut names: Vec<String> = (fs::read_dir(root.join("models/ispl")).unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".ispl").map(str::to_string))
        .collect();
    names.sort();
    names
}

#[test]
fn reports_on_the_gallery() {
    let root = Path::new("../..");
    for name in names(root) {
        let file = format!("models/ispl/{name}.ispl");
        let output = Command::new(env!("CARGO_BIN_EXE_masque"))
            .args(["check", &file])
            .current_dir(root)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let exit = output.status.code().unwrap();
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(name, format!("{text}[exit {exit}]\n"));
        });
    }
}

/// The numbers in the attributes of an element, in the order of `names`.
fn numbers<const N: usize>(element: &str, names: [&str; N]) -> [f64; N] {
    names.map(|name| {
        let (_, rest) = element.split_once(&format!(" {name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.parse().unwrap()
    })
}

#[test]
fn drawings_of_the_gallery_have_room() {
    let root = Path::new("../..");
    let mut n_drawings = 0;
    for name in names(root) {
        let output = Command::new(env!("CARGO_BIN_EXE_masque"))
            .args([
                "check",
                &format!("models/ispl/{name}.ispl"),
                "--evidence",
                "all",
                "--evidence-format",
                "html",
            ])
            .current_dir(root)
            .output()
            .unwrap();
        let page = String::from_utf8(output.stdout).unwrap();
        let verdicts = page.matches("<section ").count();
        let lines = String::from_utf8(output.stderr).unwrap();
        let reported = lines.lines().take_while(|line| !line.is_empty());
        let reported = reported.filter(|line| !line.starts_with("models/")).count();
        assert_eq!(verdicts, reported, "{name}: standard error has the report");
        for svg in page.split("<svg xmlns=").skip(1).map(|rest| rest.split_once("</svg>").unwrap().0) {
            n_drawings += 1;
            let [width, height] = numbers(svg, ["width", "height"]);
            let cards: Vec<[f64; 4]> = (svg.split("<rect").skip(1))
                .map(|rect| numbers(rect.split_once("/>").unwrap().0, ["x", "y", "width", "height"]))
                .collect();
            assert!(!cards.is_empty(), "{name}");
            for (position, [x, y, w, h]) in cards.iter().enumerate() {
                assert!(x + w <= width && y + h <= height, "{name}: a card outside the drawing");
                let meets =
                    |[x2, y2, w2, h2]: &[f64; 4]| *x < x2 + w2 && *x2 < x + w && *y < y2 + h2 && *y2 < y + h;
                assert!(!cards[..position].iter().any(meets), "{name}: a card on top of another");
            }
        }
    }
    assert!(n_drawings >= 15, "{n_drawings}");
}
