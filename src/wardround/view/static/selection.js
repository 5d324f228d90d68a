// Which rows a reader has selected, and in which order. The whole selection is in the address.
"use strict";
(() => {
  const { NONE, OUTCOMES } = wardround;
  const BANDS = { "under 50%": [0, 100], "50 to 79%": [100, 160], "80 to 94%": [160, 190], "95% and over": [190, 201], "not stated": [NONE, NONE + 1] };
  const SORTS = {
    "": "Case order", hardest: "Hardest first", easiest: "Easiest first", disagreement: "Most disagreement",
    volatility: "Most volatile over trials", change: "Largest change between conditions",
  };

  // ---- the address ----
  function state() { return new URLSearchParams(location.hash.replace(/^#/, "")); }
  function go(changes, { replace = false } = {}) {
    const next = state();
    for (const [key, value] of Object.entries(changes)) {
      next.delete(key);
      for (const one of Array.isArray(value) ? value : [value]) if (one !== null && one !== undefined && one !== "") next.append(key, one);
    }
    const hash = `#${next}`;
    if (replace) { history.replaceState(null, "", hash); dispatchEvent(new HashChangeEvent("hashchange")); } else location.hash = hash;
  }
  const address = changes => {
    const next = state();
    for (const [key, value] of Object.entries(changes)) { next.delete(key); if (value !== null && value !== "") next.set(key, value); }
    return `#${next}`;
  };
  function toggle(key, value) {
    const before = state().getAll(key);
    go({ [key]: before.includes(value) ? before.filter(other => other !== value) : [...before, value] });
  }

  // ---- what can be filtered by ----
  function itemFacets(table) {
    if (table.itemFacets) return table.itemFacets;
    const facets = table.itemFacets = [];
    const severities = [...new Set(table.strata.map(([, severity]) => severity))].sort();
    const types = [...new Set(table.strata.map(([type]) => type || "none"))].sort();
    if (severities.length > 1) facets.push({ key: "severity", label: "Severity", values: severities });
    if (types.length > 1) facets.push({ key: "type", label: "Degradation", values: types });
    for (const axis of table.varied) {
      if (axis === "degradation" && severities.length > 1) continue; // said by type and severity
      facets.push({ key: `axis.${axis}`, label: axis[0].toUpperCase() + axis.slice(1), values: [...new Set(table.conditions.map(c => c.axes[axis] || table.defaults[axis]))] });
    }
    facets.push({ key: "outcome", label: "Outcome", values: OUTCOMES.filter(name => table.cells[name].some(count => count)) });
    facets.push({ key: "candidate", label: "Candidate", values: table.columns.map(column => column.label) });
    const unparsed = new Set();
    table.cells.unparsed.forEach((count, cell) => { if (count && table.cells.rule[cell] !== NONE) unparsed.add(table.rules[table.cells.rule[cell]]); });
    if (unparsed.size) facets.push({ key: "rule", label: "Unparsed because", values: [...unparsed].sort() });
    if (table.cells.confidence.some(value => value !== NONE)) facets.push({ key: "confidence", label: "Confidence", values: Object.keys(BANDS) });
    return facets;
  }
  function rowFacets(table) {
    const names = { tag: "Tag", age_band: "Age" };
    return Object.entries(table.facets).map(([key, facet]) => ({ key, label: names[key] || key[0].toUpperCase() + key.slice(1), values: facet.values }));
  }

  // ---- the selection ----
  // `series` are those that pass the filters of candidate and condition; `pairs` those of the condition alone
  function select(table, found = null) {
    const chosen = state(), rows = table.rows, wanted = key => chosen.getAll(key);
    const candidates = wanted("candidate"), axes = [...new Set([...chosen.keys()].filter(key => key.startsWith("axis.")))];
    const conditions = table.conditions.map(condition => axes.every(key => wanted(key).includes(condition.axes[key.slice(5)] || table.defaults[key.slice(5)])));
    const series = [];
    table.series.forEach(([column, condition], number) => {
      if (conditions[condition] && (!candidates.length || candidates.includes(table.columns[column].label))) series.push(number);
    });
    const severities = wanted("severity"), types = wanted("type");
    const strata = table.strata.map(([type, severity]) => (!severities.length || severities.includes(severity)) && (!types.length || types.includes(type || "none")));
    const anyStratum = !severities.length && !types.length;
    const inStratum = (condition, row) => {
      const stratum = table.stratum[condition * rows + row];
      return anyStratum || (stratum !== NONE && strata[stratum]);
    };

    const facets = Object.entries(table.facets).filter(([key]) => wanted(key).length).map(([key, facet]) => {
      const values = wanted(key).map(value => facet.values.indexOf(value));
      return { key, codes: facet.codes, passes: facet.combinations.map(parts => parts.some(part => values.includes(part))) };
    });
    const outcomes = wanted("outcome").map(name => table.cells[name]), rules = wanted("rule").map(name => table.rules.indexOf(name));
    const bands = wanted("confidence").map(name => BANDS[name]).filter(Boolean);
    const noted = chosen.get("noted") === "yes";
    function cellPasses(cell) {
      if (!table.asked(cell)) return false;
      if (outcomes.length && !outcomes.some(counts => counts[cell])) return false;
      if (rules.length && !(table.cells.unparsed[cell] && rules.includes(table.cells.rule[cell]))) return false;
      const confidence = table.cells.confidence[cell];
      return !bands.length || bands.some(([low, high]) => confidence >= low && confidence < high);
    }
    const only = found && new Set(found);
    const passing = [], facetCounts = new Map(Object.keys(table.facets).map(key => [key, new Map()]));
    for (let row = 0; row < rows; row++) {
      if ((only && !only.has(row)) || (noted && !table.noted.has(row))) continue;
      let failed = null, failures = 0;
      for (const facet of facets) if (!facet.passes[facet.codes[row]]) { failed = facet.key; if (++failures > 1) break; }
      if (failures > 1) continue;
      let passes = false;
      for (const number of series) {
        if (inStratum(table.series[number][1], row) && cellPasses(number * rows + row)) { passes = true; break; }
      }
      if (!passes) continue;
      // a facet's counts are those of rows that pass all other filters
      for (const [key, counts] of facetCounts) {
        if (failures && failed !== key) continue;
        const facet = table.facets[key];
        for (const part of facet.combinations[facet.codes[row]]) counts.set(part, (counts.get(part) || 0) + 1);
      }
      if (!failures) passing.push(row);
    }
    return { rows: passing, series, conditions, inStratum, facetCounts };
  }

  // ---- the order ----
  function shares(table, selection, row) {
    const values = [];
    for (const series of selection.series) {
      if (!selection.inStratum(table.series[series][1], row)) continue;
      const cell = table.at(series, row), scored = table.scored(cell, series);
      if (scored) values.push([table.cells.right[cell] / scored, series, scored]);
    }
    return values;
  }
  const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;
  const KEYS = {
    hardest: values => -mean(values.map(([share]) => share)),
    easiest: values => mean(values.map(([share]) => share)),
    // variance of being right between series: largest if half of them are right
    disagreement: values => { const share = mean(values.map(([value]) => value > 0.5 ? 1 : 0)); return share * (1 - share); },
    volatility: values => mean(values.map(([share]) => share * (1 - share))),
    change: (values, table) => {
      const byCondition = new Map();
      for (const [share, series] of values) { const key = table.series[series][1]; byCondition.set(key, [...(byCondition.get(key) || []), share]); }
      const means = [...byCondition.values()].map(mean);
      return Math.max(...means) - Math.min(...means);
    },
  };
  function order(table, selection, rows) {
    const key = KEYS[state().get("sort")];
    if (!key) return rows;
    const value = new Map(rows.map(row => { const values = shares(table, selection, row); return [row, values.length ? key(values, table) : -Infinity]; }));
    return [...rows].sort((a, b) => value.get(b) - value.get(a) || a - b);
  }

  Object.assign(wardround, { state, go, address, toggle, itemFacets, rowFacets, select, order, SORTS });
})();
