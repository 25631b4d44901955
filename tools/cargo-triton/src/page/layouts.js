// Drawings of layouts, by thread, and of shared memory, by bank.

const BANK_COUNT = 32;
const AXIS = 26; // pixels of the numbers beside a drawing

// The element that register, lane, or warp `index` stands for: the bases at its set bits, by XOR.
function element(list, index) {
  return list.reduce((sum, base, bit) => (index & (1 << bit) ? sum ^ base : sum), 0);
}

function coordinates(shape, index) {
  const at = [];
  for (const extent of [...shape].reverse()) {
    at.unshift(index % extent);
    index = Math.floor(index / extent);
  }
  return `(${at.join(", ")})`;
}

// Row-major elements stay in order when a long row is cut: its halves lie one below the other.
function rowsAndColumns(shape) {
  const count = shape.reduce((product, extent) => product * extent, 1);
  let columns = shape.length ? shape[shape.length - 1] : 1;
  while (columns > 64 && columns % 2 === 0 && columns > 4 * (count / columns)) columns /= 2;
  return [count / columns, columns];
}

function threadGrid(layout) {
  const [rows, columns] = rowsAndColumns(layout.shape);
  const cut = (layout.shape.length ? layout.shape[layout.shape.length - 1] : 1) / columns;
  const [registers, lanes, warps] = [layout.reg, layout.lane, layout.warp].map((list) => 1 << list.length);
  const owners = Array.from({ length: rows * columns }, () => []);
  const of = (w, l, r) => element(layout.reg, r) ^ element(layout.lane, l) ^ element(layout.warp, w);
  const held = (w, l) => [...new Set(Array.from({ length: registers }, (_, r) => of(w, l, r)))];
  for (let w = 0; w < warps; w++)
    for (let l = 0; l < lanes; l++)
      for (let r = 0; r < registers; r++) owners[of(w, l, r)].push([w, l, r]);
  return {
    rows, columns,
    rowLabel: (r) => (r % cut ? "" : r / cut),
    colour: (i, dark) => {
      if (!owners[i].length) return ["transparent", "currentColor"];
      const [w, l] = owners[i][0];
      const light = (dark ? 0.34 : 0.62) + (l / lanes) * 0.32;
      return [`oklch(${light.toFixed(3)} 0.105 ${((w * 360) / warps + 250) % 360})`, light > 0.58 ? "#101418" : "#f4f6f8"];
    },
    label: (i) => (owners[i].length ? `${owners[i][0][2]}/${owners[i][0][1]}` : ""),
    legend: "hue: warp, lightness: lane, label: register/lane" + (cut > 1 ? `; each row of the tile is cut into ${cut}` : ""),
    peers: (i) => (owners[i].length ? held(owners[i][0][0], owners[i][0][1]) : []),
    describe: (i) => {
      const threads = new Map();
      for (const [w, l, r] of owners[i]) {
        const name = `warp ${w}, lane ${l}`;
        threads.set(name, [...(threads.get(name) || []), r]);
      }
      const shown = [...threads].slice(0, 6).map(([name, list]) => `${name}, register${list.length > 1 ? "s" : ""} ${list.join(", ")}`);
      if (threads.size > 6) shown.push(`and ${threads.size - 6} other threads`);
      const first = owners[i][0];
      return [`element ${coordinates(layout.shape, i)}`, ...shown, first ? `that thread holds ${held(first[0], first[1]).length} elements` : "no thread holds it"];
    },
  };
}

function memoryGrid(memory) {
  const rows = memory.offsets.length;
  const columns = rows ? memory.offsets[0].length : 0;
  const offset = (i) => memory.offsets[Math.floor(i / columns)][i % columns];
  const bank = (i) => Math.floor(offset(i) / 4) % BANK_COUNT;
  const all = Array.from({ length: rows * columns }, (_, i) => i);
  return {
    rows, columns,
    rowLabel: (r) => r,
    colour: (i, dark) => [`oklch(${dark ? 0.5 : 0.78} 0.1 ${(bank(i) * 360) / BANK_COUNT})`, dark ? "#f4f6f8" : "#101418"],
    label: (i) => String(bank(i)),
    legend: "hue and label: bank",
    peers: (i) => all.filter((other) => bank(other) === bank(i)),
    describe: (i) => {
      const column = all.filter((other) => other % columns === i % columns);
      return [`row ${Math.floor(i / columns)}, column ${i % columns}`, `byte ${offset(i)}`, `bank ${bank(i)}`,
        `the ${column.length} rows of its column lie in ${new Set(column.map(bank)).size} banks`];
    },
  };
}

// A canvas of cells with a second one above it for what the pointer marks.
function drawGrid(host, grid) {
  if (!grid.rows || !grid.columns) return host.replaceChildren(el("p", { class: "missing" }, "It has no elements to draw."));
  const cells = el("canvas", { "aria-hidden": "true" });
  const over = el("canvas", { class: "over", tabindex: "0", role: "img", "aria-label": `${grid.rows} rows and ${grid.columns} columns; arrow keys move over the cells` });
  const most = Math.max(4, Math.min(40, Math.floor(3000 / Math.max(grid.columns, grid.rows))));
  const size = el("input", { type: "range", min: "2", max: most });
  // A cell fits its drawing into the section, if it can still be seen then.
  const fit = () => {
    const room = Math.min((host.clientWidth - AXIS - 20) / grid.columns, (host.clientHeight - AXIS - 20) / grid.rows);
    return Math.max(grid.rows > 128 ? 3 : 6, Math.min(most, Math.floor(room)));
  };
  const readout = byId("cell");
  let [at, marked] = [0, false];

  const scaled = (canvas) => {
    const cell = Number(size.value);
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [AXIS + grid.columns * cell + 1, AXIS + grid.rows * cell + 1];
    Object.assign(canvas, { width: width * ratio, height: height * ratio });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    context.textAlign = "center";
    context.textBaseline = "middle";
    return [context, cell];
  };
  const place = (i, cell) => [AXIS + (i % grid.columns) * cell, AXIS + Math.floor(i / grid.columns) * cell];

  const draw = () => {
    const [context, cell] = scaled(cells);
    const dark = isDark();
    const gap = cell > 5 ? 1 : 0;
    for (let i = 0; i < grid.rows * grid.columns; i++) {
      const [x, y] = place(i, cell);
      const [fill, ink] = grid.colour(i, dark);
      context.fillStyle = fill;
      context.fillRect(x, y, cell - gap, cell - gap);
      const label = grid.label(i);
      if (cell < Math.max(14, 6 * label.length)) continue;
      context.fillStyle = ink;
      context.font = `${Math.min(10, cell * 0.5)}px ui-monospace, monospace`;
      context.fillText(label, x + cell / 2, y + cell / 2);
    }
    context.fillStyle = getComputedStyle(host).color;
    context.font = "10px ui-monospace, monospace";
    const every = [1, 2, 4, 8, 16, 32, 64].find((n) => n * cell >= 24) || 128;
    for (let c = 0; c < grid.columns; c += every) context.fillText(c, AXIS + (c + 0.5) * cell, AXIS - 10);
    for (let r = 0; r < grid.rows; r += every) context.fillText(grid.rowLabel(r), AXIS / 2, AXIS + (r + 0.5) * cell);
    point(at, marked);
  };

  const point = (i, mark) => {
    [at, marked] = [i, mark];
    const [context, cell] = scaled(over);
    if (mark) {
      context.fillStyle = isDark() ? "#ffffffd0" : "#000000c0";
      const edge = Math.max(1, Math.min(2, cell / 6));
      for (const peer of grid.peers(i)) {
        const [x, y] = place(peer, cell);
        context.fillRect(x, y, cell, cell);
        if (cell > 4) context.clearRect(x + edge, y + edge, cell - 2 * edge - 1, cell - 2 * edge - 1);
      }
      const [x, y] = place(i, cell);
      context.strokeStyle = "#e5484d";
      context.lineWidth = 2;
      context.strokeRect(x, y, cell - 1, cell - 1);
    }
    readout.replaceChildren(...(mark ? grid.describe(i) : ["Point at a cell."]).map((text, n) => el(n ? "div" : "strong", {}, text)));
  };

  over.addEventListener("pointermove", (event) => {
    const cell = Number(size.value);
    const [c, r] = [Math.floor((event.offsetX - AXIS) / cell), Math.floor((event.offsetY - AXIS) / cell)];
    if (c >= 0 && r >= 0 && c < grid.columns && r < grid.rows && at !== r * grid.columns + c) point(r * grid.columns + c, true);
  });
  over.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -grid.columns, ArrowDown: grid.columns }[event.key];
    if (by === undefined || at + by < 0 || at + by >= grid.rows * grid.columns) return;
    event.preventDefault();
    point(at + by, true);
  });
  host.resize = () => {
    if (!size.touched && Number(size.value) !== fit()) {
      size.value = fit();
      draw();
    }
  };
  size.addEventListener("input", () => { size.touched = true; draw(); });
  byId("cell-size").replaceChildren(el("label", {}, "cell ", size), el("span", { class: "quiet" }, grid.legend));
  host.replaceChildren(el("div", { class: "canvases" }, cells, over));
  size.value = fit();
  draw();
}

function usedBy(uses) {
  const items = uses.map(([text, at]) => el("li", {}, el("code", {}, text), " ", at ? sourceLink(at) : ""));
  return [el("h3", {}, "Used by"), items.length ? el("ul", { class: "uses" }, ...items) : el("p", { class: "quiet" }, "nothing")];
}

// The element that each bit of the register, lane, and warp stands for.
function bases(layout) {
  const list = (name) => layout[name].map((base) => (base ? coordinates(layout.shape, base) : "same")).join(" ");
  return ["reg", "lane", "warp"].map((name) => el("p", {}, `${name} `, el("code", {}, list(name))));
}

let redrawLayout = () => {}; // a canvas has no style that a theme could change

function drawLayouts(panel) {
  const all = [
    ...DATA.layouts.map((layout) => ({ ...layout, group: "Registers", grid: threadGrid, more: () => bases(layout) })),
    ...DATA.memories.map((memory) => ({ ...memory, group: "Shared memory", grid: memoryGrid, more: () => [el("p", {}, `${bytes(memory.bytes)}, elements of ${memory.bits} bits`)] })),
  ];
  if (!all.length) return panel.replaceChildren(el("p", { class: "missing" }, "No tile has a layout."));
  const group = (name) => el("optgroup", { label: name }, ...all.flatMap((one, i) => (one.group === name ? [el("option", { value: i }, `${one.name}  ${one.type}`)] : [])));
  const host = el("div", { class: "grid-host" });
  const facts = el("div", {});
  const picker = el("select", { id: "layout", "aria-label": "Layout" }, ...["Registers", "Shared memory"].filter((name) => all.some((one) => one.group === name)).map(group));
  const show = () => {
    const one = all[Number(picker.value)];
    facts.replaceChildren(el("h3", {}, `${one.name} `, el("code", {}, one.type)), el("p", {}, el("code", {}, one.text)), ...one.more(), ...usedBy(one.used));
    drawGrid(host, one.grid(one));
  };
  picker.addEventListener("change", show);
  new ResizeObserver(() => requestAnimationFrame(() => host.resize && host.resize())).observe(host);
  panel.replaceChildren(el("div", { class: "layout-view" }, host,
    el("aside", { "aria-label": "About the layout" }, picker, el("div", { id: "cell-size" }), el("div", { id: "cell", role: "status" }), facts)));
  redrawLayout = show;
  show();
}
