// Draws the data of the page. Text from the recording is set as text, never as markup.
(function () {
  // Characters that reorder a text, hide in it or break it are shown by their numbers, as in the tool's own tables: in the
  // text of JSON each is \u and four digits, behind an even number of backslashes.
  const hidden = /^u(00[01].|007f|00[89].|061c|200[b-f]|202[8-e]|206.|feff)$/i;
  const escaped = digits => digits < "80" && digits.length === 2 ? "\\\\x" + digits : "\\\\u{" + digits.replace(/^0/, "") + "}";
  const data = JSON.parse(byId("data").textContent.replace(/\\(u[0-9a-f]{4}|.)/gi,
    (all, character) => hidden.test(character) ? escaped(character.slice(1).toLowerCase().replace(/^0{1,2}/, "")) : all));

  // ---- numbers as the tool prints them

  function scaled(value, units) {
    let i = 0;
    while (i + 1 < units.length && Math.abs(value) >= units[i + 1][0]) i++;
    const x = value / units[i][0];
    return (i === 0 ? String(Math.round(x)) : x.toFixed(x >= 100 ? 0 : x >= 10 ? 1 : 2)) + " " + units[i][1];
  }
  const ns = value => value === null ? "?" : scaled(value, [[1, "ns"], [1e3, "us"], [1e6, "ms"], [1e9, "s"]]);
  const bytes = value => value === null ? "?" : scaled(value,
    [[1, "B"], [1024, "KiB"], [1048576, "MiB"], [1073741824, "GiB"], [1099511627776, "TiB"]]);
  const count = value => value === null ? "?" : value.toLocaleString("en");
  // With as many digits as tell places of this range apart.
  function seconds(value, range) {
    const digits = Math.ceil(-Math.log10((range[1] - range[0]) / 20));
    return value.toFixed(Math.min(9, Math.max(0, digits))) + " s";
  }
  const percent = value => value === null ? "-" : (100 * value).toFixed(value < 0.1 ? 2 : 1) + "%";

  // ---- elements

  // columns: [heading, how to show a row, whether it is text]; share: row => part for a meter, at the end. One that is
  // `long` becomes a list on a narrow screen: display takes a table's roles away, so that they are stated.
  function table(parent, columns, rows, share, long) {
    parent.replaceChildren();
    parent.className = "box";
    if (rows.length === 0) {
      element("p", "None.", parent);
      return;
    }
    const part = (name, role, text, parent, className) => {
      const made = element(name, text, parent, className);
      made.setAttribute("role", role);
      return made;
    };
    const made = part("table", "table", null, parent, long ? "long" : "");
    const head = part("tr", "row", null, part("thead", "rowgroup", null, made));
    columns.forEach(column => part("th", "columnheader", column[0], head, column[2] ? "text" : ""));
    if (share) part("th", "columnheader", "", head);
    const body = part("tbody", "rowgroup", null, made);
    rows.forEach(row => {
      const line = part("tr", "row", null, body);
      columns.forEach(column => part("td", "cell", column[1](row), line, column[2] ? "text" : "").dataset.name = column[0]);
      if (share) {
        const meter = element("meter", null, part("td", "cell", null, line, "part"));
        meter.value = share(row) || 0;
        meter.setAttribute("aria-label", percent(share(row)));
      }
    });
  }

  // The rows of a table as objects.
  function rowsOf(heap, name) {
    const is = heap.tables[name];
    return is.rows.map(row => Object.fromEntries(is.columns.map((column, i) => [column, row[i]])));
  }

  const modelOf = heap => data.summary.processes[heap.place[0]].heaps[heap.place[1]];
  const processOf = heap => data.summary.processes[heap.place[0]];

  // What the figures count: of a heap that is older than the recording, what was recorded.
  const figuresOf = model => model.late && model.window ? Object.assign({}, model, model.window) : model;

  // ---- charts

  const times = chartGroup(byId("b-time"), seconds, 80);

  function drawTimes(heap) {
    const end = Math.max(data.summary.wall_ns, 1) / 1e9;
    const stops = rowsOf(heap, "stops.stops"), spaces = rowsOf(heap, "heap.collections");
    const tenuring = rowsOf(heap, "tenuring.scavenges"), timeline = rowsOf(heap, "timeline.intervals");
    // What began before the recording stands at its beginning: charts show nothing to the left of it.
    const second = row => Math.max(0, row.time_ns) / 1e9, isScavenge = row => row.kind.startsWith("scavenge");
    const byTime = (a, b) => a[0] - b[0];
    times.clear([0, end]);
    times.draw("pauses", ["scavenges", "full collections"],
      stops.map(row => [second(row), isScavenge(row) ? row.ns : null, isScavenge(row) ? null : row.ns]).sort(byTime), ns,
      {drawPoints: true, strokeWidth: 0, pointSize: 2});
    const bars = timeline.map(row => [row.from_ns / 1e9, row.stopped]);
    if (bars.length !== 0) bars.push([end, bars[bars.length - 1][1]]);
    times.draw("share", ["in collections"], bars, percent, {stepPlot: true, fillGraph: true, valueRange: [0, 1.02]});
    times.draw("spaces", ["old space in use", "mapped for it", "survivors", "eden before"],
      spaces.map(row => [second(row), row.old_used, row.old_capacity, row.survivor_used, row.eden_used]).sort(byTime), bytes,
      {stepPlot: true, connectSeparatedPoints: true, labelsKMG2: true}, spaces.filter(row => row.collection === "full").map(second));
    times.draw("tenuring", ["survivors", "threshold", "semispace"],
      tenuring.map(row => [second(row), row.survivor_bytes, row.threshold_bytes, row.semispace_bytes]).sort(byTime), bytes,
      {stepPlot: true, labelsKMG2: true});
    const groups = ["stops.stops", "heap.collections", "tenuring.scavenges"].map(name => heap.tables[name].group);
    byId("grouped").textContent = Math.max(...groups) === 1 ? "" :
      "There are too many collections to draw each: a point stands for up to " + count(Math.max(...groups)) +
      " in a row, and is the largest of its kind among them.";
  }

  // The places of this chart are the phases' numbers in the table, where bars are drawn instead of lines. Its ends lie
  // between two bars.
  let phases = [];
  const nameOfPlace = place => phases[place] === undefined ? "" : phases[place].phase;
  const shares = chartGroup(byId("b-phases"), (place, [from, to]) =>
    nameOfPlace(place === from ? Math.ceil(place) : place === to ? Math.floor(place) : place), 120);

  function drawBars(event) {
    const chart = event.dygraph, width = 0.8 * (chart.toDomXCoord(1) - chart.toDomXCoord(0)), bottom = chart.toDomYCoord(0);
    event.drawingContext.fillStyle = event.color;
    event.points.filter(point => Number.isFinite(point.canvasy)).forEach(point =>
      event.drawingContext.fillRect(point.canvasx - width / 2, point.canvasy, width, bottom - point.canvasy));
  }

  function drawShares(heap) {
    phases = rowsOf(heap, "phases.phases");
    const isFull = row => row.phase.startsWith("full");
    shares.clear([-0.5, Math.max(phases.length, 1) - 0.5]);
    shares.draw("phases", ["of scavenges", "of full collections"],
      phases.map((row, i) => [i, isFull(row) ? null : row.share, isFull(row) ? row.share : null]), percent, {plotter: drawBars});
  }

  // ---- the parts

  function showFigures(heap) {
    const model = figuresOf(modelOf(heap)), place = byId("figures"), all = rowsOf(heap, "pauses.pauses")[2];
    const share = model.stopped_ns === null || !data.summary.wall_ns ? null : model.stopped_ns / data.summary.wall_ns;
    place.replaceChildren();
    [["in collections", percent(share)], ["longest pause", all.max_ns === null ? "-" : ns(all.max_ns)],
      ["P99 of pauses", all.p99_ns === null ? "-" : ns(all.p99_ns)], ["scavenges, with those of full collections", count(model.scavenges)],
      ["full collections", count(model.full_collections)], ["allocated", bytes(model.allocated_bytes)],
      ["tenured", bytes(model.tenured_bytes)], ["old space", bytes(model.old_used)], ["eden", bytes(model.eden_size)],
    ].forEach(([name, value]) => {
      const group = element("div", null, place);
      element("dt", name, group);
      element("dd", value, group);
    });
  }

  // What limits the figures.
  function showLimits(heap) {
    const model = modelOf(heap), now = model.collection, limits = [];
    if (model.late) limits.push("attached late: figures are of what was recorded");
    if (!model.complete) limits.push(model.late ? "the end was not observed" : "figures are \"at least\"");
    if (model.ended_by_exec) limits.push("it ended when its process executed another program");
    if (now && now.known && now.phase !== null) limits.push("when the recording ended, it was in " + now.phase +
      (now.since_ns ? ", in this collection for " + ns(now.until_ns - now.since_ns) : ""));
    byId("limits").textContent = limits.length ? limits.join("; ") + "." : "";
  }

  function showParameters(heap) {
    const rows = Object.entries(heap.parameters).map(([name, value]) => ({name: name, value: value}));
    table(byId("parameters"), [["parameter", row => row.name, true], ["value", row => row.value, true]], rows);
  }

  // Evidence that names a moment ("seq 12 at 0.345 s", "from 0.345 s") gets a button that shows it.
  function showEvidence(parent, text) {
    const line = element("li", text + " ", parent);
    const moment = /\b(?:at|from) ([0-9.]+(?:e\+[0-9]+)?) s\b/.exec(text);
    if (moment && Number.isFinite(Number(moment[1]))) {
      const time = Number(moment[1]), show = element("button", "show", line);
      show.setAttribute("aria-label", "show the moment at " + moment[1] + " s");
      show.onclick = () => {
        times.showMoment(time, data.summary.wall_ns / 50e9);
        byId("c-pauses").scrollIntoView({block: "center"});
        byId("c-pauses").focus({preventScroll: true});
      };
    }
  }

  function showFindings(heap) {
    const place = byId("findings"), model = modelOf(heap);
    byId("s-findings").hidden = data.findings === null;
    place.replaceChildren();
    const mine = data.findings === null ? [] : data.findings.findings.filter(finding => finding.pid === heap.pid &&
      finding.heap === model.heap && finding.serial === heap.serial);
    mine.forEach(finding => {
      const card = element("div", null, place, "finding " + finding.severity);
      element("h3", finding.key + (finding.time_share ? ", " + percent(finding.time_share) + " of the heap's time" : ""), card);
      const list = element("ul", null, card);
      finding.evidence.forEach(text => showEvidence(list, text));
      element("p", finding.why, card);
      if (finding.parameter) element("code", finding.parameter + "=" + finding.value +
        Object.entries(finding.also).map(([name, value]) => "," + name + "=" + value).join(""), element("p", "Set ", card));
      if (finding.how) element("p", finding.how, card);
      if (finding.gain) element("p", "Gain: " + percent(finding.gain.min) + " to " + percent(finding.gain.max) +
        " of the time in collections" + (finding.cost ? "; costs " + finding.cost : ""), card);
    });
    if (mine.length === 0) element("p", "None.", place);
    const unseen = data.findings === null ? [] : data.findings.unexamined.filter(rule => rule.pid === heap.pid &&
      rule.heap === model.heap && rule.serial === heap.serial);
    if (unseen.length) element("p", "Not examined: " + unseen.map(rule => rule.key + " (" + rule.needs + ")").join(", "), place);
    const isLate = data.heaps.some(of => modelOf(of).late);
    if (data.findings && data.findings.options) element("code", "EDEN_OPTIONS=" + data.findings.options,
      element("p", "All together" + (isLate ? ", added to the EDEN_OPTIONS that the program has, if it has any" : "") + ": ", place));
  }

  // A pause of both is a full collection's.
  const kindOf = row => row.kind === "scavenges" ? "scavenges alone" : row.kind;

  function showTables(heap) {
    table(byId("phases"), [["phase", row => row.phase, true], ["of the time", row => percent(row.share)],
      ["calls", row => count(row.calls)], ["total", row => ns(row.total_ns)],
      ["P99", row => ns(row.p99_ns)], ["max", row => ns(row.max_ns)]], rowsOf(heap, "phases.phases"), row => row.share, true);
    table(byId("causes"), [["pauses", kindOf, true], ["cause", row => row.cause === null ? "?" : row.cause, true],
      ["count", row => count(row.count)], ["total", row => ns(row.total_ns)], ["max", row => ns(row.max_ns)],
      ["meaning", row => row.meaning, true]], rowsOf(heap, "causes.causes"), null, true);
    table(byId("pauses"), [["pauses", kindOf, true], ["count", row => count(row.count)]].concat(
      ["min", "mean", "p50", "p90", "p99", "p99.9", "max"].map(name =>
        [name.replace("p", "P"), row => row[name + "_ns"] === null ? "-" : ns(row[name + "_ns"])])),
      rowsOf(heap, "pauses.pauses"), null, true);
    table(byId("histogram"), [["from", row => ns(row.from_ns), true],
      ["to below", row => row.to_ns === null ? "-" : ns(row.to_ns)], ["scavenges alone", row => count(row.scavenges)],
      ["full", row => count(row.full_collections)], ["of the pause time", row => percent(row.share)]],
      rowsOf(heap, "histogram.histogram"), row => row.share);
    table(byId("mmu"), [["in any window of", row => ns(row.window_ns), true],
      ["it runs at least", row => percent(row.utilisation)]], rowsOf(heap, "pauses.minimum_mutator_utilisation"),
      row => row.utilisation);
  }

  // Both clocks on logarithmic scales: a place is the logarithm, whose ticks are at whole numbers.
  const clocks = [
    {name: "ns", run: "run_ns", at: Math.log10, text: place => ns(10 ** place * 1.000001)},
    {name: "bytes", run: "run_bytes", at: Math.log2, text: place => bytes(2 ** place * 1.000001)},
  ];
  clocks.forEach(clock => clock.group = chartGroup(byId("b-lives-" + clock.name), clock.text, 60));

  // A row for each place at which a curve has a point. A curve that has come down to 0 goes on to the end of the run.
  function drawCurves(clock, curves, run) {
    const rows = new Map(), place = value => clock.at(Math.max(value === null ? run : value, 1));
    const add = (i, at, alive) => {
      if (!rows.has(at)) rows.set(at, [at].concat(curves.map(() => null)));
      rows.get(at)[i + 1] = alive;
    };
    const ends = curves.map(curve => curve[clock.name]).filter(points => points.length).map(points => place(points[points.length - 1][0]));
    const end = Math.max(place(run), ...ends);
    curves.forEach((curve, i) => {
      curve[clock.name].forEach(([value, alive]) => add(i, place(value), alive));
      if (curve[clock.name].length && curve[clock.name].at(-1)[1] === 0) add(i, end, 0);
    });
    const points = Array.from(rows.values()).sort((a, b) => a[0] - b[0]);
    clock.group.clear([points.length && points[0][0] < end ? points[0][0] : end - 1, end]);
    clock.group.draw("lives-" + clock.name, curves.map(nameOf), points, percent,
      {stepPlot: true, connectSeparatedPoints: true, valueRange: [0, 1.02]});
  }

  const nameOf = row => row.name === null ? "class " + row.class_id : row.name;

  function showLifetimes(heap) {
    byId("s-lifetimes").hidden = data.lifetimes === null;
    if (data.lifetimes === null) return;
    const model = modelOf(heap);
    const mine = rows => rows.filter(row => row.pid === heap.pid && row.heap === model.heap && row.serial === heap.serial);
    const [profile] = mine(data.lifetimes.heaps), classes = mine(data.lifetimes.classes), curves = mine(data.survival.curves);
    byId("lives").textContent = profile && profile.profiled ? "Of " + ns(profile.run_ns) + " profiled, in which " + bytes(profile.run_bytes) +
      " were allocated; sampling " + profile.sampling + ", deaths found by " + profile.mechanism + "." +
      (classes.length > data.survival.top ? " The charts have the " + data.survival.top + " classes that take most memory." : "") :
      "No profile of this heap was recorded.";
    clocks.forEach(clock => drawCurves(clock, curves, profile && profile.profiled ? profile[clock.run] : 1));
    table(byId("lifetimes"), [["class", nameOf, true],
      ["objects", row => count(Math.round(row.objects))], ["of the allocation", row => percent(row.allocation_share)],
      ["mean lifetime", row => row.mean_lifetime_ns === null ? "?" : (row.mean_is_lower_bound ? "at least " : "") + ns(row.mean_lifetime_ns)],
      ["of the run", row => percent(row.mean_lifetime_share)], ["lives", row => row.verdict === null ? "?" : row.verdict, true]],
      classes.sort((a, b) => b.allocation_share - a.allocation_share).slice(0, 30), row => row.mean_lifetime_share, true);
    if (classes.length > 30) element("p", "The 30 that allocate most, of " + count(classes.length) + ".", byId("lifetimes"));
  }

  // What is wider than its box is scrolled in it, also with the keyboard.
  function markBoxes() {
    document.querySelectorAll(".box").forEach(box => {
      if (box.scrollWidth > box.clientWidth) {
        box.tabIndex = 0;
        box.setAttribute("role", "region");
        box.setAttribute("aria-label", box.closest("section").querySelector("h2").textContent);
      } else {
        ["tabindex", "role", "aria-label"].forEach(name => box.removeAttribute(name));
      }
    });
  }

  function show(heap) {
    drawTimes(heap);
    drawShares(heap);
    showFigures(heap);
    showLimits(heap);
    showParameters(heap);
    showFindings(heap);
    showTables(heap);
    showLifetimes(heap);
    markBoxes();
  }

  // ---- the page

  const first = data.heaps[0];
  byId("title").textContent = data.command || (first ? processOf(first).command : "") || data.recording;
  document.title = "edenscope: " + byId("title").textContent;
  byId("origin").textContent = data.recording + ", of " + new Date(data.start_ns / 1e6).toISOString().replace("T", " ").slice(0, 19) + " UTC" + ", over " +
    ns(data.summary.wall_ns) + ", " + count(data.events) + " events";
  byId("losses").textContent = [data.partial, data.summary.lost ? count(data.summary.lost) + " events were lost" : null]
    .filter(text => text).map(text => text + ": figures are \"at least\"").join("; ");
  byId("made").textContent = "Made by edenscope " + data.version + ". Percentiles are of single pauses and calls (nearest rank); a " +
    "full collection and the scavenge before it are one pause.";
  data.heaps.forEach((heap, i) => {
    const model = modelOf(heap);
    element("option", (processOf(heap).command || "?") + "[" + heap.pid + "] heap " + (model.heap === null ? "?" : model.heap) +
      (model.name ? " '" + model.name + "'" : ""), byId("heap")).value = i;
  });
  byId("choose").hidden = data.heaps.length < 2;
  byId("heap").onchange = () => show(data.heaps[byId("heap").value]);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change",
    () => show(data.heaps[byId("heap").value || 0]));
  window.addEventListener("resize", markBoxes);
  if (first) show(first);
  document.documentElement.dataset.drawn = "yes";
})();
