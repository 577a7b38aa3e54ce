//! The style of a page with evidence, for screens in light and dark and for paper.

/// The style sheet.
pub(crate) const STYLE: &str = r##"
:root { color-scheme: light dark; --ink: #1f2328; --soft: #57606a; --page: #ffffff; --card: #f6f8fa; --edge: #b1bac4;
  --good: #1a7f37; --bad: #cf222e; --open: #8a5a00; --accent: #0550ae; --mark: #fff3bf; }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da5ae; --page: #0d1117; --card: #161b22;
  --edge: #484f58; --good: #3fb950; --bad: #ff7b72; --open: #d29922; --accent: #79c0ff; --mark: #4d3d00; } }
* { box-sizing: border-box; }
html { font-size: 16px; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
header, main, footer { padding: .5rem clamp(.8rem, 2.5vw, 2.5rem); }
footer { color: var(--soft); border-top: 1px solid var(--edge); margin-top: 2rem; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -9999px; } .skip:focus { left: .5rem; top: .5rem; background: var(--page); padding: .3rem .6rem; z-index: 9; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .6rem 0 .2rem; } h2 { font-size: 1.2rem; line-height: 1.35; margin: 2.2rem 0 .4rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; } h2, h3 { border-top: 1px solid var(--edge); padding-top: .8rem; }
p { margin: .5rem 0; } main > article:first-child > h2:first-child { border: 0; margin-top: 0; padding-top: 0; }
section.bare { display: flex; flex-wrap: wrap; align-items: baseline; column-gap: 1rem; } section.bare > :is(h2, h3) { margin: .6rem 0 0; font-size: 1rem; border: 0; padding: 0; }
section.bare > p { margin: 0; color: var(--soft); }
code, pre, svg text, td, th[scope=row] { font-family: "DejaVu Sans Mono", ui-monospace, Menlo, Consolas, monospace; }
code { font-size: .92em; font-weight: 400; }
pre { font-size: .85rem; line-height: 1.45; overflow-x: auto; margin: .5rem 0; }
.verdict { border-radius: 4px; padding: .05em .5em; border: 1px solid; font-weight: 600; white-space: nowrap; }
.verdict.holds { color: var(--good); } .verdict.fails { color: var(--bad); } .verdict.unknown { color: var(--open); }
.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .1rem 1rem; margin: .6rem 0; }
.facts dt { color: var(--soft); } .facts dd { margin: 0; }
.messages { padding-left: 1.2rem; } .severity { font-weight: 700; color: var(--soft); }
.warning .severity { color: var(--open); } .error .severity { color: var(--bad); }
.legend { color: var(--soft); } .key { margin: 0; } .key svg { vertical-align: middle; }
.key.seen { color: var(--good); } .key.differs { color: var(--bad); font-weight: 700; }
.pair { display: flex; flex-wrap: wrap; gap: 1rem 1.5rem; align-items: flex-start; }
.pair > figure { flex: 0 1 auto; } .pair > .beside { flex: 1 1 30rem; }
figure, .beside { margin: 0; min-width: 0; max-width: 100%; }
figcaption { color: var(--soft); margin: .2rem 0; }
.drawing, .scroll { overflow: auto; border: 1px solid var(--edge); border-radius: 8px; max-width: 100%; }
.scroll { max-height: 85vh; } .drawing svg { display: block; }
table { border-collapse: separate; border-spacing: 0; font-size: .85rem; line-height: 1.4; }
caption { text-align: left; color: var(--soft); padding: .3rem .6rem; font-family: system-ui, sans-serif; }
th, td { padding: .15rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid color-mix(in srgb, var(--edge) 45%, transparent); }
.scroll th, .scroll td { white-space: nowrap; overflow-wrap: normal; }
thead th { position: sticky; top: 0; background: var(--card); z-index: 2; font-weight: 600; }
thead tr + tr th { top: 1.65rem; }
th[scope=row] { position: sticky; left: 0; background: var(--card); z-index: 1; color: var(--accent); font-weight: 700; }
thead th:first-child { left: 0; z-index: 3; }
th[scope=colgroup], .lane { border-left: 1px solid var(--edge); }
td.first { border-left: 1px solid var(--edge); }
mark { background: var(--mark); color: inherit; font-weight: 700; border-radius: 3px; padding: 0 .2em; }
mark::before { content: "\2022\00a0"; }
.does { color: var(--soft); } .does::before { content: "\25b8\00a0"; }
tr.left-out td, tr.back td { color: var(--soft); font-style: italic; font-family: system-ui, sans-serif; }
tr.loop th { box-shadow: inset 4px 0 0 var(--accent); }
.overview { width: 100%; } .overview th, .overview td:nth-child(2) { overflow-wrap: normal; }
.overview td:last-child { width: 100%; }
details { margin: .5rem 0; } summary { cursor: pointer; color: var(--accent); padding: .15rem 0; }
details[open] > summary { margin-bottom: .3rem; }
.part { border-left: 3px solid var(--edge); padding-left: .9rem; margin: .6rem 0; }
svg text { font-size: 13px; fill: var(--ink); white-space: pre; }
svg rect { fill: var(--card); stroke: var(--edge); } svg rect.behind { fill: var(--page); stroke: none; fill-opacity: .86; }
svg rect.violated { fill: none; stroke: var(--bad); stroke-width: 2; }
.left-out rect { stroke-dasharray: 4 4; }
svg .number { font-weight: 700; fill: var(--accent); }
svg .seen { fill: var(--good); } svg .differs { fill: var(--bad); font-weight: 700; }
svg .true { fill: var(--good); font-style: italic; } svg .false { fill: var(--bad); font-style: italic; }
svg .doing { fill: var(--soft); } svg .choice { font-weight: 700; }
.lifeline path { fill: none; stroke: var(--edge); stroke-width: 1.3; stroke-dasharray: 5 3; }
.lifeline path.rests { stroke: var(--good); stroke-width: 4; stroke-dasharray: none; }
.lifeline path.stuck { stroke: var(--bad); stroke-width: 2.4; stroke-dasharray: none; }
svg .middle { text-anchor: middle; } svg .end { text-anchor: end; } svg text.left-out { fill: var(--soft); }
svg .label { paint-order: stroke; stroke: var(--page); stroke-width: 5px; stroke-linejoin: round; }
.sent { fill: var(--ink); } .open { fill: var(--page); stroke: var(--ink); stroke-width: 1.3; }
.repeated { --agent: var(--accent); } .repeated .back { fill: none; stroke: var(--accent); stroke-width: 1.6; }
.repeated .bound { fill: none; stroke: var(--accent); stroke-width: .8; stroke-dasharray: 1 4; }
.step { fill: none; stroke: var(--ink); stroke-width: 1.3; } #arrow path { fill: var(--ink); }
path.alike, path.norm { fill: none; stroke-width: 2.2; stroke-dasharray: 2 5; stroke-linecap: round; stroke: var(--agent); }
.norm { --agent: var(--soft); } svg text.name { fill: var(--agent); font-weight: 700; }
.agent-0 { --agent: #0f7ae5; } .agent-1 { --agent: #d1509f; } .agent-2 { --agent: #2c9a4b; } .agent-3 { --agent: #d3670e; }
.agent-4 { --agent: #9564e8; } .agent-5 { --agent: #b08800; } .agent-6 { --agent: #17929b; } .agent-7 { --agent: #e5484d; }
.hidden { position: absolute; width: 0; height: 0; overflow: hidden; }
@media (max-width: 40rem) { .facts { grid-template-columns: 1fr; gap: 0; } .facts dd { margin-bottom: .3rem; }
  .overview td:nth-child(2) { overflow-wrap: anywhere; min-width: 7rem; } th, td { padding: .15rem .4rem; } }
@media print { header, main, footer { padding: 0; } .drawing, .scroll { overflow: visible; border: 0; max-height: none; }
  .drawing svg { max-width: 100%; height: auto; } h1, h2, h3, summary { break-after: avoid; } thead th, th[scope=row] { position: static; }
  .scroll th, .scroll td { white-space: normal; } details::details-content { content-visibility: visible; display: block; } .skip { display: none; } }
"##;
