// The script of the pages. Every page works without it, by plain links and forms. With it, a part of a page is
// replaced instead of the whole, drawings can be zoomed, and keys move along runs.

const base = document.body.dataset.base;
const main = () => document.getElementById("main");

// Shows what the user waits for, with a button to cancel, if it takes a while.
let waiting = 0;
let busyTimer = 0;
function begin() {
  waiting += 1;
  if (waiting === 1) busyTimer = setTimeout(() => { document.getElementById("busy").hidden = false; }, 400);
}
function end() {
  waiting -= 1;
  if (waiting === 0) {
    clearTimeout(busyTimer);
    document.getElementById("busy").hidden = true;
  }
}

// Replaces the main part of the page by that of another, and keeps the place: what is scrolled, open, typed and
// focused. Elements with the same `data-keep` stay as they are.
function replaceMain(text, isSamePage) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const next = page.getElementById("main");
  if (!next) return;
  const old = main();
  const scrolled = new Map();
  if (isSamePage) {
    for (const element of old.querySelectorAll("[data-scroll]")) scrolled.set(element.dataset.scroll, [element.scrollLeft, element.scrollTop]);
    const kept = new Map();
    for (const element of old.querySelectorAll("[data-keep]")) kept.set(element.dataset.keep, element);
    for (const element of next.querySelectorAll("[data-keep]")) {
      const known = kept.get(element.dataset.keep);
      if (known) element.replaceWith(known);
    }
    for (const element of old.querySelectorAll("details[id]")) {
      const same = next.querySelector(`details[id="${CSS.escape(element.id)}"]`);
      if (same) same.open = element.open;
    }
  }
  const active = document.activeElement;
  const focus = active && old.contains(active) ? { id: active.id, key: active.dataset.key, value: active.value } : null;
  const [x, y] = [window.scrollX, window.scrollY];
  old.replaceWith(document.adoptNode(next));
  const status = page.getElementById("status");
  if (status) document.getElementById("status").replaceWith(document.adoptNode(status));
  // The parts depend on the language, which is known when the model is loaded.
  const [parts, newParts] = [document, page].map((one) => one.querySelector("header nav"));
  if (newParts && parts.innerHTML !== newParts.innerHTML) parts.replaceChildren(...newParts.childNodes);
  document.title = page.title;
  if (isSamePage) {
    for (const element of main().querySelectorAll("[data-scroll]")) {
      const [left, top] = scrolled.get(element.dataset.scroll) ?? [0, 0];
      element.scrollTo(left, top);
    }
    window.scrollTo(x, y);
  } else {
    window.scrollTo(0, 0);
  }
  restoreFocus(focus);
  prepare();
}

function restoreFocus(focus) {
  if (!focus) return;
  const same = focus.id ? document.getElementById(focus.id)
    : focus.key ? main().querySelector(`[data-key="${CSS.escape(focus.key)}"]`) : null;
  if (!same) return;
  if (same.type === "text" && focus.value && same.id !== "formula") same.value = focus.value;
  same.focus({ preventScroll: true });
}

async function load(address, options, isSamePage) {
  begin();
  try {
    const response = await fetch(address, options);
    if (!response.ok) throw new Error(await response.text());
    const text = await response.text();
    if (response.url && response.url !== location.href) history.pushState(null, "", response.url);
    replaceMain(text, isSamePage);
  } catch (error) {
    showProblem(error.message);
  } finally {
    end();
  }
}

function showProblem(text) {
  const note = document.createElement("p");
  note.className = "note fails";
  note.setAttribute("role", "alert");
  note.textContent = text || "The page cannot reach masque. Is it still running?";
  main().prepend(note);
}

const pathOf = (address) => new URL(address, location.href).pathname;

function sendForm(form, button) {
  const action = button?.formAction && button.hasAttribute("formaction") ? button.formAction : form.action;
  const fields = new URLSearchParams(new FormData(form));
  if (form.method === "get") {
    const address = new URL(action);
    address.search = fields;
    return load(address, {}, true);
  }
  return load(action, { method: "post", body: fields }, true);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.hasAttribute("data-quiet")) {
    event.preventDefault();
    fetch(form.action, { method: "post", redirect: "manual" });
  } else if (form.hasAttribute("data-swap")) {
    event.preventDefault();
    sendForm(form, event.submitter);
  }
});

document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-on-change]");
  if (form) sendForm(form);
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-swap]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    const address = link.href.baseVal ?? link.getAttribute("href");
    load(new URL(address, location.href), {}, pathOf(address) === location.pathname);
    return;
  }
  const inspected = event.target.closest("#inspector a[data-inspect]");
  if (inspected && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    const query = new URL(inspected.href).searchParams;
    selectState(Number(query.get("state")), undefined, query.get("why"));
    return;
  }
  const node = event.target.closest(".graph-drawing a[data-state]");
  if (node && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    selectNode(node);
    return;
  }
  const state = event.target.closest(".evidence g.state[data-state]");
  if (state) selectState(Number(state.dataset.state));
});

window.addEventListener("popstate", () => load(location.href, {}, false));

// Keys: an element with `data-key` is pressed by its key, unless the user types.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target;
  const isTyping = target.closest("input:not([type=range]), select, textarea");
  if (isTyping || target.closest(".drawing, [data-scroll], pre")) return;
  const pressed = main().querySelector(`[data-key="${CSS.escape(event.key)}"]:not(:disabled)`);
  if (pressed) {
    event.preventDefault();
    pressed.click();
    return;
  }
  const slider = main().querySelector(".run[data-current] input[type=range]") ?? main().querySelector(".run input[type=range]");
  if (slider && target !== slider && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
    event.preventDefault();
    slider.value = Number(slider.value) + (event.key === "ArrowRight" ? 1 : -1);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  }
});

// State graph: a click replaces the description of the state, not the drawing.
let nodeSelection = 0;
async function selectNode(link) {
  const place = document.getElementById("graph-state");
  const address = new URL(link.getAttribute("href"), location.href);
  for (const other of main().querySelectorAll(".graph-drawing .selected")) other.classList.remove("selected");
  link.querySelector(".node").classList.add("selected");
  history.replaceState(null, "", address);
  const part = new URL(address);
  part.pathname += "/state";
  nodeSelection += 1;
  const own = nodeSelection;
  begin();
  try {
    const text = await (await fetch(part)).text();
    if (own === nodeSelection && place) place.innerHTML = text;
  } catch {
    showProblem();
  } finally {
    end();
  }
}

// Evidence: a slider selects the states of a run, a click a state of the drawing.
let selection = 0;
async function selectState(state, before, why) {
  const evidence = main().querySelector(".evidence");
  const place = document.getElementById("inspector");
  if (!evidence || !place) return;
  place.dataset.selected = state;
  markSelected();
  placeSliders(state);
  history.replaceState(null, "", `${base}/evidence/${evidence.dataset.property}?state=${state}`);
  const card = evidence.querySelector("g.state.selected");
  if (card) card.scrollIntoView({ block: "nearest", inline: "nearest" });
  const address = `${base}/evidence/${evidence.dataset.property}/state/${state}?${before === undefined ? "" : `before=${before}`}${why ? `&why=${encodeURIComponent(why)}` : ""}`;
  selection += 1;
  const own = selection;
  begin();
  try {
    const response = await fetch(address);
    const text = await response.text();
    // A newer selection may have overtaken this one.
    if (own === selection) place.innerHTML = text;
  } catch {
    showProblem();
  } finally {
    end();
  }
}

// Marks the cards of the selected state in the drawings.
function markSelected() {
  const selected = document.getElementById("inspector")?.dataset.selected;
  for (const card of main().querySelectorAll(".evidence g.state")) card.classList.toggle("selected", card.dataset.state === selected);
}

// Moves the sliders to the step of a state. A slider that is there already stays, since a run may visit it twice.
function placeSliders(state) {
  const runs = [...main().querySelectorAll(".evidence .run")];
  const statesOf = (run) => run.dataset.states.split(" ").map(Number);
  const current = runs.find((run) => "current" in run.dataset && statesOf(run).includes(state)) ?? runs.find((run) => statesOf(run).includes(state));
  for (const run of runs) {
    const [states, slider] = [statesOf(run), run.querySelector("input")];
    if (states[slider.value] !== state) slider.value = Math.max(0, states.indexOf(state));
    run.querySelector("output").textContent = `step ${slider.value} of ${states.length - 1}`;
    run.toggleAttribute("data-current", run === current);
  }
}

document.addEventListener("input", (event) => {
  const run = event.target.closest(".run");
  if (!run) return;
  const states = run.dataset.states.split(" ").map(Number);
  const at = Number(event.target.value);
  for (const other of main().querySelectorAll(".run")) other.toggleAttribute("data-current", other === run);
  selectState(states[at], at > 0 ? states[at - 1] : undefined);
});

// Drawings: zoom by buttons, by Ctrl and the wheel, and by the keys + - 0; drag to move.
function prepareDrawing(drawing) {
  const svg = drawing.querySelector("svg");
  if (!svg || drawing.dataset.ready) return;
  drawing.dataset.ready = "1";
  const width = svg.viewBox.baseVal.width || svg.width.baseVal.value;
  const height = svg.viewBox.baseVal.height || svg.height.baseVal.value;
  if (!svg.hasAttribute("viewBox")) svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  let zoom = 1;
  const set = (next, at) => {
    const old = zoom;
    zoom = Math.min(4, Math.max(0.1, next));
    svg.setAttribute("width", width * zoom);
    svg.setAttribute("height", height * zoom);
    const [x, y] = at ?? [drawing.clientWidth / 2, drawing.clientHeight / 2];
    drawing.scrollLeft = (drawing.scrollLeft + x) * zoom / old - x;
    drawing.scrollTop = (drawing.scrollTop + y) * zoom / old - y;
  };
  const fit = () => Math.min(1, drawing.clientWidth / width, Math.max(300, window.innerHeight * 0.7) / height);
  const bar = document.createElement("div");
  bar.className = "zoom";
  for (const [label, title, act] of [["+", "Zoom in", () => set(zoom * 1.25)], ["−", "Zoom out", () => set(zoom / 1.25)], ["fit", "Fit the width", () => set(fit())], ["1:1", "Original size", () => set(1)]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.title = title;
    button.addEventListener("click", act);
    bar.append(button);
  }
  drawing.before(bar);
  drawing.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = drawing.getBoundingClientRect();
    set(zoom * (event.deltaY < 0 ? 1.1 : 1 / 1.1), [event.clientX - box.left, event.clientY - box.top]);
  }, { passive: false });
  drawing.addEventListener("keydown", (event) => {
    const act = { "+": () => set(zoom * 1.25), "=": () => set(zoom * 1.25), "-": () => set(zoom / 1.25), "0": () => set(1) }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  let drag = null;
  drawing.addEventListener("pointerdown", (event) => {
    if (event.button === 0 && event.pointerType === "mouse") drag = [event.clientX + drawing.scrollLeft, event.clientY + drawing.scrollTop];
  });
  window.addEventListener("pointermove", (event) => {
    if (!drag) return;
    drawing.classList.add("dragged");
    drawing.scrollLeft = drag[0] - event.clientX;
    drawing.scrollTop = drag[1] - event.clientY;
  });
  window.addEventListener("pointerup", () => { drag = null; drawing.classList.remove("dragged"); });
  for (const card of svg.querySelectorAll("g.state[data-state]")) {
    card.setAttribute("tabindex", "0");
    card.setAttribute("role", "button");
    card.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); selectState(Number(card.dataset.state)); }
    });
  }
  if (drawing.classList.contains("graph-drawing")) set(Math.max(0.35, Math.min(1, drawing.clientWidth / width)), [0, 0]);
}

function prepare() {
  for (const drawing of main().querySelectorAll(".drawing")) prepareDrawing(drawing);
  markSelected();
}

// Progress and changes. A browser opens few connections to one server, so only the pages that can be seen hold one.
let events = null;
function listen() {
  if (events || document.hidden) return;
  events = new EventSource(`${base}/events`);
  // The first event after a connection says which revision is the newest; the page may be older.
  events.addEventListener("changed", (event) => {
    if (event.data !== main().dataset.revision) load(location.href, {}, true);
  });
  events.addEventListener("progress", (event) => showProgress(event.data));
}
// The button to cancel stays the same element, so that a click that has begun still reaches it.
function showProgress(html) {
  const place = document.getElementById("progress");
  if (!place) return;
  const template = document.createElement("template");
  template.innerHTML = html;
  const [old, next] = [place, template.content].map((root) => [...(root.querySelector(".busy:has(form)")?.children ?? [])]);
  if (old.length === 0 || old.length !== next.length) return place.replaceChildren(template.content);
  old.forEach((part, index) => part.tagName === "FORM" || part.replaceWith(next[index]));
}
function stopListening() {
  events?.close();
  events = null;
}

// Each tab has its own walk, by the number in its address. A duplicate of an open tab asks for a number of its own.
const own = `${Date.now()}-${Math.random()}`;
let tabs = null;
function joinTabs() {
  if (tabs) return;
  tabs = new BroadcastChannel(`masque ${base}`);
  tabs.addEventListener("message", ({ data }) => {
    if (data.from) tabs.postMessage({ taken: data.from });
    if (data.taken === own) location.replace(`${base}/copy?to=${encodeURIComponent(location.href.slice(location.origin.length + base.length))}`);
  });
  tabs.postMessage({ from: own });
}
function leaveTabs() {
  tabs?.close();
  tabs = null;
}
window.addEventListener("pagehide", () => { stopListening(); leaveTabs(); });
window.addEventListener("pageshow", (event) => { listen(); if (event.persisted) joinTabs(); });
document.addEventListener("visibilitychange", () => (document.hidden ? stopListening() : listen()));

prepare();
listen();
joinTabs();
