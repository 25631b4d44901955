// Checks the links of a page. A test appends this script to the page and reads `#linkcheck` from the DOM that the
// browser prints: `links: N checked, M broken`, and a line for each of the first broken ones.
{
  const data = JSON.parse(document.getElementById("data").textContent);
  const node = (id) => document.getElementById(id);
  const keyOf = (at) => `${at[0]}-${at[1]}`;
  const failures = [];
  let [checked, broken] = [0, 0];
  const check = (holds, what) => {
    checked += 1;
    if (holds) return;
    broken += 1;
    if (failures.length < 20) failures.push(what);
  };
  const hits = () => [...document.querySelectorAll(".ln.hit")].map((one) => one.id).sort().join(" ");
  const missing = (at) => data.files[at[0]] && data.files[at[0]].missing !== null;

  // A hash in the address has chosen its line.
  const hash = location.hash.slice(1);
  if (/^(src-\d+|ir|ptx|sass)-\d+$/.test(hash) && !(hash.startsWith("src") && missing(hash.split("-").slice(1))))
    check(node(hash) && node(hash).getAttribute("aria-selected") === "true", `${hash} of the address is not selected`);

  // Every place that the data names is a line of the source.
  const places = [
    ...[...data.ptx, ...data.sass, ...data.passes.flatMap((pass) => pass.lines)].map((line) => line[1]),
    ...[...data.layouts, ...data.memories].flatMap((one) => one.used.map((use) => use[1])),
    ...[...data.advice, ...data.costs, ...data.loads, ...data.resources.shared, ...(data.timeline ? data.timeline.events : [])].map((one) => one.at),
  ].filter(Boolean);
  for (const at of places) check(missing(at) || node(`src-${keyOf(at)}`), `no source line ${keyOf(at)}`);

  // A click on a source line marks exactly its lines, and one on a line of each place marks it and its source line.
  const expected = new Map();
  const lines = (name, list) => {
    const clicked = new Set();
    for (const [i, [text, at]] of list.entries()) {
      const line = node(`${name}-${i + 1}`);
      check(line && line.textContent === text, `${name}-${i + 1} is not the line of the data`);
      if (!line || !at) continue;
      const source = node(`src-${keyOf(at)}`);
      if (source && !expected.has(source)) expected.set(source, new Set([source.id]));
      if (source) expected.get(source).add(line.id);
      if (clicked.has(String(at))) continue;
      clicked.add(String(at));
      line.click();
      check(line.classList.contains("hit"), `${line.id} does not mark itself`);
      check(missing(at) || (source && source.classList.contains("hit")), `${line.id} does not mark src-${keyOf(at)}`);
    }
  };
  lines("ptx", data.ptx);
  lines("sass", data.sass);
  const outsideIr = new Map([...expected].map(([source, ids]) => [source, [...ids]]));
  data.passes.forEach((pass, i) => {
    if (!pass.changed) return;
    node("pass").value = i;
    node("pass").dispatchEvent(new Event("change"));
    expected.clear();
    for (const [source, ids] of outsideIr) expected.set(source, new Set(ids));
    lines("ir", pass.lines);
    for (const [source, ids] of expected) {
      source.click();
      check(hits() === [...ids].sort().join(" "), `${source.id} does not mark the lines of pass ${pass.name}`);
    }
  });

  // Every link of the sections leads to an element, and every event to a line of PTX.
  for (const tab of document.querySelectorAll("[role=tab]")) tab.click();
  for (const link of document.querySelectorAll("a[href^='#']")) {
    const id = link.getAttribute("href").slice(1);
    const file = /^src-(\d+)/.exec(id);
    check(node(id) || (file && missing([file[1]])), `a link to ${id}`);
  }
  for (const event of data.timeline ? data.timeline.events : [])
    check(event.ptx === null || node(`ptx-${event.ptx + 1}`), `an event at ptx-${event.ptx + 1}`);

  // Nothing is asked of a network.
  check(!document.querySelector("[src], link, [href]:not([href^='#'])"), "the page refers to another file");

  const result = document.createElement("pre");
  result.id = "linkcheck";
  result.textContent = [`links: ${checked} checked, ${broken} broken`, ...failures].join("\n");
  document.body.append(result);
  document.title = result.textContent.split("\n")[0];
}
