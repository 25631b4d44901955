// The page around the panes: header, edges that resize, sections, keys, and the start.

const isDark = () => {
  const chosen = document.documentElement.style.colorScheme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

const SECTIONS = [
  { id: "advice", title: "Advice", key: "a", draw: drawAdvice },
  { id: "layouts", title: "Layouts", key: "l", draw: drawLayouts },
  { id: "costs", title: "Costs", key: "c", draw: drawCosts },
  { id: "loops", title: "Loops", key: "o", draw: drawLoops },
  { id: "timeline", title: "Timeline", key: "t", draw: drawTimeline },
  { id: "resources", title: "Resources", key: "u", draw: drawResources },
  { id: "roofline", title: "Roofline", key: "r", draw: drawRoofline },
  { id: "images", title: "Images", key: "i", draw: drawImages },
];

// A section is drawn when it is first shown: it needs its width.
function openSection(id, focus) {
  if (byId("main").dataset.dock === "closed") setDock("split");
  for (const one of SECTIONS) {
    const chosen = one.id === id;
    byId(`tab-${one.id}`).setAttribute("aria-selected", String(chosen));
    byId(`tab-${one.id}`).tabIndex = chosen ? 0 : -1;
    byId(one.id).hidden = !chosen;
    if (chosen && !one.drawn) one.draw(byId(one.id));
    if (chosen) one.drawn = true;
  }
  if (focus) byId(`tab-${id}`).focus();
}

// The sections have a part of the page, all of it, or only their bar.
function setDock(state) {
  byId("main").dataset.dock = state;
  for (const one of ["full", "closed"]) byId(`dock-${one}`).setAttribute("aria-pressed", String(state === one));
}

function buildSections() {
  for (const one of SECTIONS) {
    byId("tabs").append(button({ role: "tab", id: `tab-${one.id}`, "aria-controls": one.id, title: `g ${one.key}`, onclick: () => openSection(one.id) }, one.title));
    byId("panels").append(el("section", { role: "tabpanel", id: one.id, "aria-labelledby": `tab-${one.id}`, tabindex: "0", hidden: true }));
  }
  byId("tabs").addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const now = SECTIONS.findIndex((one) => !byId(one.id).hidden);
    openSection(SECTIONS[(now + by + SECTIONS.length) % SECTIONS.length].id, true);
  });
  for (const state of ["full", "closed"])
    byId(`dock-${state}`).addEventListener("click", () => setDock(byId("main").dataset.dock === state ? "split" : state));
}

// Calls `move` with pixels from where a drag began, or with those of an arrow key.
function edge(node, axis, begin, move) {
  node.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    node.setPointerCapture(event.pointerId);
    begin();
    const start = event[`client${axis}`];
    node.onpointermove = (next) => move(next[`client${axis}`] - start);
    node.onpointerup = () => { node.onpointermove = null; };
  });
  node.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -24, ArrowUp: -24, ArrowRight: 24, ArrowDown: 24 }[event.key];
    if (!by) return;
    event.preventDefault();
    begin();
    move(by);
  });
}

function buildEdges() {
  let start = null;
  const dock = byId("dock");
  edge(byId("split"), "Y", () => { setDock("split"); start = dock.clientHeight; }, (by) => {
    const height = Math.max(80, Math.min(byId("main").clientHeight - 120, start - by));
    byId("main").style.setProperty("--dock", `${height}px`);
  });
  for (const [i, one] of PANES.entries()) {
    const shownBefore = () => PANES.slice(0, i).filter((each) => !each.root.hidden).pop();
    one.edge = el("div", { class: "edge", role: "separator", "aria-orientation": "vertical", "aria-label": `Width of ${one.title}`, tabindex: "0", hidden: i === 0 });
    edge(one.edge, "X", () => {
      for (const each of PANES) if (!each.root.hidden) each.weight = each.root.clientWidth;
      start = [shownBefore(), shownBefore().weight, one.weight];
    }, (by) => {
      const [before, left, right] = start;
      const kept = Math.max(80 - left, Math.min(right - 80, by));
      [before.weight, one.weight] = [left + kept, right - kept];
      for (const each of PANES) each.root.style.flexGrow = each.weight;
    });
    byId("source").append(one.edge, one.root);
    byId("panes-shown").append(button({ id: `show-${one.id}`, "aria-pressed": "true", title: `Show or hide ${one.title} (focus: ${i + 1})`, onclick: () => togglePane(one) }, one.title));
  }
}

function focusPane(one) {
  if (one.root.hidden) togglePane(one);
  if (byId("main").dataset.dock === "full") setDock("split");
  one.body.focus({ preventScroll: true });
}

const KEYS = {
  "?": ["these keys", () => byId("help").showModal()],
  j: ["next line of the pane", () => step(1)],
  k: ["previous line", () => step(-1)],
  "]": ["next pass that changed something", () => stepPass(1)],
  "[": ["previous one", () => stepPass(-1)],
  "/": ["search; Enter and Shift+Enter for the next and previous match", () => byId("query").select()],
  Escape: ["let the line go, end the search", () => { byId("query").value = ""; find(""); unpin(); if (document.activeElement === byId("query")) focusPane(active); }],
};
PANES.forEach((one, i) => { KEYS[i + 1] = [one.title, () => focusPane(one)]; });
const AFTER_G = { s: ["go to the source", () => focusPane(active)] };
for (const one of SECTIONS) AFTER_G[one.key] = [`go to ${one.title.toLowerCase()}`, () => openSection(one.id, true)];

let afterG = false;
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  const typing = event.target.matches("input[type=search], select");
  if (typing && event.key !== "Escape") return;
  const inPane = event.target.classList.contains("body");
  const name = inPane && event.key === "ArrowDown" ? "j" : inPane && event.key === "ArrowUp" ? "k" : event.key;
  const work = (afterG ? AFTER_G : KEYS)[name];
  afterG = !afterG && event.key === "g";
  if (!work || event.defaultPrevented) return;
  event.preventDefault();
  work[1]();
}

function followHash() {
  const id = location.hash.slice(1);
  if (SECTIONS.some((one) => one.id === id)) openSection(id);
  else go(id);
}

function start() {
  byId("instance").textContent = DATA.instance;
  const facts = [DATA.image, `${DATA.warps} warps`, DATA.configs > 1 ? `config ${DATA.config} of ${DATA.configs}` : null, DATA.program, `triton ${DATA.version}`];
  byId("facts").textContent = facts.filter(Boolean).join("  ·  ");
  byId("facts").title = byId("facts").textContent;

  buildEdges();
  buildSections();
  setDock("split");
  showPanes();
  if (!DATA.sass.length) togglePane(pane("sass"));
  activate(PANES[0]);

  const keys = [...Object.entries(KEYS), ...Object.entries(AFTER_G).map(([key, entry]) => [`g ${key}`, entry])];
  byId("keys").append(...keys.flatMap(([key, [text]]) => [el("dt", {}, el("kbd", {}, key === "Escape" ? "Esc" : key)), el("dd", {}, text)]));
  byId("help-open").addEventListener("click", KEYS["?"][1]);

  const restyle = () => { redrawLayout(); for (const one of PANES) one.drawRuler(); };
  byId("theme").addEventListener("click", () => {
    document.documentElement.style.colorScheme = isDark() ? "light" : "dark";
    restyle();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);

  byId("query").addEventListener("input", (event) => find(event.target.value));
  byId("query").addEventListener("keydown", (event) => {
    if (event.key === "Enter") findNext(event.shiftKey ? -1 : 1);
  });
  byId("found-next").addEventListener("click", () => findNext(1));
  byId("found-previous").addEventListener("click", () => findNext(-1));

  document.addEventListener("keydown", onKey);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link || !go(link.getAttribute("href").slice(1), Number(link.dataset.column) || null)) return;
    event.preventDefault();
    if (byId("main").dataset.dock === "full") setDock("split");
  });
  addEventListener("hashchange", followHash);
  openSection(DATA.advice.length ? "advice" : "layouts");
  followHash();
}

start();
