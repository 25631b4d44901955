// Tables and charts of the sections: costs, loops, timeline, resources, roofline, images.

const KINDS = ["load", "store", "copy", "convert", "dot", "multiply", "wait", "barrier", "reduce"];
const kindClass = (kind) => `kind kind-${KINDS.includes(kind) ? kind : "other"}`;
const swatch = (kind, share = "") => el("span", { class: "legend" }, el("i", { class: kindClass(kind) }), kind, share);
const missing = (text) => el("p", { class: "missing" }, text);

const cell = (...children) => el("td", {}, ...children);
const num = (text) => el("td", { class: "num" }, text);
const wide = (...children) => el("td", { class: "wide" }, ...children);
const bar = (kind, share) => el("td", { class: "bar-cell" }, el("i", { class: kindClass(kind), style: `width:${(share * 100).toFixed(1)}%` }));
const percent = (share) => `${number(share * 100)}%`;
const text = (name, x, y, anchor, content, transform) => svg("text", { class: name, x, y, "text-anchor": anchor, transform }, content);
const rule = (x1, y1, x2, y2, name = "grid") => svg("line", { class: name, x1, y1, x2, y2 });

function table(heads, rows, foot) {
  const head = heads.map((one) => (one.nodeType ? one : el("th", { scope: "col", class: one.startsWith("#") ? "num" : "" }, one.replace(/^#/, ""))));
  return el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows), foot ? el("tfoot", {}, ...foot) : null);
}

function drawCosts(panel) {
  const { costs } = DATA;
  if (!costs.length) return panel.replaceChildren(missing("No operation of this kernel has an estimate."), el("p", {}, DATA.total));
  const total = costs.reduce((sum, cost) => sum + cost.cycles, 0);
  const most = Math.max(...costs.map((cost) => cost.cycles));
  const body = el("tbody", {});
  const row = (cost) => el("tr", { class: `${cost.kind === "convert" ? "convert" : ""}${cost.at ? " clickable" : ""}`, onclick: (event) => {
    if (cost.at && !event.target.closest("a")) go(`src-${keyOf(cost.at)}`, cost.at[2]);
  } },
  num(number(cost.cycles)), num(percent(cost.cycles / total)),
  bar(cost.kind, cost.cycles / most),
  num(`× ${cost.times}`), num(number(cost.cycles / (cost.times || 1))),
  cell(cost.kind), wide(el("code", {}, cost.text)), cell(sourceLink(cost.at)));
  const sorted = (name, order, compare) => {
    const head = el("th", { scope: "col", "aria-sort": "none" }, button({ onclick: () => {
      for (const one of panel.querySelectorAll("th[aria-sort]")) one.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", order);
      body.replaceChildren(...[...costs].sort(compare).map(row));
    } }, name));
    return head;
  };
  const program = sorted("operation, in program order", "ascending", () => 0);
  program.setAttribute("aria-sort", "ascending");
  body.replaceChildren(...costs.map(row));

  const kinds = new Map();
  for (const cost of costs) kinds.set(cost.kind, (kinds.get(cost.kind) || 0) + cost.cycles);
  const ordered = [...kinds].sort((a, b) => b[1] - a[1]);
  const conversions = costs.filter((cost) => cost.kind === "convert");
  const converted = conversions.reduce((sum, cost) => sum + cost.cycles, 0);
  const foot = (name, cycles, text) => el("tr", {}, num(number(cycles)), num(percent(cycles / total)),
    el("td", { colspan: "3" }), cell(name), el("td", { colspan: "2" }, text));
  const whole = table([sorted("cycles", "descending", (a, b) => b.cycles - a.cycles), "#share", "", "#times", "#cycles each", "kind", program, "line"], [],
    [foot("convert", converted, `${conversions.length} conversions between layouts`), foot("total", total, `${costs.length} operations`)]);
  whole.tBodies[0].replaceWith(body);
  panel.replaceChildren(
    el("p", { class: "legends" }, ...ordered.map(([kind, cycles]) => swatch(kind, ` ${percent(cycles / total)}`)), el("strong", {}, DATA.total)),
    whole);
}

function drawAdvice(panel) {
  const rows = DATA.advice.map((one) => el("tr", {}, cell(one.code ?? ""), wide(one.text, ...(one.help ? [el("p", { class: "help" }, one.help)] : [])), cell(sourceLink(one.at))));
  panel.replaceChildren(rows.length ? table(["code", "what is slow here, and how to fix it", "line"], rows) : missing("Nothing is known to be slow in this image."));
}

function drawLoops(panel) {
  const rings = DATA.rings.map((ring) => el("li", {}, ring));
  const loads = DATA.loads.map((load) => el("tr", {}, cell(el("span", { class: load.ahead ? "good" : "poor" }, load.ahead ? "✓ ahead" : "✗ not ahead")),
    wide(load.text), cell(sourceLink(load.at))));
  panel.replaceChildren(
    el("h3", {}, "Rings, clusters and the order of programs"), rings.length ? el("ul", {}, ...rings) : missing("No loop of this kernel fills a ring."),
    el("h3", {}, "Loads in loops"), loads.length ? table(["runs", "load, and why", "line"], loads) : missing("No loop of this kernel loads a tile from memory."));
}

// Round steps of an axis: about `count` of them over a length.
function tickStep(length, count) {
  const rough = length / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
}

function drawTimeline(panel) {
  const { timeline } = DATA;
  if (!timeline) return panel.replaceChildren(missing(DATA.timeline_missing));
  const [LEFT, TOP, LANE] = [110, 22, 24];
  const steps = Math.max(timeline.steps, 1);
  const view = { from: 0, to: steps };
  const readout = el("p", { class: "readout", role: "status" }, "Point at an event. Wheel or + and − zoom, a drag or ← and → move, 0 shows all, a click goes to the PTX.");
  const height = TOP + timeline.lanes.length * LANE + 4;
  const chart = svg("svg", { class: "chart timeline", tabindex: "0", role: "img", height, "aria-label": `Timeline of ${timeline.events.length} events in ${timeline.lanes.length} lanes` });
  const width = () => Math.max(200, panel.clientWidth - 24);
  const scale = () => (width() - LEFT - 8) / (view.to - view.from);
  let drag = null;

  const draw = () => {
    const x = (step) => LEFT + (step - view.from) * scale();
    const parts = [];
    const every = Math.max(1, tickStep(view.to - view.from, 10));
    for (let t = Math.ceil(view.from / every) * every; t <= view.to; t += every)
      parts.push(rule(x(t), TOP - 4, x(t), height), text("axis", x(t), 12, "middle", number(t)));
    const inside = svg("svg", { x: LEFT, y: 0, width: width() - LEFT, height });
    for (const [i, event] of timeline.events.entries()) {
      if (event.to < view.from || event.from > view.to) continue;
      const [left, y] = [x(event.from) - LEFT, TOP + event.lane * LANE];
      const wide = Math.max(1.5, (event.to - event.from) * scale() - 0.5);
      inside.append(svg("rect", { class: kindClass(event.kind), x: left, y: y + 3, width: wide, height: LANE - 6, rx: 2, "data-event": i }));
      const room = Math.floor((wide - 8) / 6.2);
      if (room > 3) inside.append(text("in-bar", Math.max(left, 0) + 4, y + 16, "start", event.text.slice(0, room)));
    }
    timeline.lanes.forEach((lane, i) => parts.push(rule(0, TOP + i * LANE, width(), TOP + i * LANE),
      text("lane", 4, TOP + i * LANE + 16, "start", lane)));
    chart.setAttribute("width", width());
    chart.replaceChildren(...parts, inside);
  };
  const move = (from, length) => {
    const kept = Math.max(Math.min(length, steps), Math.min(steps, 4));
    view.from = Math.max(0, Math.min(from, steps - kept));
    view.to = view.from + kept;
    draw();
  };
  const zoom = (factor, part) => move(view.from + part * (view.to - view.from) * (1 - factor), (view.to - view.from) * factor);
  const eventOf = (event) => timeline.events[event.target.dataset.event];

  chart.addEventListener("wheel", (event) => {
    event.preventDefault();
    const part = Math.max(0, (event.clientX - chart.getBoundingClientRect().left - LEFT) / (width() - LEFT));
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(view.from + (event.deltaX || event.deltaY) / scale(), view.to - view.from);
    else zoom(event.deltaY > 0 ? 1.25 : 0.8, part);
  }, { passive: false });
  chart.addEventListener("keydown", (event) => {
    const length = view.to - view.from;
    const work = { "+": () => zoom(0.7, 0.5), "=": () => zoom(0.7, 0.5), "-": () => zoom(1.4, 0.5), 0: () => move(0, steps),
      ArrowLeft: () => move(view.from - length / 5, length), ArrowRight: () => move(view.from + length / 5, length) }[event.key];
    if (!work) return;
    event.preventDefault();
    work();
  });
  chart.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, from: view.from, moved: false }; });
  chart.addEventListener("pointermove", (event) => {
    if (drag && event.buttons) {
      drag.moved = drag.moved || Math.abs(event.clientX - drag.x) > 3;
      if (drag.moved) return move(drag.from - (event.clientX - drag.x) / scale(), view.to - view.from);
    }
    const one = eventOf(event);
    if (one) readout.replaceChildren(el("strong", {}, one.text), ` ${timeline.lanes[one.lane]}, ${one.kind}, ${one.from} to ${one.to}, ${one.to - one.from} long, `, sourceLink(one.at));
  });
  chart.addEventListener("click", (event) => {
    const one = eventOf(event);
    if (one && !(drag && drag.moved) && !(one.ptx !== null && go(`ptx-${one.ptx + 1}`)) && one.at) go(`src-${keyOf(one.at)}`, one.at[2]);
  });
  new ResizeObserver(() => requestAnimationFrame(draw)).observe(panel);
  const kinds = [...new Set(timeline.events.map((event) => event.kind))];
  panel.replaceChildren(el("p", { class: "legends" }, ...kinds.map((kind) => swatch(kind)), el("span", { class: "quiet" }, timeline.note)), chart, readout);
  draw();
}

// Buffers that share bytes at different times lie in rows of their own.
function drawShared(resources) {
  if (!resources.shared.length) return missing("The kernel has no shared memory.");
  const rows = [];
  for (const buffer of [...resources.shared].sort((a, b) => a.first - b.first)) {
    const row = rows.find((one) => one[one.length - 1].first + one[one.length - 1].bytes <= buffer.first);
    if (row) row.push(buffer);
    else rows.push([buffer]);
  }
  const whole = Math.max(resources.shared_bytes, ...resources.shared.map((one) => one.first + one.bytes), 1);
  const bars = rows.flatMap((row, y) => row.map((one) => el(one.at ? "a" : "span", {
    class: `buffer band${resources.shared.indexOf(one) % 6}`, href: one.at ? `#src-${keyOf(one.at)}` : null, title: `${one.name}: ${one.what}, bytes ${one.first} to ${one.first + one.bytes}`,
    style: `left:${(one.first / whole) * 100}%;width:${(one.bytes / whole) * 100}%;top:${y * 26}px`,
  }, one.name)));
  const list = resources.shared.map((one) => el("tr", {}, cell(el("code", {}, one.name)), cell(one.what), num(number(one.first)), num(number(one.bytes)), cell(sourceLink(one.at))));
  return el("div", {}, el("div", { class: "buffers", style: `height:${rows.length * 26}px` }, ...bars),
    el("div", { class: "ends quiet" }, el("span", {}, "byte 0"), el("span", {}, bytes(whole))),
    table(["buffer", "what", "#first byte", "#bytes", "line"], list));
}

function drawResources(panel) {
  const one = DATA.resources;
  const item = (name, value, note) => el("div", { class: "fact" }, el("dt", {}, name), el("dd", {}, el("strong", {}, value), note ? el("span", { class: "quiet" }, ` ${note}`) : ""));
  const spills = one.spill_bytes === null ? ["unknown", "ask ptxas"] : one.spill_bytes ? [bytes(one.spill_bytes), "to local memory"] : ["none", ""];
  panel.replaceChildren(
    el("dl", { class: "facts" },
      item("Registers", number(one.registers), `a thread, by ${one.registers_by === "ptxas" ? "ptxas" : "an estimate"}`), item("Spills", ...spills),
      item("Threads", number(one.threads), `a block, ${number(one.threads / 32)} warps`), item("Shared memory", bytes(one.shared_bytes), "a block"),
      item("Blocks", number(one.blocks), `a multiprocessor of ${one.machine}`), item("Occupancy", percent(one.occupancy), `limited by ${one.limited_by}`)),
    el("h3", {}, "Shared memory by buffer"), drawShared(one));
}

function rooflineChart(one) {
  const [W, H, L, R, T, B] = [620, 270, 56, 14, 16, 36];
  const intensity = one.flops / one.bytes;
  const reached = one.flops / one.estimate_us / 1e6;
  const roof = (x, tflops, gbps) => Math.min(tflops, (x * gbps) / 1000);
  const ridge = (one.peak_tflops * 1000) / one.peak_gbps;
  const decade = (value, by) => Math.floor(Math.log10(value)) + by;
  const [x0, x1] = [Math.min(decade(intensity, 0), decade(ridge, -1)), Math.max(decade(intensity, 1), decade(ridge, 2))];
  const [y0, y1] = [Math.min(decade(reached, 0), decade(roof(10 ** x0, one.sustained_tflops, one.sustained_gbps), 0)), decade(one.peak_tflops, 1)];
  const x = (value) => L + ((Math.log10(value) - x0) / (x1 - x0)) * (W - L - R);
  const y = (value) => H - B - ((Math.log10(value) - y0) / (y1 - y0)) * (H - T - B);
  const parts = [];
  const digits = (power) => (power < 0 ? (10 ** power).toFixed(-power) : number(10 ** power));
  for (let p = x0; p <= x1; p++) parts.push(rule(x(10 ** p), T, x(10 ** p), H - B), text("axis", x(10 ** p), H - B + 15, "middle", digits(p)));
  for (let p = y0; p <= y1; p++) parts.push(rule(L, y(10 ** p), W - R, y(10 ** p)), text("axis", L - 6, y(10 ** p) + 4, "end", digits(p)));
  parts.push(text("axis", (L + W) / 2, H - 6, "middle", "flops for each byte of memory"),
    text("axis", 12, (T + H - B) / 2, "middle", "Tflop/s", `rotate(-90 12 ${(T + H - B) / 2})`));
  const line = (name, tflops, gbps, below) => {
    const corner = (tflops * 1000) / gbps;
    const start = Math.max(10 ** x0, 10 ** y0 / (gbps / 1000));
    parts.push(svg("polyline", { class: `roof ${name}`, points: [[start, roof(start, tflops, gbps)], [corner, tflops], [10 ** x1, tflops]].map(([a, b]) => `${x(a)},${y(b)}`).join(" ") }));
    parts.push(text(`roof-name ${name}`, W - R - 4, y(tflops) + below, "end", `${name}: ${number(tflops)} Tflop/s, ${number(gbps)} GB/s`));
  };
  line("peak", one.peak_tflops, one.peak_gbps, -5);
  line("sustained", one.sustained_tflops, one.sustained_gbps, 14);
  const limit = roof(intensity, one.sustained_tflops, one.sustained_gbps);
  const left = x(intensity) > W - 150;
  parts.push(rule(x(intensity), y(limit), x(intensity), H - B, "drop"), svg("circle", { class: "launch", cx: x(intensity), cy: y(reached), r: 5 }),
    ...[`${number(reached)} Tflop/s`, `${percent(reached / limit)} of sustained`].map((line, i) => text("launch-name", x(intensity) + (left ? -10 : 10), y(reached) + 16 + 14 * i, left ? "end" : "start", line)));
  return svg("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `Roofline: ${number(reached)} Tflop/s at ${number(intensity)} flops a byte` }, ...parts);
}

function drawRoofline(panel) {
  const one = DATA.roofline;
  if (!one) return panel.replaceChildren(missing(DATA.roofline_missing));
  const longest = Math.max(...one.parts.map((part) => part[1]), 0);
  const row = ([name, us], whole) => el("tr", { class: whole ? "whole" : "" }, el("th", { scope: "row" }, name),
    bar(whole ? "estimate" : us === longest ? "wait" : "load", us / Math.max(one.estimate_us, longest)), num(`${number(us)} µs`));
  panel.replaceChildren(el("div", { class: "roofline" },
    el("figure", {}, one.flops && one.bytes ? rooflineChart(one) : missing("A launch without flops has no place in a roofline.")),
    el("div", {}, el("p", { class: "bound" }, one.bound), el("p", {}, one.launch),
      el("p", { class: "quiet" }, `${one.machine}, ${one.unit}; ${one.flops.toExponential(2)} flops, ${one.bytes.toExponential(2)} bytes at ${number(one.bytes / one.estimate_us / 1000)} GB/s`),
      el("table", {}, el("caption", {}, "Time of each part, were it alone"), el("tbody", {}, ...one.parts.map((part) => row(part, false)), row(["estimate", one.estimate_us], true))))));
}

function drawImages(panel) {
  if (!DATA.images.length) return panel.replaceChildren(missing("The program has no image of this kernel."));
  const taken = (image) => (image.taken === null ? el("span", { class: "quiet" }, "no launch known") : image.taken ? el("span", { class: "good" }, "✓ this launch") : "no");
  const rows = DATA.images.map((image) => el("tr", { class: image.taken ? "taken" : "" },
    cell(el("code", {}, `${image.target} ${image.assumes}${image.programs ? ` ${image.programs}` : ""}`), image.shown ? el("span", { class: "tag" }, "shown here") : ""),
    wide(image.meaning), el("td", { class: "plain" }, taken(image)), wide(image.why),
    num(number(image.threads)), el("td", { class: "plain" }, image.cluster.join(" × ")), num(bytes(image.shared_bytes)), num(bytes(image.ptx_bytes))));
  panel.replaceChildren(table(["image", "what it may assume", "taken", "why", "#threads", "cluster", "#shared", "#PTX"], rows));
}
