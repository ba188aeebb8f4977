"use strict";
// Draws the data of the page. Text from the recording is set as text, never as markup.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = id => document.getElementById(id);

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

  function element(name, text, parent, className) {
    const made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    if (className) made.className = className;
    if (parent) parent.append(made);
    return made;
  }

  // columns: [heading, how to show a row, whether it is text]; share: row => part for a meter, in front
  function table(parent, columns, rows, share) {
    parent.replaceChildren();
    if (rows.length === 0) {
      element("p", "None.", parent);
      return;
    }
    const made = element("table", null, parent);
    const head = element("tr", null, element("thead", null, made));
    columns.forEach(column => element("th", column[0], head, column[2] ? "text" : "").setAttribute("scope", "col"));
    if (share) element("th", "", head);
    const body = element("tbody", null, made);
    rows.forEach(row => {
      const line = element("tr", null, body);
      columns.forEach(column => element("td", column[1](row), line, column[2] ? "text" : ""));
      if (share) {
        const meter = element("meter", null, element("td", null, line));
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

  // ---- charts: all show the same time

  let charts = [], whole = [0, 1], isSetting = false;

  function showTime(from, to) {
    const least = (whole[1] - whole[0]) / 1e6;
    from = Math.max(whole[0], from);
    to = Math.min(whole[1], Math.max(to, from + least));
    isSetting = true;
    charts.forEach(chart => chart.updateOptions({dateWindow: [from, to]}));
    isSetting = false;
  }

  function onKey(event, chart) {
    const [from, to] = chart.xAxisRange(), step = (to - from) / 10, middle = (from + to) / 2;
    const moves = {
      ArrowLeft: () => showTime(Math.max(whole[0], from - step), Math.max(whole[0], from - step) + to - from),
      ArrowRight: () => showTime(Math.min(whole[1], to + step) - (to - from), Math.min(whole[1], to + step)),
      "+": () => showTime(middle - (to - from) / 4, middle + (to - from) / 4),
      "=": () => showTime(middle - (to - from) / 4, middle + (to - from) / 4),
      "-": () => showTime(middle - (to - from), middle + (to - from)),
      "0": () => showTime(whole[0], whole[1]),
    };
    if (moves[event.key] && !event.ctrlKey && !event.metaKey) {
      moves[event.key]();
      event.preventDefault();
    }
  }

  const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // points: [[seconds, value...]...]; labels: the values' names
  function draw(id, labels, points, show, options) {
    const place = byId("c-" + id), legend = byId("l-" + id);
    place.replaceChildren();
    legend.replaceChildren();
    if (points.length === 0) {
      element("p", "Nothing was recorded.", place);
      return;
    }
    const colors = [color("--one"), color("--two"), color("--three")];
    const chart = new Dygraph(place, points, Object.assign({
      labels: ["time"].concat(labels), colors: colors, dateWindow: whole.slice(), gridLineColor: color("--line"),
      axisLineColor: color("--line"), legend: "never", includeZero: true, animatedZooms: false, digitsAfterDecimal: 6,
      highlightCircleSize: 4, axes: {
        x: {axisLabelFormatter: (value, grain, get, chart) => seconds(value, chart.xAxisRange()), valueFormatter: value => value},
        y: {axisLabelFormatter: show, valueFormatter: show, axisLabelWidth: 70, labelsKMG2: show === bytes},
      },
      zoomCallback: (from, to) => { if (!isSetting) showTime(from, to); },
      highlightCallback: (event, x, at) => {
        legend.textContent = "at " + seconds(x, charts[0].xAxisRange()) + ": " +
          at.filter(point => point.yval !== null && !Number.isNaN(point.yval))
            .map(point => point.name + " " + show(point.yval)).join(", ");
      },
      unhighlightCallback: () => names(legend, labels, colors),
    }, options || {}));
    names(legend, labels, colors);
    place.tabIndex = 0;
    place.setAttribute("role", "application");
    place.setAttribute("aria-label", place.parentElement.querySelector("figcaption").textContent);
    place.onkeydown = event => onKey(event, chart);
    charts.push(chart);
  }

  function names(legend, labels, colors) {
    legend.replaceChildren();
    labels.forEach((label, i) => {
      const mark = element("span", "● ", legend);
      mark.style.color = colors[i];
      element("span", label + "  ", legend);
    });
  }

  function drawTimes(heap) {
    charts.forEach(chart => chart.destroy());
    charts = [];
    whole = [0, Math.max(data.summary.wall_ns, 1) / 1e9];
    const stops = rowsOf(heap, "stops.stops"), spaces = rowsOf(heap, "heap.collections");
    const tenuring = rowsOf(heap, "tenuring.scavenges"), timeline = rowsOf(heap, "timeline.intervals");
    const second = row => row.time_ns / 1e9;
    const byTime = (a, b) => a[0] - b[0];
    draw("pauses", ["scavenges", "full collections"],
      stops.map(row => [second(row), row.kind.startsWith("scavenge") ? row.ns : null, row.kind.startsWith("scavenge") ? null : row.ns])
        .sort(byTime), ns, {drawPoints: true, strokeWidth: 0, pointSize: 2});
    const bars = [];
    timeline.forEach(row => bars.push([row.from_ns / 1e9, row.stopped]));
    if (timeline.length !== 0) bars.push([whole[1], timeline[timeline.length - 1].stopped]);
    draw("share", ["in collections"], bars, percent, {stepPlot: true, fillGraph: true, valueRange: [0, 1.02]});
    const fulls = spaces.filter(row => row.collection === "full").map(second);
    draw("spaces", ["old space in use", "mapped for it", "survivors"],
      spaces.map(row => [second(row), row.old_used, row.old_capacity, row.survivor_used]).sort(byTime), bytes, {
        stepPlot: true, connectSeparatedPoints: true, underlayCallback: (context, area, chart) => {
          context.strokeStyle = color("--line");
          context.beginPath();
          fulls.forEach(time => {
            const x = chart.toDomXCoord(time);
            if (x >= area.x && x <= area.x + area.w) {
              context.moveTo(x, area.y);
              context.lineTo(x, area.y + area.h);
            }
          });
          context.stroke();
        },
      });
    draw("tenuring", ["survivors", "threshold", "semispace"],
      tenuring.map(row => [second(row), row.survivor_bytes, row.threshold_bytes, row.semispace_bytes]).sort(byTime), bytes, {stepPlot: true});
    const groups = ["stops.stops", "heap.collections", "tenuring.scavenges"].map(name => heap.tables[name].group);
    byId("grouped").textContent = Math.max(...groups) === 1 ? "" :
      "There are too many collections to draw each: a point stands for up to " + count(Math.max(...groups)) +
      " in a row, and is the largest of its kind among them.";
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

  // Evidence that names a moment ("seq 12 at 0.345 s") gets a button that shows it.
  function showEvidence(parent, text) {
    const line = element("li", text + " ", parent);
    const moment = /\bat ([0-9.]+) s\b/.exec(text);
    if (moment) {
      const time = Number(moment[1]), width = (whole[1] - whole[0]) / 50;
      element("button", "show", line).onclick = () => {
        showTime(time - width, time + width);
        byId("c-pauses").scrollIntoView({block: "center"});
        byId("c-pauses").focus();
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
      ["P99", row => ns(row.p99_ns)], ["max", row => ns(row.max_ns)]], rowsOf(heap, "phases.phases"), row => row.share);
    table(byId("causes"), [["pauses", kindOf, true], ["cause", row => row.cause === null ? "?" : row.cause, true],
      ["count", row => count(row.count)], ["total", row => ns(row.total_ns)], ["max", row => ns(row.max_ns)],
      ["meaning", row => row.meaning, true]], rowsOf(heap, "causes.causes"));
    table(byId("pauses"), [["pauses", kindOf, true], ["count", row => count(row.count)]].concat(
      ["min", "mean", "p50", "p90", "p99", "p99.9", "max"].map(name =>
        [name.replace("p", "P"), row => row[name + "_ns"] === null ? "-" : ns(row[name + "_ns"])])),
      rowsOf(heap, "pauses.pauses"));
    table(byId("histogram"), [["from", row => ns(row.from_ns), true],
      ["to below", row => row.to_ns === null ? "-" : ns(row.to_ns)], ["scavenges alone", row => count(row.scavenges)],
      ["full", row => count(row.full_collections)], ["of the pause time", row => percent(row.share)]],
      rowsOf(heap, "histogram.histogram"), row => row.share);
    table(byId("mmu"), [["in any window of", row => ns(row.window_ns), true],
      ["it runs at least", row => percent(row.utilisation)]], rowsOf(heap, "pauses.minimum_mutator_utilisation"),
      row => row.utilisation);
  }

  function showLifetimes(heap) {
    const model = modelOf(heap);
    const mine = data.lifetimes === null ? [] : data.lifetimes.classes.filter(row => row.pid === heap.pid &&
      row.heap === model.heap && row.serial === heap.serial);
    byId("s-lifetimes").hidden = data.lifetimes === null;
    table(byId("lifetimes"), [["class", row => row.name === null ? "?" : row.name, true],
      ["objects", row => count(Math.round(row.objects))], ["of the allocation", row => percent(row.allocation_share)],
      ["mean lifetime", row => row.mean_lifetime_ns === null ? "?" : (row.mean_is_lower_bound ? "at least " : "") + ns(row.mean_lifetime_ns)],
      ["of the run", row => percent(row.mean_lifetime_share)], ["lives", row => row.verdict === null ? "?" : row.verdict, true]],
      mine.sort((a, b) => b.allocation_share - a.allocation_share).slice(0, 30), row => row.mean_lifetime_share);
    if (mine.length > 30) element("p", "The 30 that allocate most, of " + count(mine.length) + ".", byId("lifetimes"));
  }

  function show(heap) {
    drawTimes(heap);
    showFigures(heap);
    showLimits(heap);
    showParameters(heap);
    showFindings(heap);
    showTables(heap);
    showLifetimes(heap);
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
  if (first) show(first);
  document.documentElement.dataset.drawn = "yes";
})();
