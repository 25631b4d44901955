"use strict";
// The data, makers of elements, and the four panes of code with the links between them.
// The page's script is panes.js, layouts.js, charts.js, and page.js, one after the other.

const DATA = JSON.parse(document.getElementById("data").textContent);
const ROW = 18; // pixels of a line, as in the style
const CHUNK = 100; // lines that are laid out and coloured together

const byId = (id) => document.getElementById(id);
const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const button = (attributes, ...children) => el("button", { type: "button", ...attributes }, ...children);
const svg = (name, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

// Texts become text nodes: no data is read as HTML.
function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value != null && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

function number(value, digits = 1) {
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

const bytes = (count) => (count < 1024 ? `${count} B` : `${number(count / 1024)} KiB`);

// A line of Rust is the key of all links: `file-line`.
const keyOf = (at) => at && `${at[0]}-${at[1]}`;

function sourceLink(at) {
  if (!at) return el("span", { class: "quiet" }, "no line");
  const name = DATA.files[at[0]] ? DATA.files[at[0]].name.split("/").pop() : "?";
  return el("a", { href: `#src-${keyOf(at)}`, "data-column": at[2] }, `${name}:${at[1]}`);
}

// One pattern for each language: the class of a token is that of the group that matched.
const LANGUAGES = {
  src: {
    pattern: /(\/\/.*)|("(?:\\.|[^"\\])*")|(#!?\[[^\]]*\]?)|\b(as|break|const|continue|else|enum|fn|for|if|impl|in|let|loop|match|mod|move|mut|pub|ref|return|self|static|struct|trait|type|unsafe|use|where|while)\b|\b(\d[\w.]*)|\b([A-Z]\w*|[fiu](?:8|16|32|64)|bf16|bool|usize)\b|\b(\w+)(?=!?\(|::<)/g,
    classes: ["comment", "string", "attribute", "keyword", "number", "type", "op"],
  },
  ir: {
    pattern: /(;.*| @\d+:\d+:\d+)|("[^"]*")|(%\d+|#\d+)|\b(v\d+|r\d+)\b|\b((?:ptr<[^>]*>|bf16|bool|f8\w*|[fiu]\d+)(?:\[[\d,]*\])?)|(-?\b\d[\w.]*)|((?:= |^\s*)[a-z][\w.]*)/g,
    classes: ["comment", "string", "attribute", "register", "type", "number", "op"],
  },
  ptx: {
    pattern: /(\/\/.*)|(\$?[\w$]+:)|(^\s*\.[\w.]+|@!?%p\d+)|(%[\w.]+)|(\b0x[\da-fA-F]+|\b0f[\da-fA-F]+|-?\b\d[\w.]*)|((?:^|[\s}])[a-z]\w*(?:\.[\w:]+)+|^\s*(?:ret|bra|exit)\b)/g,
    classes: ["comment", "string", "attribute", "register", "number", "op"],
  },
  sass: {
    pattern: /(\/\*.*?\*\/|\/\/.*)|(\.L\w+:?|`\(.*?\))|(@!?U?P\w+)|\b(U?R(?:\d+|Z)|U?P(?:\d|T)|SR_\w+)\b|(-?\b0x[\da-f]+|-?\b\d[\w.]*)|(\b[A-Z][A-Z0-9]+(?:\.\w+)*)/g,
    classes: ["comment", "string", "attribute", "register", "number", "op"],
  },
};

function colour(node, text, language) {
  const { pattern, classes } = LANGUAGES[language];
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > from) parts.push(text.slice(from, match.index));
    const group = match.findIndex((part, i) => i > 0 && part !== undefined);
    parts.push(el("span", { class: classes[group - 1] }, match[0]));
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push(text.slice(from));
  node.replaceChildren(...parts);
}

// A list of lines that scrolls. A row is {text, label, at, id, class, data}; `id` is null of a row that is no line.
class Pane {
  constructor(id, title, language) {
    Object.assign(this, { id, title, language, rows: [], nodes: [], ids: new Map(), keys: new Map(), weight: 1 });
    this.content = el("div", { class: "content" });
    this.caret = el("div", { class: "caret", hidden: true });
    this.body = el("div", { class: "body", tabindex: "0", role: "listbox", "aria-label": `Lines of ${title}` }, this.content);
    this.ruler = el("canvas", { class: "ruler", "aria-hidden": "true" });
    this.count = el("span", { class: "quiet" });
    this.head = el("div", { class: "pane-head" }, el("h2", {}, title), this.count);
    this.root = el("section", { class: "pane", id: `pane-${id}`, "aria-label": title }, this.head, el("div", { class: "pane-body" }, this.body, this.ruler));
    this.body.addEventListener("click", (event) => this.on(event, true));
    this.body.addEventListener("pointerover", (event) => this.on(event, false));
    this.body.addEventListener("focus", () => activate(this));
    this.ruler.addEventListener("click", (event) => {
      this.body.scrollTop = (event.offsetY / this.ruler.clientHeight) * this.body.scrollHeight - this.body.clientHeight / 2;
    });
    new ResizeObserver(() => this.drawRuler()).observe(this.ruler);
    this.observer = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) this.colourChunk(entry.target);
    }, { root: this.body, rootMargin: "400px 0px" });
  }

  on(event, pin) {
    const node = event.target.closest(".ln");
    if (!node || node.index === undefined) return;
    if (pin) select(this, node.index, true);
    else hover(this, node.index);
  }

  show(rows, missing) {
    this.observer.disconnect();
    this.rows = rows;
    this.nodes = [];
    this.ids.clear();
    this.keys.clear();
    const longest = rows.reduce((most, row) => Math.max(most, row.text.length), 0);
    const digits = rows.reduce((most, row) => Math.max(most, String(row.label).length), 2);
    this.content.style.setProperty("--digits", digits);
    this.content.style.setProperty("--longest", longest);
    const chunks = [];
    for (let from = 0; from < rows.length; from += CHUNK) {
      const part = rows.slice(from, from + CHUNK);
      const chunk = el("div", { class: "chunk", role: "presentation", style: `--lines:${part.length}` });
      chunk.from = from;
      for (const [i, row] of part.entries()) chunk.append(this.line(row, from + i));
      this.observer.observe(chunk);
      chunks.push(chunk);
    }
    this.content.replaceChildren(...(rows.length ? chunks : [el("p", { class: "missing" }, missing || "No lines.")]), this.caret);
    this.showCount(0);
    this.drawRuler();
  }

  showCount(linked) {
    this.count.textContent = this.rows.length ? `${number(this.ids.size)} lines${linked ? `, ${number(linked)} linked` : ""}` : "";
  }

  line(row, index) {
    const key = keyOf(row.at);
    const band = key && BANDS.has(key) ? ` band band${BANDS.get(key) % 6}` : "";
    const node = el("div", { class: `ln${band}${row.class ? ` ${row.class}` : ""}`, role: row.class === "file" ? "presentation" : "option", id: row.id, "data-n": row.label, ...row.data }, row.text);
    node.index = index;
    this.nodes.push(node);
    if (row.id) this.ids.set(row.id, index);
    if (key && row.id) {
      if (!this.keys.has(key)) this.keys.set(key, []);
      this.keys.get(key).push(index);
    }
    return node;
  }

  colourChunk(chunk) {
    this.observer.unobserve(chunk);
    for (const node of chunk.children) if (!node.classList.contains("file")) colour(node, this.rows[node.index].text, this.language);
  }

  // Scrolls only if the line is out of sight, and leaves some lines above it.
  reveal(index) {
    const top = index * ROW;
    const height = this.body.clientHeight;
    if (top < this.body.scrollTop || top + ROW > this.body.scrollTop + height) this.body.scrollTop = top - height / 4;
  }

  // Underlines the word of Rust at a column.
  point(index, column) {
    this.caret.hidden = !column;
    if (!column) return;
    const word = /^(\w+|.)/.exec(this.rows[index].text.slice(column - 1));
    this.caret.style.top = `${index * ROW}px`;
    this.caret.style.setProperty("--column", column - 1);
    this.caret.style.setProperty("--width", word ? word[0].length : 1);
  }

  drawRuler() {
    const { clientWidth: width, clientHeight: height } = this.ruler;
    const context = this.ruler.getContext("2d");
    this.ruler.width = width;
    this.ruler.height = height;
    if (!this.rows.length || !height) return;
    const style = getComputedStyle(this.ruler);
    const mark = (indices, colour) => {
      context.fillStyle = colour;
      for (const i of indices) context.fillRect(0, Math.floor((i / this.rows.length) * height), width, Math.max(2, height / this.rows.length));
    };
    mark(this.rows.flatMap((row, i) => (row.class === "new" ? [i] : [])), style.borderLeftColor);
    mark(this.keys.get(marks.key) || [], style.color);
    mark(search.hits.filter((hit) => hit[0] === this).map((hit) => hit[1]), style.outlineColor);
  }
}

// Lines of Rust with links have a coloured band in each pane, six colours in turn.
const BANDS = (() => {
  const keys = new Map();
  const lists = [DATA.ptx, DATA.sass, ...DATA.passes.map((pass) => pass.lines)];
  for (const list of lists) for (const [, at] of list) if (at) keys.set(keyOf(at), at);
  const order = [...keys.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return new Map(order.map((at, i) => [keyOf(at), i]));
})();

const marks = { key: null, column: null, nodes: [], pinned: null, selected: null };
const search = { hits: [], now: -1 };
const PANES = [new Pane("src", "Rust", "src"), new Pane("ir", "Tile IR", "ir"), new Pane("ptx", "PTX", "ptx"), new Pane("sass", "SASS", "sass")];
const pane = (id) => PANES.find((one) => one.id === id);
let active = PANES[0];

function activate(next) {
  active = next;
  for (const one of PANES) one.root.classList.toggle("active", one === next);
}

// Marks all lines of one line of Rust; those of the same column are marked stronger.
function mark(key, column, from) {
  const already = key === marks.key && column === marks.column;
  if (!already) {
    for (const node of marks.nodes) node.classList.remove("hit", "exact");
    Object.assign(marks, { key, column, nodes: [] });
  }
  const reveals = [];
  for (const one of PANES) {
    const indices = one.keys.get(key) || [];
    let first = indices[0];
    let exact = false;
    for (const i of indices) {
      const same = column && one.id !== "src" && one.rows[i].at[2] === column;
      if (same && !exact) [first, exact] = [i, true];
      if (already) continue;
      one.nodes[i].classList.add("hit");
      if (same) one.nodes[i].classList.add("exact");
      marks.nodes.push(one.nodes[i]);
    }
    one.showCount(one.id === "src" ? 0 : indices.length);
    if (one.id === "src") one.point(first, first === undefined ? null : column);
    if (one !== from && first !== undefined) reveals.push([one, first]);
  }
  later(() => {
    for (const one of PANES) one.drawRuler();
    for (const [one, i] of reveals) one.reveal(i);
    if (from && from.id !== "src") pane("src").caret.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
}

// Many selections in one frame scroll and draw once.
let waiting = null;
function later(work) {
  if (!waiting) requestAnimationFrame(() => { const last = waiting; waiting = null; last(); });
  waiting = work;
}

function choose(node) {
  if (marks.selected) marks.selected.removeAttribute("aria-selected");
  marks.selected = node;
  if (node) node.setAttribute("aria-selected", "true");
}

function select(from, index, pin) {
  const row = from.rows[index];
  choose(from.nodes[index]);
  if (row.id) from.body.setAttribute("aria-activedescendant", row.id);
  mark(keyOf(row.at), row.at && from.id !== "src" ? row.at[2] : null, from);
  if (!pin) return;
  marks.pinned = [from, index];
  activate(from);
  if (row.id) address(`#${row.id}`);
}

// The page's address names the pinned line. Browsers refuse many changes in a row, so only the last one is made.
let addressing = null;
function address(hash) {
  clearTimeout(addressing);
  addressing = setTimeout(() => history.replaceState(null, "", hash || location.pathname + location.search), 200);
}

// While a line is pinned the pointer moves nothing.
function hover(from, index) {
  if (!marks.pinned && byId("follow").checked) select(from, index, false);
}

function unpin() {
  marks.pinned = null;
  choose(null);
  mark(null, null, null);
  address("");
}

// Goes to an element by its id; false if there is none. A line of a source that is missing is still marked elsewhere.
function go(id, column) {
  const one = PANES.find((each) => each.ids.has(id));
  const source = /^src-(\d+-\d+)$/.exec(id);
  if (!one && !source) return false;
  if (one) {
    if (one.root.hidden) togglePane(one);
    const index = one.ids.get(id);
    select(one, index, true);
    one.reveal(index);
  }
  if (source && (column || !one)) mark(source[1], column, one);
  return true;
}

function step(by) {
  const { rows } = active;
  let index = marks.selected && active.nodes.includes(marks.selected) ? marks.selected.index + by : Math.ceil(active.body.scrollTop / ROW);
  while (rows[index] && !rows[index].id) index += by;
  if (!rows[index]) return;
  select(active, index, true);
  active.reveal(index);
}

function find(text) {
  for (const [one, i] of search.hits) one.nodes[i].classList.remove("found");
  const wanted = text.trim().toLowerCase();
  search.hits = [];
  search.now = -1;
  if (wanted)
    for (const one of PANES)
      if (!one.root.hidden)
        one.rows.forEach((row, i) => { if (row.id && row.text.toLowerCase().includes(wanted)) search.hits.push([one, i]); });
  for (const [one, i] of search.hits) one.nodes[i].classList.add("found");
  for (const one of PANES) one.drawRuler();
  byId("found").textContent = wanted ? `${number(search.hits.length)} found` : "";
}

function findNext(by) {
  const { hits } = search;
  if (!hits.length) return;
  search.now = search.now < 0 && by < 0 ? hits.length - 1 : (search.now + by + hits.length) % hits.length;
  const [one, i] = hits[search.now];
  select(one, i, true);
  one.reveal(i);
  byId("found").textContent = `${search.now + 1} of ${number(hits.length)}`;
}

function togglePane(one) {
  one.root.hidden = !one.root.hidden;
  byId(`show-${one.id}`).setAttribute("aria-pressed", String(!one.root.hidden));
  const shown = PANES.filter((each) => !each.root.hidden);
  for (const each of PANES) each.edge.hidden = each.root.hidden || each === shown[0];
  if (one.root.hidden && active === one && shown.length) activate(shown[0]);
}

// What the panes show: Rust with its costs, the IR after each pass with what the pass changed, PTX and SASS.

const passes = { now: DATA.passes.length - 1, removed: false };

// The last pass up to `index` that has lines: a pass that changed nothing has none.
function passWithLines(index) {
  while (index >= 0 && !DATA.passes[index].changed) index -= 1;
  return index;
}

// Which lines of two lists are in their longest common subsequence.
function common(old, now) {
  const keep = [new Array(old.length).fill(false), new Array(now.length).fill(false)];
  let [start, a, b] = [0, old.length, now.length];
  const both = (i, j) => { keep[0][i] = true; keep[1][j] = true; };
  for (; start < a && start < b && old[start] === now[start]; start++) both(start, start);
  for (; a > start && b > start && old[a - 1] === now[b - 1]; a--, b--) both(a - 1, b - 1);
  const [rows, width] = [a - start, b - start + 1];
  if (rows * width > 16e6) return keep; // such a pass has made everything anew
  const length = new Uint16Array((rows + 1) * width);
  for (let i = rows - 1; i >= 0; i--)
    for (let j = width - 2; j >= 0; j--)
      length[i * width + j] = old[start + i] === now[start + j]
        ? length[(i + 1) * width + j + 1] + 1
        : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
  for (let i = 0, j = 0; i < rows && j < width - 1;) {
    if (old[start + i] === now[start + j]) both(start + i++, start + j++);
    else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) i++;
    else j++;
  }
  return keep;
}

function showPass(index) {
  if (!DATA.passes.length) return pane("ir").show([], "No passes.");
  passes.now = Math.max(0, Math.min(index, DATA.passes.length - 1));
  const pass = DATA.passes[passes.now];
  const now = passWithLines(passes.now);
  const lines = now < 0 ? [] : DATA.passes[now].lines;
  const before = pass.changed ? passWithLines(now - 1) : now;
  const old = before < 0 ? lines : DATA.passes[before].lines;
  const [kept, keep] = common(old.map((line) => line[0]), lines.map((line) => line[0]));
  const rows = [];
  let i = 0;
  const gone = () => { if (passes.removed) rows.push({ text: old[i][0], label: "−", at: old[i][1], id: null, class: "gone" }); i++; };
  for (const [j, [text, at]] of lines.entries()) {
    if (keep[j]) while (!kept[i]) gone();
    rows.push({ text, label: j + 1, at, id: `ir-${j + 1}`, class: keep[j] ? "" : "new" });
    if (keep[j]) i++;
  }
  while (i < old.length) gone();

  const ir = pane("ir");
  ir.show(rows, "No IR.");
  const added = keep.filter((same) => !same).length;
  const lost = kept.filter((same) => !same).length;
  byId("pass").value = String(passes.now);
  byId("pass-change").textContent = !pass.changed ? "changed nothing" : before < 0 ? "the first" : `+${added} −${lost}`;
  byId("pass-doc").textContent = byId("pass-doc").title = `stage ${pass.stage}: ${pass.doc}`;
  byId("pass-strip").childNodes.forEach((tick, i) => tick.classList.toggle("now", i === passes.now));

  find(byId("query").value);
  const changed = rows.findIndex((row) => row.class === "new");
  if (marks.pinned && marks.pinned[0] === ir) marks.pinned = null;
  const { key, column } = marks;
  mark(null, null, null);
  mark(key, column, null);
  if (!key && changed >= 0) ir.reveal(changed);
}

// The next pass that changed something, or the last one of all.
function stepPass(by) {
  let index = passes.now + by;
  while (DATA.passes[index] && !DATA.passes[index].changed) index += by;
  if (DATA.passes[index]) showPass(index);
}

function buildPassPicker() {
  const option = (pass, i) => el("option", { value: i }, `${String(i).padStart(2, " ")} ${pass.changed ? "●" : "○"} ${pass.name}`);
  const tick = (pass, i) => button({ tabindex: "-1", class: pass.changed && "changed", title: `${pass.name}: ${pass.doc}`, "aria-label": pass.name, onclick: () => showPass(i) });
  pane("ir").head.after(el("div", { class: "pane-head passes" },
    button({ "aria-label": "Previous pass", title: "Previous pass that changed something ( [ )", onclick: () => stepPass(-1) }, "◀"),
    el("select", { id: "pass", "aria-label": "Pass", onchange: (event) => showPass(Number(event.target.value)) }, ...DATA.passes.map(option)),
    button({ "aria-label": "Next pass", title: "Next pass that changed something ( ] )", onclick: () => stepPass(1) }, "▶"),
    el("output", { id: "pass-change" }),
    el("label", { class: "check", title: "Show the lines that the pass removed" },
      el("input", { type: "checkbox", id: "removed", onchange: (event) => { passes.removed = event.target.checked; showPass(passes.now); } }), "removed"),
    el("div", { id: "pass-strip" }, ...DATA.passes.map(tick)),
    el("p", { id: "pass-doc", class: "quiet" })));
}

// Cycles of each line of Rust. The cycles of a cost are those of all its times.
function lineCosts() {
  const sums = new Map();
  for (const cost of DATA.costs) if (cost.at) sums.set(keyOf(cost.at), (sums.get(keyOf(cost.at)) || 0) + cost.cycles);
  return sums;
}

function sourceRows() {
  const sums = lineCosts();
  const most = Math.max(...sums.values(), 1);
  const total = DATA.costs.reduce((sum, cost) => sum + cost.cycles, 0);
  const rows = [];
  for (const [f, file] of DATA.files.entries()) {
    rows.push({ text: file.missing ? `${file.name}: ${file.missing}` : file.name, label: "", at: null, id: null, class: "file" });
    for (const [i, text] of file.lines.entries()) {
      const at = [f, file.first + i, null];
      const cycles = sums.get(keyOf(at));
      const share = cycles ? `${Math.max(1, Math.round((cycles / total) * 100))}%` : null;
      rows.push({
        text, label: at[1], at, id: `src-${keyOf(at)}`,
        data: cycles ? { "data-heat": share, title: `${number(cycles)} cycles, ${share} of all`, style: `--share:${(cycles / most).toFixed(3)}` } : {},
      });
    }
  }
  return rows;
}

function showPanes() {
  buildPassPicker();
  const listed = (name) => DATA[name].map(([text, at], i) => ({ text, label: i + 1, at, id: `${name}-${i + 1}` }));
  const source = DATA.files.some((file) => file.lines.length);
  pane("src").show(source ? sourceRows() : [], DATA.files.map((file) => `${file.name}: ${file.missing}`).join(" ") || "No source.");
  pane("ptx").show(listed("ptx"), "No PTX.");
  pane("sass").show(listed("sass"), DATA.sass_missing);
  showPass(passWithLines(DATA.passes.length - 1));
}
