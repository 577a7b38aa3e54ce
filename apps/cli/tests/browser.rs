//! The page of `--evidence-format html` in a real browser: states and steps are there, drawn, and
//! nothing lies on top of anything else.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// What the browser found, written into the page by this script.
const MEASURE: &str = r#"<script>
const text = [];
document.querySelectorAll('.drawing svg').forEach((svg, n) => {
  const boxes = [...svg.querySelectorAll('g.state, g.left-out')];
  const rects = boxes.map(g => g.querySelector('rect').getBoundingClientRect());
  const overlaps = rects.filter((a, i) => rects.some((b, j) => i < j && a.left < b.right && b.left < a.right
    && a.top < b.bottom && b.top < a.bottom)).length;
  const spills = boxes.filter((g, i) => [...g.querySelectorAll('text')].some(t => {
    const r = t.getBoundingClientRect(); return r.width === 0 || r.right > rects[i].right || r.bottom > rects[i].bottom;
  })).length;
  const page = svg.getBoundingClientRect();
  const outside = [...svg.querySelectorAll('text')].filter(t => t.getBoundingClientRect().right > page.right + 1).length;
  const drawn = [...svg.querySelectorAll('path.step')].filter(p => p.getTotalLength() > 5).length;
  const dotted = [...svg.querySelectorAll('path.alike')].filter(p => getComputedStyle(p).strokeDasharray !== 'none');
  const colours = new Set(dotted.map(p => getComputedStyle(p).stroke)).size;
  text.push(`drawing ${n}: states ${svg.querySelectorAll('g.state').length}, steps ${drawn}, alike ${dotted.length}, `
    + `colours ${colours}, overlaps ${overlaps}, spills ${spills}, outside ${outside}`);
});
const outside = document.querySelectorAll('[src], link').length;
text.push(`from elsewhere: ${outside}`);
document.body.setAttribute('data-measured', text.join('; '));
</script>"#;

/// A browser on the path that starts.
fn browser() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        let version =
            Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    })
}

/// What the browser measures in the page on a model; none if the browser cannot run here.
fn measured(browser: &str, model: &str, folder: &Path) -> Option<String> {
    let page = folder.join("page.html");
    let output = Command::new(env!("CARGO_BIN_EXE_masque"))
        .args(["check", model, "--evidence-format", "html", "--evidence-out"])
        .arg(&page)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{model}: {}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(&page).unwrap().replace("</body>", &format!("{MEASURE}</body>"));
    fs::write(&page, text).unwrap();
    let dom = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--timeout=10000"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", page.display()))
        .output()
        .ok()?;
    let dom = String::from_utf8_lossy(&dom.stdout).into_owned();
    let (_, rest) = dom.split_once("data-measured=\"")?;
    rest.split_once('"').map(|(found, _)| found.to_string())
}

#[test]
fn a_browser_draws_states_and_steps() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no chromium, chromium-browser or google-chrome on the path");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        // Two runs of six steps from one state, and Bob who cannot tell their ends apart.
        (
            "../../models/ispl/needham_schroeder.ispl",
            "drawing 0: states 13, steps 12, alike 1, colours 1, overlaps 0, spills 0, outside 0; \
             drawing 1: states 7, steps 6, alike 0, colours 0, overlaps 0, spills 0, outside 0",
        ),
        // Four links, each by another agent.
        (
            "tests/models/chain.ispl",
            "drawing 0: states 5, steps 0, alike 4, colours 4, overlaps 0, spills 0, outside 0",
        ),
        // Ten thousand steps, and a loop of as many.
        (
            "tests/models/long.ispl",
            "drawing 0: states 10, steps 10, alike 0, colours 0, overlaps 0, spills 0, outside 0; \
             drawing 1: states 10, steps 11, alike 0, colours 0, overlaps 0, spills 0, outside 0",
        ),
    ];
    for (nth, (model, expected)) in cases.into_iter().enumerate() {
        match measured(browser, model, folder.path()) {
            Some(found) => assert_eq!(found, format!("{expected}; from elsewhere: 0"), "{model}"),
            None if nth == 0 => {
                eprintln!("skipped: {browser} is there, but does not run a page here");
                return;
            }
            None => panic!("{browser} ran one page, and not that of {model}"),
        }
    }
}
