//! The page of `--evidence-format html` in a real browser: states and steps, lifelines and messages
//! are there, drawn, and nothing lies on top of anything else.

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
  const texts = [...svg.querySelectorAll('text')].map(t => t.getBoundingClientRect());
  const meeting = texts.filter((a, i) => texts.some((b, j) => i < j && a.left + 1 < b.right && b.left + 1 < a.right
    && a.top + 4 < b.bottom && b.top + 4 < a.bottom)).length;
  const page = svg.getBoundingClientRect();
  const outside = [...svg.querySelectorAll('text')].filter(t => t.getBoundingClientRect().right > page.right + 1).length;
  const lifelines = [...svg.querySelectorAll('g.lifeline')];
  if (lifelines.length > 0) {
    const long = (path) => path.getTotalLength() > 5;
    const messages = [...svg.querySelectorAll('g.message')].filter(g => long(g.querySelector('path')));
    const arrows = messages.filter(g => getComputedStyle(g.querySelector('path')).markerEnd !== 'none').length;
    const own = [...svg.querySelectorAll('g.own')];
    const spilt = own.filter(g => [...g.querySelectorAll('text')].some(t => {
      const r = t.getBoundingClientRect(), box = g.querySelector('rect').getBoundingClientRect();
      return r.width === 0 || r.left < box.left || r.right > box.right || r.bottom > box.bottom + 1;
    })).length;
    const cut = texts.filter(r => r.left < page.left || r.right > page.right || r.bottom > page.bottom).length;
    text.push(`chart ${n}: lifelines ${lifelines.filter(g => long(g.querySelector('path'))).length}, messages ${messages.length}, `
      + `arrows ${arrows}, own ${own.length}, open ${svg.querySelectorAll('.open').length}, stuck ${svg.querySelectorAll('.stuck').length}, `
      + `loops ${svg.querySelectorAll('.repeated').length}, spills ${spilt}, meeting ${meeting}, cut ${cut}`);
    return;
  }
  const drawn = [...svg.querySelectorAll('path.step')].filter(p => p.getTotalLength() > 5).length;
  const dotted = [...svg.querySelectorAll('path.alike')].filter(p => getComputedStyle(p).strokeDasharray !== 'none');
  const colours = new Set(dotted.map(p => getComputedStyle(p).stroke)).size;
  text.push(`drawing ${n}: states ${svg.querySelectorAll('g.state').length}, steps ${drawn}, alike ${dotted.length}, `
    + `colours ${colours}, overlaps ${overlaps}, spills ${spills}, outside ${outside}, meeting ${meeting}`);
});
const outside = document.querySelectorAll('[src], link').length;
text.push(`from elsewhere: ${outside}`);
document.body.setAttribute('data-measured', text.join('; '));
</script>"#;

/// Writes into the page what a reader of a cut run finds, before and after opening it.
const OPEN_CUT_RUN: &str = r#"<script>
const text = [];
const isVisible = (element) => element.checkVisibility();
const more = [...document.querySelectorAll('details.more')].filter(d => d.querySelector('table'));
const rows = more.map(d => d.querySelectorAll('tbody tr').length);
text.push(`cut ${more.length}, rows ${rows.join(' ')}`);
const seen = (d) => [...d.querySelectorAll('tbody tr')].filter(isVisible).length;
const last = (d) => [...d.querySelectorAll('tbody tr')].pop().querySelector('th').textContent;
text.push(`before ${more.map(seen).join(' ')}`);
more.forEach(d => { const outer = d.parentElement.closest('details'); if (outer) outer.open = true; });
more.forEach(d => d.querySelector('summary').click());
text.push(`after ${more.map(seen).join(' ')}, last ${more.map(last).join(' ')}`);
document.querySelectorAll('details').forEach(d => d.open = true);
const width = document.documentElement.clientWidth;
text.push(`fits ${document.documentElement.scrollWidth <= width}`);
const boxes = [...document.querySelectorAll('body *')].filter(e => !e.closest('.drawing, .scroll, pre, .hidden, .skip'));
const wide = boxes.filter(e => isVisible(e) && e.getBoundingClientRect().right > width + 1);
text.push(`wide ${wide.length}`);
const small = [...document.querySelectorAll('body *')].filter(e => e.childNodes.length && isVisible(e)
  && [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) && parseFloat(getComputedStyle(e).fontSize) < 12);
text.push(`small ${small.length}`);
const levels = [...document.querySelectorAll('h1, h2, h3, h4')].map(h => +h.tagName[1]);
text.push(`headings ${levels.every((l, i) => i === 0 ? l === 1 : l <= levels[i - 1] + 1) && levels.filter(l => l === 1).length === 1}`);
const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
const links = [...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href'));
text.push(`links ${links.length > 0 && links.every(l => l.startsWith('#') && ids.includes(l.slice(1)))} ids ${new Set(ids).size === ids.length}`);
document.body.setAttribute('data-measured', text.join('; '));
</script>"#;

/// The policy that forbids scripts on the page. The tests remove it to measure with one.
const POLICY: &str =
    r#"<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">"#;

/// A browser on the path that starts.
fn browser() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        let version =
            Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    })
}

/// What a script finds in the page on a model, given by files and options, in a window of this width in pixels;
/// `None` if the browser cannot run here.
fn measured(browser: &str, model: &[&str], script: &str, width: usize, folder: &Path) -> Option<String> {
    let page = folder.join("page.html");
    let output = Command::new(env!("CARGO_BIN_EXE_masque"))
        .arg("check")
        .args(model)
        .args(["--evidence-format", "html", "--evidence-out"])
        .arg(&page)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{model:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains(POLICY) && !text.contains("<script"), "the page forbids scripts and has none");
    let text = text.replace(POLICY, "").replace("</body>", &format!("{script}</body>"));
    fs::write(&page, text).unwrap();
    let dom = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--timeout=10000"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("--window-size={width},900"))
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
    check(&[
        // Two paths of six steps from one state, whose ends Bob cannot distinguish.
        (
            &["../../models/ispl/needham_schroeder.ispl"],
            "drawing 0: states 13, steps 12, alike 1, colours 1, overlaps 0, spills 0, outside 0, meeting 0; \
             drawing 1: states 7, steps 6, alike 0, colours 0, overlaps 0, spills 0, outside 0, meeting 0",
        ),
        // Four links, each by another agent.
        (
            &["tests/models/chain.ispl"],
            "drawing 0: states 5, steps 0, alike 4, colours 4, overlaps 0, spills 0, outside 0, meeting 0",
        ),
        // Ten thousand steps, and a loop of as many: both ends, and on a click 250 states at each end.
        (
            &["tests/models/long.ispl"],
            "drawing 0: states 10, steps 10, alike 0, colours 0, overlaps 0, spills 0, outside 0, meeting 0; \
             drawing 1: states 500, steps 500, alike 0, colours 0, overlaps 0, spills 0, outside 0, meeting 0; \
             drawing 2: states 10, steps 11, alike 0, colours 0, overlaps 0, spills 0, outside 0, meeting 0; \
             drawing 3: states 500, steps 501, alike 0, colours 0, overlaps 0, spills 0, outside 0, meeting 0",
        ),
    ]);
}

#[test]
fn a_browser_draws_lifelines_and_messages() {
    const NOTHING_MEETS: &str = "spills 0, meeting 0, cut 0";
    let travel = |files: &[&str]| -> Vec<String> {
        let all = ["travel.lcc", "travel_team.lcc", "rules.pol", "f_customer.lcc", "f_pgp.lcc", "f_x509.lcc"];
        all.iter().chain(files).map(|name| format!("../../models/lcc/{name}")).collect()
    };
    let (fine, stuck) = (travel(&["f_member.lcc"]), travel(&["f_nomember.lcc"]));
    let with = |files: &'static [&'static str], more: &[String]| -> Vec<String> {
        more.iter().cloned().chain(files.iter().map(|word| word.to_string())).collect()
    };
    let cases = [
        // A customer whose payment is refused forever.
        (
            with(&["--property", "inev({in(confirm_booking(_,_)), in(quit)})"], &fine),
            "chart 0: lifelines 6, messages 17, arrows 17, own 9, open 0, stuck 0, loops 1",
        ),
        // The same, where sending and receiving are one step.
        (
            with(
                &["--property", "inev({in(confirm_booking(_,_)), in(quit)})", "--option", "comm=sync"],
                &fine,
            ),
            "chart 0: lifelines 6, messages 17, arrows 17, own 9, open 0, stuck 0, loops 1",
        ),
        // A travel agent who may not ask for hotels, and a customer who waits for them.
        (
            with(&["--property", "AG !deadlock"], &stuck),
            "chart 0: lifelines 5, messages 9, arrows 9, own 4, open 0, stuck 2, loops 0",
        ),
        // A reply that no agent receives.
        (
            with(&["../../models/lcc/m02_or.lcc", "--property", "AG !deadlock"], &[]),
            "chart 0: lifelines 2, messages 2, arrows 1, own 0, open 1, stuck 1, loops 0",
        ),
        // A ball that was thrown before, one that is caught in the next round, a note to oneself.
        (
            with(&["tests/models/ring.lcc"], &[]),
            "chart 0: lifelines 2, messages 4, arrows 3, own 0, open 2, stuck 0, loops 1",
        ),
        // Five hundred events: sixty at each end, and on a click all of them.
        (
            with(&["tests/models/ticks.lcc"], &[]),
            "chart 0: lifelines 2, messages 48, arrows 48, own 25, open 0, stuck 0, loops 0, spills 0, meeting 0, \
             cut 0; chart 1: lifelines 2, messages 200, arrows 200, own 101, open 0, stuck 0, loops 0",
        ),
    ];
    let words: Vec<Vec<&str>> =
        cases.iter().map(|(words, _)| words.iter().map(String::as_str).collect()).collect();
    let expected: Vec<String> = cases.iter().map(|(_, found)| format!("{found}, {NOTHING_MEETS}")).collect();
    let cases: Vec<(&[&str], &str)> =
        words.iter().map(Vec::as_slice).zip(expected.iter().map(String::as_str)).collect();
    check(&cases);
}

/// Compares what a browser finds in the page on each model, if there is a browser.
fn check(cases: &[(&[&str], &str)]) {
    let Some(browser) = browser() else {
        eprintln!("skipped: no chromium, chromium-browser or google-chrome on the path");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (nth, (model, expected)) in cases.iter().enumerate() {
        match measured(browser, model, MEASURE, 1400, folder.path()) {
            Some(found) => assert_eq!(found, format!("{expected}; from elsewhere: 0"), "{model:?}"),
            None if nth == 0 => {
                eprintln!("skipped: {browser} is there, but does not run a page here");
                return;
            }
            None => panic!("{browser} ran one page, and not that of {model:?}"),
        }
    }
}

/// A counterexample of sixty steps with 25 variables of 11 agents: it is cut, and a click shows all of it.
/// Nothing runs out of the page, in a wide window and in a narrow one.
#[test]
fn a_cut_run_is_opened() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no chromium, chromium-browser or google-chrome on the path");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for width in [1400, 500] {
        let Some(found) = measured(browser, &["tests/models/relay.ispl"], OPEN_CUT_RUN, width, folder.path())
        else {
            eprintln!("skipped: {browser} is there, but does not run a page here");
            return;
        };
        let expected = "cut 2, rows 61 61; before 0 0; after 61 61, last #60 #60; fits true; wide 0; small 0; \
                        headings true; links true ids true";
        assert_eq!(found, expected, "{width} pixels");
    }
}
