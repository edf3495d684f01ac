(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const svg = byId("graph"), panel = byId("panel"), canvas = svg.parentNode;
  const n = data.names.length, half = data.height / 2;
  const x = data.x.slice(), y = data.y.slice();
  const nodes = new Array(n), arcs = new Array(data.arcs.length);
  svg.querySelectorAll(".node").forEach((g) => { nodes[+g.dataset.node] = g; });
  svg.querySelectorAll(".arc").forEach((g) => { arcs[+g.dataset.arc] = g; });
  const drawnPaths = arcs.map((g) => [...g.querySelectorAll("path")].map((p) => p.getAttribute("d")));
  const parents = data.names.map(() => []), children = data.names.map(() => []);
  data.arcs.forEach(([parent, child], arc) => {
    parents[child].push({ node: parent, arc });
    children[parent].push({ node: child, arc });
  });
  const degree = (v) => parents[v].length + children[v].length;

  // Labels: a font wider than foreseen is squeezed into its box.
  nodes.forEach((g, v) => {
    const label = g.querySelector("text"), room = data.widths[v] - 8;
    if (label.getComputedTextLength() > room) {
      label.setAttribute("textLength", room);
      label.setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
  });

  // The camera is the viewBox.
  const MOST_SCALE = 1.6, LEAST_SCALE = 0.7, LEAST_SHARE = 0.02, LEAST_PRINTED = 560;
  let view = { x: 0, y: 0, w: 1, h: 1 };
  const show = () => svg.setAttribute("viewBox", [view.x, view.y, view.w, view.h].map((v) => +v.toFixed(2)).join(" "));
  const fit = () => {
    const [left, top, width, height] = data.view;
    const least = { w: svg.clientWidth / MOST_SCALE, h: svg.clientHeight / MOST_SCALE };
    const w = Math.max(width, least.w), h = Math.max(height, least.h);
    view = { x: left - (w - width) / 2, y: top - (h - height) / 2, w, h };
    show();
  };
  // At first the whole network, unless its labels would be specks: then a part that can be read, around the class or
  // the variable with most neighbours.
  const start = data.class ?? [...x.keys()].reduce((a, b) => (degree(b) > degree(a) ? b : a), 0);
  const within = (middle, size, from, length) =>
    size >= length ? from - (size - length) / 2 : Math.min(Math.max(middle - size / 2, from), from + length - size);
  const home = () => {
    fit();
    if (Math.min(svg.clientWidth / view.w, svg.clientHeight / view.h) >= LEAST_SCALE) return;
    const [left, top, width, height] = data.view;
    const w = svg.clientWidth / LEAST_SCALE, h = svg.clientHeight / LEAST_SCALE;
    view = { x: within(x[start], w, left, width), y: within(y[start], h, top, height), w, h };
    show();
  };
  const toWorld = (clientX, clientY) => new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
  const zoom = (factor, centre) => {
    const w = view.w * factor;
    if (w < 60 || w > 8 * data.view[2] + 4000) return;
    const at = centre || { x: view.x + view.w / 2, y: view.y + view.h / 2 };
    view = { x: at.x - (at.x - view.x) * factor, y: at.y - (at.y - view.y) * factor, w, h: view.h * factor };
    show();
  };
  const centreOn = (v) => {
    const share = Math.min(1, svg.clientWidth / view.w, svg.clientHeight / view.h);
    const w = share < 1 ? svg.clientWidth : view.w, h = share < 1 ? svg.clientHeight : view.h;
    view = { x: x[v] - w / 2, y: y[v] - h / 2, w, h };
    show();
  };
  const bringIntoView = (v) => {
    const margin = LEAST_SHARE * view.w;
    const inside = x[v] > view.x + margin && x[v] < view.x + view.w - margin && y[v] > view.y && y[v] < view.y + view.h;
    if (!inside) { view.x = x[v] - view.w / 2; view.y = y[v] - view.h / 2; show(); }
  };
  const sizeCanvas = () => {
    const [, , width, height] = data.view;
    const scale = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, canvas.clientWidth / width));
    const most = Math.max(420, window.innerHeight * 0.76);
    canvas.style.height = `${Math.round(Math.min(most, Math.max(380, height * scale)))}px`;
  };

  // Arcs follow their ends.
  const redraw = (arc) => {
    const [parent, child] = data.arcs[arc];
    const isHub = parent === data.hub;
    const [long, wide] = data.head;
    let from, tip, straight = isHub;
    if (y[child] - half > y[parent] + half + long + 6) {
      from = [x[parent], y[parent] + half];
      tip = [x[child], y[child] - half];
    } else {
      straight = true;
      from = border(parent, child);
      tip = border(child, parent);
    }
    let dx = 0, dy = 1;
    if (straight) {
      const length = Math.hypot(tip[0] - from[0], tip[1] - from[1]) || 1;
      dx = (tip[0] - from[0]) / length;
      dy = (tip[1] - from[1]) / length;
    }
    const neck = [tip[0] - dx * long, tip[1] - dy * long];
    const middle = (from[1] + neck[1]) / 2;
    const line = straight
      ? `M${from}L${neck}`
      : `M${from}C${from[0]},${middle} ${neck[0]},${middle} ${neck}`;
    const side = wide / 2;
    const head = `M${tip}L${neck[0] - dy * side},${neck[1] + dx * side}L${neck[0] + dy * side},${neck[1] - dx * side}Z`;
    const [hit, stroke, arrow] = arcs[arc].querySelectorAll("path");
    hit.setAttribute("d", line);
    stroke.setAttribute("d", line);
    arrow.setAttribute("d", head);
  };
  const border = (v, towards) => {
    const dx = x[towards] - x[v], dy = y[towards] - y[v];
    const t = Math.min((data.widths[v] / 2) / (Math.abs(dx) || 1e-9), half / (Math.abs(dy) || 1e-9), 1);
    return [x[v] + dx * t, y[v] + dy * t];
  };
  const move = (v, toX, toY) => {
    x[v] = toX;
    y[v] = toY;
    nodes[v].setAttribute("transform", `translate(${toX.toFixed(1)},${toY.toFixed(1)})`);
    [...parents[v], ...children[v]].forEach(({ arc }) => redraw(arc));
  };
  const putBack = () => {
    for (let v = 0; v < n; v++) {
      x[v] = data.x[v];
      y[v] = data.y[v];
      nodes[v].setAttribute("transform", `translate(${x[v]},${y[v]})`);
    }
    arcs.forEach((g, arc) => g.querySelectorAll("path").forEach((p, i) => p.setAttribute("d", drawnPaths[arc][i])));
    home();
  };

  // Emphasis: the Markov blanket of a variable, or an arc with its ends.
  const ROLES = ["on", "parent", "child", "spouse", "chosen"];
  const clear = () => {
    svg.classList.remove("focused");
    [...nodes, ...arcs].forEach((g) => g.classList.remove(...ROLES));
  };
  const mark = (g, role) => g.classList.add("on", role);
  const emphasise = (thing) => {
    clear();
    if (!thing) return;
    svg.classList.add("focused");
    if (thing.arc !== undefined) {
      const [parent, child] = data.arcs[thing.arc];
      mark(arcs[thing.arc], "chosen");
      mark(nodes[parent], "parent");
      mark(nodes[child], "child");
      return;
    }
    const v = thing.node;
    children[v].forEach(({ node, arc }) => {
      mark(nodes[node], "child");
      mark(arcs[arc], "child");
      parents[node].forEach((other) => {
        if (other.node === v) return;
        if (!nodes[other.node].classList.contains("child")) mark(nodes[other.node], "spouse");
        if (!arcs[other.arc].classList.contains("child")) mark(arcs[other.arc], "spouse");
      });
    });
    parents[v].forEach(({ node, arc }) => {
      nodes[node].classList.remove("spouse", "child");
      mark(nodes[node], "parent");
      mark(arcs[arc], "parent");
    });
    children[v].forEach(({ node }) => nodes[node].classList.remove("spouse"));
    mark(nodes[v], "chosen");
  };

  // The panel.
  const make = (tag, attributes = {}, ...content) => {
    const made = document.createElement(tag);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    made.append(...content);
    return made;
  };
  const name = (v) => make("bdi", {}, ...breakable(data.names[v]));
  const go = (v) => {
    const button = make("button", { type: "button", class: "go" }, name(v));
    button.addEventListener("click", () => { keep({ node: v }); bringIntoView(v); });
    return button;
  };
  const shown = (value, digits) =>
    value === null || value === undefined
      ? "–"
      : value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace("-", "−");
  const row = (tag, cells) => make("tr", {}, ...cells.map((cell) => make(tag, {}, cell)));
  const hasLoss = data.arcs.some((arc) => arc[2] !== null), hasInformation = data.arcs.some((arc) => arc[3] !== null);
  const chips = (texts) => make("div", { class: "chips" }, ...texts.map((t) => make("span", { class: "chip" }, t)));
  const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;

  const describeNode = (v) => {
    const facts = [];
    if (v === data.class) facts.push("class");
    if (data.n_states) facts.push(plural(data.n_states[v], "state", "states"));
    facts.push(plural(parents[v].length, "parent", "parents"), plural(children[v].length, "child", "children"));
    const parts = [make("h3", {}, name(v)), chips(facts)];
    if (data.local_scores[v] !== null) {
      parts.push(make("dl", { class: "values" }, make("dt", {}, "Local score"), make("dd", {}, shown(data.local_scores[v], 4))));
    }
    if (parents[v].length) {
      const heads = ["Parent"];
      if (hasLoss) heads.push("loss if removed");
      if (hasInformation) heads.push("I(X; Y | others)");
      const table = make("table", { class: "families" }, make("thead", {}, row("th", heads)));
      parents[v].forEach(({ node, arc }) => {
        const cells = [go(node)];
        if (hasLoss) cells.push(shown(data.arcs[arc][2], 3));
        if (hasInformation) cells.push(shown(data.arcs[arc][3], 4));
        table.append(row("td", cells));
      });
      parts.push(make("h4", {}, "Parents"), table);
    }
    if (children[v].length) {
      const listed = children[v].slice(0, 40).map(({ node }) => make("li", {}, go(node)));
      if (children[v].length > 40) listed.push(make("li", {}, `and ${children[v].length - 40} more`));
      parts.push(make("h4", {}, "Children"), make("ul", { class: "inline" }, ...listed));
    }
    const table = document.querySelector(`#cpt-${v} .scroll`);
    if (table) {
      parts.push(make("h4", {}, parents[v].length ? "Conditional table" : "Probabilities"), table.cloneNode(true));
      const note = document.querySelector(`#cpt-${v} .note`);
      if (note) parts.push(note.cloneNode(true));
    } else {
      parts.push(make("p", {}, "No conditional table is known."));
    }
    return parts;
  };
  const describeArc = (arc) => {
    const [parent, child, loss, information, probability] = data.arcs[arc];
    const values = make("dl", { class: "values" });
    const add = (term, value) => values.append(make("dt", {}, term), make("dd", {}, value));
    add("Loss if removed", loss === null ? "–" : `${shown(loss, 4)} nats`);
    add("I(X; Y | others)", information === null ? "–" : `${shown(information, 5)} nats`);
    if (probability !== null) add("Posterior probability", shown(probability, 4));
    const words = loss === null
      ? (parent === data.hub ? "The structure requires this arc." : "What the score loses without this arc is not known.")
      : "The loss is what the score falls by if the child keeps the best of its families without this parent.";
    return [make("h3", {}, go(parent), " → ", go(child)), values, make("p", {}, words)];
  };
  const describeNothing = () => {
    const help = make("dl", { class: "help" });
    [
      ["hover", "a variable or an arc shows what is known of it"],
      ["click", "keeps the details here"],
      ["drag", "moves a variable, or the whole picture"],
      ["wheel", "zooms, as two fingers do"],
    ].forEach(([key, words]) => help.append(make("dt", {}, make("kbd", {}, key)), make("dd", {}, words)));
    [
      ["← ↑ ↓ →", "go to the next variable"],
      ["Enter", "keeps the details, Esc lets go"],
      ["/", "finds a variable by name"],
      ["+ − 0", "zoom in, zoom out, show everything"],
    ].forEach(([key, words]) => help.append(make("dt", {}, make("kbd", {}, key)), make("dd", {}, words)));
    return [make("h3", {}, "Details"), make("p", {}, "Choose a variable or an arc in the graph."), help];
  };

  // A table that is wider than the panel becomes a list: per configuration the parents' states, then the bars.
  const stackIfTooWide = (table) => {
    const box = table.parentNode;
    if (box.scrollWidth <= box.clientWidth + 1) return;
    const heads = [...table.tHead.rows[0].cells];
    [...table.tBodies[0].rows].forEach((line) => [...line.cells].forEach((cell, i) => {
      cell.prepend(make("span", { class: "of" }, ...[...heads[i].childNodes].map((part) => part.cloneNode(true))));
    }));
    table.classList.add("stacked");
  };

  let kept = null, hovered = null;
  const same = (a, b) => a && b && a.node === b.node && a.arc === b.arc;
  const update = () => {
    const thing = kept || hovered;
    emphasise(kept && hovered ? hovered : thing);
    const parts = !thing ? describeNothing() : thing.arc !== undefined ? describeArc(thing.arc) : describeNode(thing.node);
    if (kept) {
      const pin = make("button", { type: "button", class: "chip pin go" }, "kept ✕");
      pin.setAttribute("aria-label", "Let go of the details");
      pin.addEventListener("click", () => keep(null));
      parts.splice(1, 0, make("div", { class: "chips" }, pin));
    }
    panel.replaceChildren(...parts);
    panel.querySelectorAll(".probabilities").forEach(stackIfTooWide);
    panel.scrollTop = 0;
  };
  const hover = (thing) => {
    if (thing === hovered || same(thing, hovered)) return;
    hovered = thing;
    if (kept) emphasise(hovered || kept); else update();
  };
  const keep = (thing) => {
    kept = thing;
    hovered = null;
    update();
  };
  const thingAt = (target) => {
    const node = target.closest(".node"), arc = target.closest(".arc");
    return node ? { node: +node.dataset.node } : arc ? { arc: +arc.dataset.arc } : null;
  };

  // A name beside the pointer, which can be read at any zoom.
  const tip = byId("tip");
  const canBeRead = (v) => svg.clientWidth / view.w > 0.7 && nodes[v].querySelector("text").textContent === data.names[v];
  const label = (thing, event) => {
    const isNeeded = Boolean(thing) && (thing.arc !== undefined || !canBeRead(thing.node));
    tip.classList.toggle("on", isNeeded);
    if (!isNeeded) return;
    const [parent, child, loss, , probability] = thing.arc === undefined ? [] : data.arcs[thing.arc];
    tip.textContent = thing.arc === undefined
      ? data.names[thing.node]
      : `${data.names[parent]} → ${data.names[child]}` + (loss === null ? "" : `, loss ${shown(loss, 3)}`)
        + (probability === null ? "" : `, probability ${shown(probability, 2)}`);
    const box = canvas.getBoundingClientRect();
    const left = Math.min(event.clientX - box.left + 14, box.width - tip.offsetWidth - 6);
    const under = event.clientY - box.top + 18;
    const top = under + tip.offsetHeight > box.height ? under - tip.offsetHeight - 30 : under;
    tip.style.transform = `translate(${Math.max(4, left)}px, ${top}px)`;
  };

  // The pointer.
  let grabbed = null, pinched = null;
  const touches = new Map();
  const pinch = () => {
    const [[ax, ay], [bx, by]] = [...touches.values()];
    return { x: (ax + bx) / 2, y: (ay + by) / 2, distance: Math.hypot(ax - bx, ay - by) };
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    touches.set(event.pointerId, [event.clientX, event.clientY]);
    if (touches.size === 2) { grabbed = null; pinched = pinch(); }
    if (touches.size > 1) return;
    const thing = thingAt(event.target);
    grabbed = { thing, start: [event.clientX, event.clientY], at: toWorld(event.clientX, event.clientY), moved: false };
    if (thing && thing.node !== undefined) grabbed.offset = [x[thing.node] - grabbed.at.x, y[thing.node] - grabbed.at.y];
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (touches.has(event.pointerId)) touches.set(event.pointerId, [event.clientX, event.clientY]);
    if (touches.size === 2) {
      const now = pinch();
      zoom(pinched.distance / now.distance, toWorld(now.x, now.y));
      pinched = now;
      return;
    }
    if (!grabbed) {
      const thing = thingAt(event.target);
      label(thing, event);
      return hover(thing);
    }
    const [startX, startY] = grabbed.start;
    if (!grabbed.moved && Math.hypot(event.clientX - startX, event.clientY - startY) < 4) return;
    grabbed.moved = true;
    label(null);
    const at = toWorld(event.clientX, event.clientY);
    if (grabbed.offset) {
      move(grabbed.thing.node, at.x + grabbed.offset[0], at.y + grabbed.offset[1]);
    } else {
      svg.classList.add("panning");
      view.x -= at.x - grabbed.at.x;
      view.y -= at.y - grabbed.at.y;
      show();
    }
  });
  const release = (event) => {
    touches.delete(event.pointerId);
    svg.classList.remove("panning");
    const was = grabbed;
    grabbed = null;
    return was;
  };
  svg.addEventListener("pointerup", (event) => {
    const was = release(event);
    if (!was || was.moved) return;
    keep(was.thing && same(was.thing, kept) ? null : was.thing);
    if (was.thing && was.thing.node !== undefined) focusOn(was.thing.node);
  });
  svg.addEventListener("pointercancel", release);
  svg.addEventListener("pointerleave", () => {
    label(null);
    if (!grabbed) hover(null);
  });
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const step = Math.max(-60, Math.min(60, event.deltaY * (event.deltaMode ? 20 : 1)));
    zoom(Math.exp(step * 0.005), toWorld(event.clientX, event.clientY));
  }, { passive: false });

  // The keyboard: one variable is in the tab order, arrows go to the nearest in that direction.
  const focusOn = (v) => {
    nodes.forEach((g) => g.setAttribute("tabindex", "-1"));
    nodes[v].setAttribute("tabindex", "0");
    nodes[v].focus({ preventScroll: true });
  };
  const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const nearest = (v, [dx, dy]) => {
    let best = null, least = Infinity;
    for (let u = 0; u < n; u++) {
      const along = (x[u] - x[v]) * dx + (y[u] - y[v]) * dy;
      const aside = Math.abs((x[u] - x[v]) * dy) + Math.abs((y[u] - y[v]) * dx);
      if (u !== v && along > 1 && along + 2.5 * aside < least) { best = u; least = along + 2.5 * aside; }
    }
    return best;
  };
  svg.addEventListener("focusin", (event) => {
    const thing = thingAt(event.target);
    if (thing && event.target.matches(":focus-visible")) { hover(thing); bringIntoView(thing.node); }
  });
  svg.addEventListener("focusout", () => { if (!grabbed) hover(null); });
  svg.addEventListener("keydown", (event) => {
    const thing = thingAt(event.target);
    if (DIRECTIONS[event.key] && thing) {
      const next = nearest(thing.node, DIRECTIONS[event.key]);
      if (next !== null) { focusOn(next); hover({ node: next }); }
    } else if ((event.key === "Enter" || event.key === " ") && thing) {
      keep(same(thing, kept) ? null : thing);
    } else if (event.key === "+" || event.key === "=") zoom(0.8);
    else if (event.key === "-") zoom(1.25);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !isTyping) { event.preventDefault(); search.focus(); }
    if (event.key === "Escape") {
      if (kept || hovered) keep(null);
      else if (byId("explorer").classList.contains("large")) enlarge();
    }
  });

  // Tools.
  const search = byId("search"), matches = byId("matches");
  let found = [], turn = -1;
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLocaleLowerCase();
    const rank = (v) => {  // the name itself, then names that begin with it, then names that contain it
      const own = data.names[v].toLocaleLowerCase();
      return own === wanted ? 0 : own.startsWith(wanted) ? 1 : own.includes(wanted) ? 2 : 3;
    };
    found = wanted ? [...data.names.keys()].filter((v) => rank(v) < 3).sort((a, b) => rank(a) - rank(b)) : [];
    turn = -1;
    nodes.forEach((g, v) => g.classList.toggle("found", found.includes(v)));
    matches.textContent = wanted ? (found.length ? `${found.length} of ${n}` : "no match") : "";
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !found.length) return;
    event.preventDefault();
    turn = (turn + (event.shiftKey ? found.length - 1 : 1)) % found.length;
    matches.textContent = `${turn + 1} of ${found.length}`;
    centreOn(found[turn]);
    keep({ node: found[turn] });
  });
  const enlarge = () => {
    const isLarge = byId("explorer").classList.toggle("large");
    byId("enlarge").textContent = isLarge ? "Close" : "Enlarge";
    document.body.style.overflow = isLarge ? "hidden" : "";
    home();
  };
  byId("zoom-in").addEventListener("click", () => zoom(0.8));
  byId("zoom-out").addEventListener("click", () => zoom(1.25));
  byId("fit").addEventListener("click", fit);
  byId("reset").addEventListener("click", putBack);
  byId("enlarge").addEventListener("click", enlarge);
  const hubArcs = byId("hub-arcs");
  if (hubArcs) hubArcs.addEventListener("change", () => svg.classList.toggle("no-hub", !hubArcs.checked));
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-show]");
    if (!link) return;
    event.preventDefault();
    byId("explorer").scrollIntoView({ block: "start" });
    keep({ node: +link.dataset.show });
    centreOn(+link.dataset.show);
  });

  // Paper shows the whole network, and its tables if they are few and none was chosen.
  const MOST_ROWS_PRINTED = 300;
  let before = null, opened = [];
  const openTables = () => {
    const tables = [...document.querySelectorAll(".cpt")];
    const isSmall = document.querySelectorAll(".cpt tr").length <= MOST_ROWS_PRINTED;
    opened = isSmall && !tables.some((table) => table.open) ? tables : [];
    opened.forEach((table) => { table.open = true; });
  };
  window.addEventListener("beforeprint", () => {
    before = { ...view };
    openTables();
    clear();
    const [left, top, width, h] = data.view;
    const w = Math.max(width, LEAST_PRINTED);
    view = { x: left - (w - width) / 2, y: top, w, h };
    show();
  });
  window.addEventListener("afterprint", () => {
    opened.forEach((table) => { table.open = false; });
    if (before) { view = before; show(); update(); }
  });
  window.addEventListener("resize", () => { sizeCanvas(); });

  sizeCanvas();
  home();
  update();
})();
