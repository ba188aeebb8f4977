// Groups of charts that show the same range: of time, or of how long objects live.
//
// A chart is zoomed and moved with the mouse, by touch, with the keyboard, and with the buttons of its group; the others
// of the group follow. What a finger does up and down is the page's (touch-action in page.css), so that charts do not
// hold up who scrolls. Texts from the recording are set as text, never as markup: dygraphs sees no name.

// dygraphs' own legend has styles in attributes, which the policy forbids; charts here have legends of their own.
Dygraph.PLUGINS = Dygraph.PLUGINS.filter(plugin => plugin !== Dygraph.Plugins.Legend);

function element(name, text, parent, className) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  if (className) made.className = className;
  if (parent) parent.append(made);
  return made;
}

const byId = id => document.getElementById(id);
const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Where the fingers are, or the mouse: their middle, and how far apart they are (0: it is one).
function fingersOf(event) {
  const at = event.targetTouches || [event], first = at[0], last = at[Math.min(at.length, 2) - 1];
  return {x: (first.clientX + last.clientX) / 2,
    apart: Math.hypot(first.clientX - last.clientX, first.clientY - last.clientY)};
}

// place: of the buttons; text(value, range): a value of the range for people; room: in pixels, for such a text.
function chartGroup(place, text, room) {
  const charts = new Map(); // with the points of each
  let whole = [0, 1], range = whole, moment = null, isSetting = false, waiting = null;

  // ---- what is shown

  function set(from, to) {
    const width = Math.min(whole[1] - whole[0], Math.max(to - from, (whole[1] - whole[0]) / 1e6));
    from = Math.max(whole[0], Math.min(from, whole[1] - width));
    range = [from, from + width];
    isSetting = true;
    charts.forEach((points, chart) => chart.updateOptions({dateWindow: range.slice()}));
    isSetting = false;
    output.textContent = text(range[0], range) + " to " + text(range[1], range);
    output.dataset.range = range.join(" ");
  }

  // Also what was zoomed up and down, which only new data undo.
  function setWhole() {
    isSetting = true;
    moment = null;
    charts.forEach((points, chart) => chart.updateOptions({file: points, dateWindow: whole.slice()}));
    isSetting = false;
    set(whole[0], whole[1]);
  }

  function zoom(factor, at) {
    set(at - (at - range[0]) / factor, at + (range[1] - at) / factor);
  }
  const middle = () => (range[0] + range[1]) / 2;
  function move(part) {
    const by = (range[1] - range[0]) * part;
    set(range[0] + by, range[1] + by);
  }

  // Fingers move more often than charts can be drawn.
  function flush() {
    const now = waiting;
    waiting = null;
    if (now) now();
  }
  function soon(what) {
    if (!waiting) requestAnimationFrame(flush);
    waiting = what;
  }

  // ---- buttons and keys

  const bar = element("div", null, place, "bar");
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "What the charts show");
  [["−", "Zoom out", () => zoom(0.5, middle())], ["+", "Zoom in", () => zoom(2, middle())], ["‹", "Move back", () => move(-0.5)],
    ["›", "Move on", () => move(0.5)], ["All", "Show all", setWhole]].forEach(([label, name, act]) => {
    const button = element("button", label, bar);
    button.type = "button";
    button.title = name;
    button.setAttribute("aria-label", name);
    button.onclick = act;
  });
  const output = element("output", null, bar);

  // To the next point that has a value, or to the one before it.
  function step(chart, by) {
    let row = chart.getSelection();
    const has = at => chart.getValue(at, 0) >= range[0] && chart.getValue(at, 0) <= range[1];
    if (row < 0) row = by > 0 ? -1 : chart.numRows();
    do row += by; while (row >= 0 && row < chart.numRows() && !has(row));
    if (row >= 0 && row < chart.numRows()) chart.setSelection(row, undefined, undefined, true);
  }

  function onKey(event, chart) {
    const moves = {
      ArrowLeft: () => move(-0.1), ArrowRight: () => move(0.1), "+": () => zoom(2, middle()), "=": () => zoom(2, middle()),
      "-": () => zoom(0.5, middle()), "0": setWhole, ",": () => step(chart, -1), ".": () => step(chart, 1),
    };
    if (moves[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
      moves[event.key]();
      event.preventDefault();
    }
  }

  // ---- mouse and touch

  // held: where the fingers were when they came down, and what was shown then; null: none is down.
  function interaction(place) {
    let held = null;
    function hold(event, chart) {
      flush();
      held = Object.assign(fingersOf(event), {range: chart.xAxisRange()});
    }
    // What was under the fingers stays under them.
    function drag(event, chart) {
      if (!held) return;
      const now = fingersOf(event), area = chart.getArea(), left = place.getBoundingClientRect().left + area.x;
      const width = held.range[1] - held.range[0], scale = held.apart && now.apart ? held.apart / now.apart : 1;
      const from = held.range[0] + (held.x - left) / area.w * width - (now.x - left) / area.w * width * scale;
      soon(() => set(from, from + width * scale));
    }
    const isPinch = event => event.targetTouches.length > 1;
    const touch = what => (event, chart) => {
      if (isPinch(event) && event.cancelable) event.preventDefault();
      what(event, chart);
    };
    const release = (event, chart) => event.targetTouches.length ? hold(event, chart) : held = null;
    return {
      mousedown: (event, chart, context) => {
        place.focus({preventScroll: true});
        if (!event.shiftKey) {
          Dygraph.defaultInteractionModel.mousedown(event, chart, context);
          return;
        }
        event.preventDefault();
        hold(event, chart);
        const follow = event => drag(event, chart);
        document.addEventListener("mousemove", follow);
        document.addEventListener("mouseup", () => document.removeEventListener("mousemove", follow), {once: true});
      },
      willDestroyContextMyself: true,
      dblclick: setWhole,
      wheel: (event, chart) => { // of two fingers on a touchpad, or with Ctrl
        if (!event.ctrlKey) return;
        event.preventDefault();
        const at = chart.toDataXCoord(event.clientX - place.getBoundingClientRect().left);
        soon(() => zoom(Math.exp(-event.deltaY / 100), at));
      },
      touchstart: touch(hold), touchmove: touch(drag), touchend: release, touchcancel: release,
    };
  }

  // ---- charts

  // Below a chart: what its colours mean, and the values at a point. It only grows: what is below does not jump.
  function makeLegend(legend, names, colors) {
    legend.replaceChildren();
    legend.style.minHeight = "";
    const at = element("span", null, legend, "entry"), values = names.map((name, i) => {
      const entry = element("span", null, legend, "entry");
      element("span", null, entry, i < colors.length ? "mark" : "mark dashed").style.borderColor = colors[i % colors.length];
      element("bdi", " " + name + " ", entry);
      return element("b", null, entry);
    });
    return (x, texts) => {
      at.textContent = x === null ? "" : "at " + text(x, range);
      values.forEach((value, i) => value.textContent = texts[i]);
      legend.style.minHeight = legend.offsetHeight + "px";
    };
  }

  // Each value of a row; where lines go on from point to point, that of the last one before it, unless the line has ended.
  function valuesAt(points, row, goesOn) {
    return points[row].slice(1).map((value, i) => {
      if (value !== null || !goesOn || !points.slice(row).some(later => later[i + 1] !== null)) return value;
      while (row > 0 && points[row][i + 1] === null) row--;
      return points[row][i + 1];
    });
  }

  // names: of the values; points: [[place in the range, value or null...]...], in order; show(value): for people;
  // lines: places of vertical lines.
  function draw(id, names, points, show, options, lines) {
    const place = byId("c-" + id), legend = byId("l-" + id);
    const caption = place.parentElement.querySelector("figcaption").textContent;
    place.replaceChildren();
    legend.replaceChildren();
    place.tabIndex = points.length ? 0 : -1;
    place.setAttribute("role", points.length ? "application" : "group");
    place.setAttribute("aria-label", caption);
    place.onkeydown = place.onblur = null;
    if (points.length === 0) {
      element("p", "Nothing was recorded.", place);
      return;
    }
    const colors = ["--one", "--two", "--three", "--four"].map(color), none = names.map(() => "");
    const say = makeLegend(legend, names, colors);
    const chart = new Dygraph(place, points, Object.assign({
      labels: ["x"].concat(names.map((name, i) => "y" + i)), colors: names.map((name, i) => colors[i % 4]), dateWindow: whole.slice(),
      series: Object.fromEntries(names.map((name, i) => ["y" + i, i < 4 ? {} : {strokePattern: Dygraph.DASHED_LINE}])),
      gridLineColor: color("--line"), axisLineColor: color("--line"), axisLabelFontSize: 12, xAxisHeight: 26, includeZero: true,
      highlightCircleSize: 4, interactionModel: interaction(place), axes: {
        x: {axisLabelFormatter: (value, grain, get, chart) => text(value, chart.xAxisRange()), valueFormatter: value => value,
          pixelsPerLabel: room, axisLabelWidth: room, labelsKMG2: false},
        y: {axisLabelFormatter: show, valueFormatter: show, axisLabelWidth: 64},
      },
      underlayCallback: (context, area, chart) => [[lines || [], "--line"], [moment === null ? [] : [moment], "--high"]]
        .forEach(([places, name]) => {
          context.strokeStyle = color(name);
          context.beginPath();
          places.map(place => chart.toDomXCoord(place)).filter(x => x >= area.x && x <= area.x + area.w).forEach(x => {
            context.moveTo(x, area.y);
            context.lineTo(x, area.y + area.h);
          });
          context.stroke();
        }),
      drawCallback: (chart, isFirst) => {
        const [from, to] = chart.xAxisRange();
        if (!isFirst && !isSetting && (from !== range[0] || to !== range[1])) set(from, to);
      },
      highlightCallback: (event, x, at, row) => say(points[row][0], valuesAt(points, row, chart.getOption("connectSeparatedPoints"))
        .map(value => value === null ? "" : show(value))),
      unhighlightCallback: () => say(null, none),
    }, options));
    say(null, none);
    place.onkeydown = event => onKey(event, chart);
    place.onblur = () => {
      chart.clearSelection();
      say(null, none);
    };
    charts.set(chart, points);
  }

  return {
    // Without charts; those to come show all of `range`, a moment of which may be marked later.
    clear: range => {
      charts.forEach((points, chart) => chart.destroy());
      charts.clear();
      whole = range;
      moment = null;
      set(whole[0], whole[1]);
    },
    draw: draw,
    showMoment: (at, width) => {
      moment = at;
      set(at - width, at + width);
    },
  };
}
