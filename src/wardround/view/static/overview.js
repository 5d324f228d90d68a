// Two overviews that are clicked into: a map of conditions by candidates, and which options and diagnoses are taken for which.
"use strict";
(() => {
  const { element, number, percent, plural, NONE } = wardround;
  const MANY = 40; // confusions listed

  async function map(table, main) {
    const { selection } = await wardround.selected(table);
    const rows = table.conditions.map((condition, place) => ({ condition, place })).filter(({ place }) => selection.conditions[place]);
    const severities = [...new Set(table.strata.map(([, severity]) => severity))].sort();
    // the severities under which a condition was asked: several if questions have their own degradations
    const found = new Map(rows.map(({ place }) => {
      const asked = selection.rows.filter(row => selection.inStratum(place, row) && table.seriesAt.some(own => own[place] >= 0 && table.asked(table.at(own[place], row))));
      return [place, [...new Set(asked.map(row => table.severity(place, row)))].sort()];
    }));
    const isSplit = place => found.get(place).length > 1;
    const lines = rows.flatMap(({ condition, place }) => (isSplit(place) ? found.get(place) : found.get(place).length ? [null] : []).map(severity => ({ condition, place, severity })));
    function cell({ condition, place, severity }, column) {
      const series = table.seriesAt[column][place];
      if (series < 0) return element("td", { class: "absent", text: "not asked" });
      let right = 0, scored = 0, unparsed = 0;
      for (const row of selection.rows) {
        if (!selection.inStratum(place, row) || (severity !== null && table.severity(place, row) !== severity)) continue;
        const at = table.at(series, row), count = table.scored(at, series);
        if (count) { right += table.cells.right[at] / count; scored += 1; unparsed += table.cells.unparsed[at] ? 1 : 0; }
      }
      if (!scored) return element("td", { class: "absent", text: "not asked" });
      const share = right / scored, changes = { page: null, candidate: table.columns[column].label, outcome: "wrong" };
      for (const axis of table.varied) if (axis !== "degradation" || severities.length < 2) changes[`axis.${axis}`] = condition.axes[axis] || table.defaults[axis];
      if (severities.length > 1) {
        const first = selection.rows.find(row => table.severity(place, row) !== null && (severity === null || table.severity(place, row) === severity));
        if (first !== undefined) { changes.severity = table.severity(place, first); if (!isSplit(place)) changes.type = table.degradation(place, first); }
      }
      const link = element("a", { href: wardround.address(changes), "aria-label": `${table.columns[column].label}, ${condition.label}${severity ? `, ${severity}` : ""}: ${percent(share)} right of ${scored}; show the wrong ones` }, element("b", { text: percent(share) }), element("small", { text: `${number(scored)}${unparsed ? `, ${number(unparsed)} unparsed` : ""}` }));
      link.style.setProperty("--share", `${Math.round(share * 100)}%`);
      return element("td", { class: "heat" }, link);
    }
    main.replaceChildren(element("div", { class: "single" }, element("h1", { text: "Map" }),
      element("p", { class: "meaning", text: `Share right over ${plural(selection.rows.length, "question")} of the filter. A field leads to its wrong answers.` }),
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Conditions by candidates" }, element("table", { class: "map" },
        element("thead", {}, element("tr", {}, element("th", { scope: "col", text: "Condition" }), table.columns.map(column => element("th", { scope: "col", text: column.label })))),
        element("tbody", {}, lines.map(line => element("tr", {}, element("th", { scope: "row", text: line.severity ? `${line.condition.label}, ${line.severity}` : line.condition.label }), table.columns.map((_, column) => cell(line, column)))))))));
  }

  // what was taken for what, most often first, each with its first question
  function confusionTable(table, pairs, heads) {
    const listed = [...pairs].sort((x, y) => y[1].length - x[1].length).slice(0, MANY);
    return element("table", { class: "plain" }, element("thead", {}, element("tr", {}, heads.map(text => element("th", { scope: "col", text })))),
      element("tbody", {}, listed.map(([key, found]) => { const [right, chosen] = key.split("\n"); return element("tr", {}, element("td", { text: right }), element("td", { text: chosen }), element("td", { class: "number", text: number(found.length) }), element("td", {}, element("a", { href: wardround.address({ page: "question", case: table.cases[found[0]], question: table.questionName(found[0]) }), text: table.cases[found[0]] }))); })));
  }

  async function diagnosisConfusions(table, selection, column) {
    const entries = wardround.readDiagnoses(await wardround.load("diagnoses", { fresh: !wardround.isExport })), selected = new Set(selection.rows), pairs = new Map();
    let answers = 0, same = 0, unjudged = 0;
    entries.row.forEach((row, place) => {
      const [own, condition] = table.series[entries.series[place]];
      if (own !== column || !selected.has(row) || !selection.conditions[condition] || !selection.inStratum(condition, row)) return;
      answers += 1;
      if (entries.same[place] === NONE) { unjudged += 1; return; }
      if (entries.same[place]) { same += 1; return; }
      const key = `${entries.names[entries.gold[place]]}\n${entries.names[entries.diagnosis[place]]}`;
      pairs.set(key, [...(pairs.get(key) || []), row]);
    });
    if (!answers) return [element("p", { class: "empty", text: "No open answer in the filter has a judged diagnosis." })];
    const kinds = `${pairs.size} confusions${pairs.size > MANY ? `, of which the ${MANY} most frequent are listed` : ""}`;
    return [element("p", { class: "meaning", text: `${plural(answers, "open answer")} in the filter: ${number(same)} with the right diagnosis first, ${number(answers - same - unjudged)} with another (${kinds}), ${number(unjudged)} without a verdict. Of several trials the most frequent first diagnosis counts.` }),
      pairs.size ? confusionTable(table, pairs, ["right diagnosis", "named first", "times", "first question"]) : null].filter(Boolean);
  }

  async function confusions(table, main) {
    const { selection, rows } = await wardround.selected(table), [a] = wardround.sides(table);
    const letters = Math.max(2, ...selection.rows.map(row => table.gold[row]).filter(gold => gold !== NONE)) + 1;
    const grid = Array.from({ length: letters }, () => new Array(letters).fill(0)), wrong = new Map();
    let answers = 0;
    for (const row of selection.rows) {
      const gold = table.gold[row];
      if (gold === NONE) continue;
      for (let condition = 0; condition < table.conditions.length; condition++) {
        const series = table.seriesAt[a][condition];
        if (series < 0 || !selection.conditions[condition] || !selection.inStratum(condition, row)) continue;
        const option = table.cells.option[table.at(series, row)];
        if (option === NONE) continue;
        while (option >= grid[0].length) grid.forEach(line => line.push(0));
        grid[gold][option] += 1;
        answers += 1;
        if (option !== gold) wrong.set(row, [...(wrong.get(row) || []), option]);
      }
    }
    const letter = place => String.fromCharCode(65 + place), most = Math.max(1, ...grid.flat());
    const matrix = element("table", { class: "map confusion" }, element("caption", { text: "Options in the order of the case: what was right (rows) and what was chosen (columns)" }),
      element("thead", {}, element("tr", {}, element("th", { scope: "col", text: "right" }), grid[0].map((_, place) => element("th", { scope: "col", text: letter(place) })))),
      element("tbody", {}, grid.map((line, gold) => element("tr", {}, element("th", { scope: "row", text: letter(gold) }), line.map((count, option) => { const cell = element("td", { class: gold === option ? "diagonal" : "", text: number(count) }); cell.style.setProperty("--share", `${Math.round(30 * count / most)}%`); return cell; })))));
    const list = element("div", {}, element("p", { class: "waiting", text: "Reading the options …" }));
    main.replaceChildren(element("div", { class: "single" }, element("h1", { text: "Confusions" }),
      element("div", { class: "sides" }, wardround.selectBox("Candidate", table.columns.map(column => [column.label, column.label]), table.columns[a].label, value => wardround.go({ a: value }))),
      element("p", { class: "meaning", text: `${plural(answers, "answer")} to choice questions in the filter (${number(rows.length)} questions); of several trials the most frequent option.` }),
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Options" }, matrix), element("h2", { text: "What was chosen instead" }), list,
      element("h2", { text: "Diagnoses of open answers" }), element("div", { class: "diagnoses scroll", tabindex: "0", role: "region", "aria-label": "Diagnoses of open answers" }, await diagnosisConfusions(table, selection, a))));
    const pairs = new Map();
    for (const [row, options] of wrong) {
      const block = await wardround.load(`rows/${Math.floor(row / table.block)}`).catch(() => null);
      const entry = block && block.rows[row % table.block];
      if (!entry || !entry.options.length) continue;
      for (const option of options) {
        const key = `${entry.options[table.gold[row]]}\n${entry.options[option]}`;
        pairs.set(key, [...(pairs.get(key) || []), row]);
      }
    }
    list.replaceChildren(pairs.size ? confusionTable(table, pairs, ["right answer", "chosen instead", "times", "first question"])
      : element("p", { class: "empty", text: wrong.size ? "The options of these questions are not there." : "No option was taken for another." }));
  }
  Object.assign(wardround, { mapPage: map, confusionsPage: confusions });
})();
