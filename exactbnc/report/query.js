// The questions of the page: states that are pressed are the evidence, bars are the marginals, a stroke in a bar is
// where it was without evidence.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  if (!data.question) return;
  const { order, families, tables, states } = data.question;
  const marginalsGiven = exactInference({ order, families, tables, arities: states.map((listed) => listed.length) });
  const byId = (id) => document.getElementById(id);
  const list = byId("beliefs"), words = byId("evidence"), filter = byId("belief-filter"), sorted = byId("belief-sort");
  const evidence = data.names.map(() => null);
  const before = marginalsGiven(evidence).marginals;
  const percent = (p) => {
    const shown = (100 * p).toFixed(1);
    return p > 0 && shown === "0.0" ? "<0.1 %" : p < 1 && shown === "100.0" ? ">99.9 %" : `${shown} %`;
  };

  const cards = data.names.map((name, v) => {
    const card = document.createElement("li");
    card.className = v === data.class ? "belief class" : "belief";
    const title = document.createElement("h3");
    title.append(...breakable(name));
    const rows = document.createElement("div");
    rows.className = "states";
    const buttons = states[v].map((state, k) => {
      const button = document.createElement("button");
      button.type = "button";
      button.innerHTML = '<span class="state"></span><span class="level"><i></i></span><b></b>';
      button.firstChild.append(...breakable(state));
      button.children[1].style.setProperty("--before", before[v][k].toFixed(4));
      button.addEventListener("click", () => { evidence[v] = evidence[v] === k ? null : k; update(); });
      return button;
    });
    rows.append(...buttons);
    card.append(title, rows);
    list.append(card);
    return { card, buttons };
  });

  const update = () => {
    const found = marginalsGiven(evidence);
    const given = data.names.flatMap((name, v) => (evidence[v] === null ? [] : [`${name} = ${states[v][evidence[v]]}`]));
    words.textContent = !given.length
      ? "Nothing is given: these are the probabilities without evidence."
      : found
        ? `Given ${given.join(", ")}, which has probability ${Math.exp(found.logProbability).toPrecision(4)}.`
        : `${given.join(", ")}: these values cannot occur together under the network. Release one of them.`;
    byId("clear-evidence").disabled = !given.length;
    list.classList.toggle("impossible", !found);
    cards.forEach(({ card, buttons }, v) => {
      card.classList.toggle("given", evidence[v] !== null);
      let change = 0;
      buttons.forEach((button, k) => {
        const p = found ? found.marginals[v][k] : evidence[v] === k ? 1 : 0;
        change += Math.abs(p - before[v][k]) / 2;
        button.setAttribute("aria-pressed", String(evidence[v] === k));
        button.children[1].style.setProperty("--p", p.toFixed(4));
        button.lastChild.textContent = found ? percent(p) : "–";
        button.dataset.p = p;
      });
      const rank = evidence[v] !== null ? -2e6 : -Math.round(1e6 * change);
      card.style.order = sorted && sorted.checked ? rank : 0;
    });
    if (sorted && sorted.checked) list.scrollTop = 0;
  };
  if (filter) {
    filter.addEventListener("input", () => {
      const wanted = filter.value.trim().toLocaleLowerCase();
      cards.forEach(({ card }, v) => { card.hidden = !data.names[v].toLocaleLowerCase().includes(wanted); });
    });
    sorted.addEventListener("change", update);
  }
  byId("clear-evidence").addEventListener("click", () => { evidence.fill(null); update(); });
  update();
})();
