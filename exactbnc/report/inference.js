// The marginals of all variables given evidence, exactly: two passes over a tree of buckets.
//
// A factor is {vars, values}, the last variable fastest. Bucket k has the product of all factors whose first variable in
// the order is order[k]; its message, the product without that variable, goes to the bucket of the message's first
// variable. On the way back every product is multiplied by (what its receiver believes) / (the message it sent).
const exactInference = ({ order, families, tables, arities }) => {
  const place = [];
  order.forEach((v, k) => { place[v] = k; });
  const bucketOf = (vars) => Math.min(...vars.map((v) => place[v]));
  const strides = (vars) => {
    const found = new Map();
    let step = 1;
    for (let i = vars.length - 1; i >= 0; i--) { found.set(vars[i], step); step *= arities[vars[i]]; }
    return found;
  };
  const cells = (vars) => vars.reduce((product, v) => product * arities[v], 1);

  // Calls visit(cell, places) for every cell over `vars`, with its place in each of the factors.
  const walk = (vars, factors, visit) => {
    const steps = factors.map((factor) => {
      const own = strides(factor.vars);
      return vars.map((v) => own.get(v) || 0);
    });
    const states = vars.map(() => 0), places = factors.map(() => 0), n = cells(vars);
    for (let cell = 0; cell < n; cell++) {
      visit(cell, places);
      for (let i = vars.length - 1; i >= 0; i--) {
        const isOver = ++states[i] === arities[vars[i]];
        const turn = isOver ? 1 - arities[vars[i]] : 1;
        for (let f = 0; f < places.length; f++) places[f] += turn * steps[f][i];
        if (!isOver) break;
        states[i] = 0;
      }
    }
  };
  const multiply = (factors) => {
    const vars = [...new Set(factors.flatMap((factor) => factor.vars))];
    const values = new Float64Array(cells(vars));
    walk(vars, factors, (cell, places) => {
      let product = 1;
      for (let f = 0; f < factors.length; f++) product *= factors[f].values[places[f]];
      values[cell] = product;
    });
    return { vars, values };
  };
  const sumOnto = (factor, vars) => {
    const sum = { vars, values: new Float64Array(cells(vars)) };
    walk(factor.vars, [factor, sum], (cell, places) => { sum.values[places[1]] += factor.values[places[0]]; });
    return sum;
  };
  const total = (factor) => factor.values.reduce((sum, value) => sum + value, 0);
  const normalise = (factor, sum) => ({ vars: factor.vars, values: factor.values.map((value) => value / sum) });

  // evidence[v] is a state or null; null is the answer where the evidence is impossible.
  return (evidence) => {
    const buckets = order.map(() => []);
    families.forEach((vars, v) => buckets[bucketOf(vars)].push({ vars, values: tables[v] }));
    evidence.forEach((state, v) => {
      if (state === null) return;
      const values = Array.from({ length: arities[v] }, (_, k) => (k === state ? 1 : 0));
      buckets[place[v]].push({ vars: [v], values });
    });
    const products = [], messages = [];
    let logProbability = 0;
    for (let k = 0; k < order.length; k++) {
      products[k] = multiply(buckets[k]);
      const sum = total(products[k]);
      if (!(sum > 0)) return null;
      logProbability += Math.log(sum);
      products[k] = normalise(products[k], sum);
      messages[k] = sumOnto(products[k], products[k].vars.filter((v) => v !== order[k]));
      if (messages[k].vars.length) buckets[bucketOf(messages[k].vars)].push(messages[k]);
    }
    const marginals = [];
    for (let k = order.length - 1; k >= 0; k--) {
      const message = messages[k];
      if (message.vars.length) {
        const believed = sumOnto(products[bucketOf(message.vars)], message.vars);
        const ratio = believed.values.map((value, cell) => (value === 0 ? 0 : value / message.values[cell]));
        products[k] = multiply([products[k], { vars: message.vars, values: ratio }]);
      }
      const own = sumOnto(products[k], [order[k]]);
      marginals[order[k]] = normalise(own, total(own)).values;
    }
    return { marginals, logProbability };
  };
};
