// The table of questions: filters, patterns and a list that draws only the rows in view.
"use strict";
(() => {
  const { element, number, plural, selectBox, PATTERNS } = wardround;
  const SPARE = 6, MANY = 8; // rows drawn beyond the view; values of a facet before they are folded
  let searched = { phrase: "", rows: null };
  const unfolded = new Set();

  // texts are read when somebody is about to search: of a large run that takes a while
  let prepared = wardround.isExport;
  function prepare() { if (!prepared) { prepared = true; wardround.get("api/search/prepare").catch(() => {}); } }

  async function find(table, phrase) {
    if (!phrase.trim()) return null;
    if (searched.phrase === phrase) return searched.rows;
    let rows;
    document.querySelector("main").setAttribute("aria-busy", "true");
    if (wardround.isExport) {
      rows = [];
      const wanted = phrase.trim().toLowerCase();
      for (let block = 0; block * table.block < table.rows; block++) {
        const { texts } = await wardround.load(`texts/${block}`);
        texts.forEach((text, place) => { if (text.includes(wanted)) rows.push(block * table.block + place); });
      }
    } else {
      rows = (await wardround.get(`api/search?q=${encodeURIComponent(phrase)}`)).rows;
    }
    document.querySelector("main").removeAttribute("aria-busy");
    searched = { phrase, rows };
    return rows;
  }

  // A and B: those of the address, else the two that are right most often
  function sides(table) {
    const state = wardround.state();
    if (!table.ranking) {
      const share = table.columns.map((_, column) => {
        let right = 0, scored = 0;
        table.series.forEach(([own], series) => {
          if (own !== column) return;
          for (let row = 0; row < table.rows; row++) { const cell = table.at(series, row); right += table.cells.right[cell]; scored += table.scored(cell, series); }
        });
        return scored ? right / scored : -1;
      });
      table.ranking = table.columns.map((_, column) => column).sort((a, b) => share[b] - share[a]);
    }
    const at = (key, fallback) => { const place = table.columns.findIndex(column => column.label === state.get(key)); return place < 0 ? fallback : place; };
    const a = at("a", table.ranking[0]);
    return [a, at("b", table.ranking.find(column => column !== a) ?? a)];
  }

  // everything that the address says: rows in order, the pattern's counts, and the rows of the table before the pattern
  async function selected(table) {
    const state = wardround.state(), pattern = wardround.availablePatterns(table).includes(state.get("pattern")) ? state.get("pattern") : null;
    const selection = wardround.select(table, await find(table, state.get("search") || ""));
    const [a, b] = sides(table);
    let rows = selection.rows, counted = null;
    if (pattern === "trials") {
      counted = wardround.countTrials(table, selection, a);
      rows = rows.filter(row => counted.rows.has(row));
    } else if (pattern) {
      counted = wardround.countPattern(table, selection, pattern, a, b);
      const wanted = counted.quadrants[state.get("quadrant") || "10"] || counted.quadrants["10"];
      rows = rows.filter(row => wanted.has(row));
    }
    return { selection, pattern, counted, a, b, rows: wardround.order(table, selection, rows) };
  }

  // ---- filters ----
  function chips(facet, counts) {
    const chosen = wardround.state().getAll(facet.key);
    const values = unfolded.has(facet.key) ? facet.values : facet.values.filter((value, place) => place < MANY || chosen.includes(value));
    const buttons = values.map(value => {
      const count = counts ? counts.get(facet.values.indexOf(value)) || 0 : null;
      return element("button", { type: "button", class: "chip", "aria-pressed": String(chosen.includes(value)), onclick: () => wardround.toggle(facet.key, value) },
        value, count === null ? null : element("small", { text: ` ${number(count)}` }));
    });
    if (values.length < facet.values.length) {
      buttons.push(element("button", { type: "button", class: "more", text: `${facet.values.length - values.length} more`, onclick: () => { unfolded.add(facet.key); dispatchEvent(new HashChangeEvent("hashchange")); } }));
    }
    return element("fieldset", { class: "facet" }, element("legend", { text: facet.label }), element("div", {}, buttons));
  }
  function filters(table, selection) {
    const state = wardround.state(), item = wardround.itemFacets(table), row = wardround.rowFacets(table);
    const first = ["modality", "severity", "type", "specialty"], all = [...row, ...item].sort((x, y) => (first.indexOf(x.key) + 1 || 9) - (first.indexOf(y.key) + 1 || 9));
    const search = element("input", { type: "search", id: "search", value: state.get("search") || "", placeholder: "In all text", onfocus: prepare, "aria-label": "Search in history, question and replies" });
    const keys = [...all.map(facet => facet.key), "search", "noted", "pattern", "quadrant"];
    const any = keys.some(key => state.has(key));
    const side = element("div", { class: "filters" },
      element("form", { class: "search", role: "search", onsubmit: event => { event.preventDefault(); wardround.go({ search: search.value.trim() }); } }, search, element("button", { text: "Search" })),
      all.map(facet => chips(facet, selection.facetCounts.get(facet.key))),
      table.noted.size ? element("fieldset", { class: "facet" }, element("legend", { text: "Notes" }), element("button", { type: "button", class: "chip", "aria-pressed": String(state.get("noted") === "yes"), text: "noted or flagged", onclick: () => wardround.go({ noted: state.get("noted") === "yes" ? null : "yes" }) })) : null,
      any ? element("button", { type: "button", class: "quiet clear", text: "Clear all filters", onclick: () => wardround.go(Object.fromEntries(keys.map(key => [key, null]))) }) : null);
    const narrow = matchMedia("(max-width: 899px)").matches;
    const folded = element("details", { class: "filter-fold", open: !narrow || wardround.filtersOpen, ontoggle: event => { if (narrow) wardround.filtersOpen = event.target.open; } },
      element("summary", { text: "Filters" }), side);
    return element("aside", { "aria-label": "Filters", class: "side" }, folded);
  }

  // ---- patterns ----
  function patternBar(table, { pattern, a, b }) {
    const names = table.columns.map(column => [column.label, column.label]);
    const buttons = wardround.availablePatterns(table).map(name => element("button", {
      type: "button", class: "pattern", "aria-pressed": String(pattern === name),
      onclick: () => wardround.go({ pattern: pattern === name ? null : name, quadrant: null }),
    }, PATTERNS[name].button));
    const boxes = pattern ? [
      selectBox(pattern === "pair" ? "A" : "Candidate", names, table.columns[a].label, value => wardround.go({ a: value })),
      pattern === "pair" ? selectBox("B", names, table.columns[b].label, value => wardround.go({ b: value })) : null,
    ] : [];
    return element("div", { class: "patterns" }, element("div", { class: "pattern-buttons", role: "group", "aria-label": "Patterns" }, buttons), boxes.length ? element("div", { class: "sides" }, boxes) : null);
  }
  function patternCard(table, { pattern, counted, a, b }) {
    if (!pattern) return null;
    const figure = element("p", { class: "figure", role: "status", text: "…" }), method = element("p", { class: "meaning" });
    const name = table.columns[a].label;
    if (pattern === "trials") {
      const figures = wardround.normalInterval(counted.sums);
      figure.textContent = `${name}: ${number(counted.some)} of ${plural(counted.all, "answered question")} right in some trials only, ${wardround.intervalText(figures, { signed: false })}`;
      method.textContent = `95% interval over ${plural(figures.clusters, "case")}: ${figures.method}.`;
      return element("section", { class: "card summary", "aria-label": "Counts of the pattern" }, figure, method);
    }
    const [first, second] = PATTERNS[pattern].sides(name, table.columns[b].label);
    const chosen = wardround.state().get("quadrant") || "10";
    const cell = (quadrant, words) => element("button", { type: "button", class: `quadrant q${quadrant}`, "aria-pressed": String(chosen === quadrant), onclick: () => wardround.go({ quadrant }) },
      element("b", { text: number(counted.counts[quadrant]) }), element("span", { text: words }));
    const grid = element("div", { class: "quadrants", role: "group", "aria-label": "Both answers" },
      cell("10", `${first} right, ${second} wrong`), cell("01", `${first} wrong, ${second} right`), cell("11", "both right"), cell("00", "both wrong"));
    wardround.interval(counted.sums).then(figures => {
      figure.textContent = `${pattern === "pair" ? "" : `${name}: `}${first} − ${second}: ${wardround.intervalText(figures)}`;
      figure.dataset.value = figures.value ?? "";
      figure.dataset.low = figures.low ?? "";
      figure.dataset.high = figures.high ?? "";
      const tied = counted.tied ? ` ${plural(counted.tied, "pair")} with exactly half of the trials right are in no field.` : "";
      method.textContent = `${plural(counted.pairs, "pair")} of answers of ${plural(figures.clusters, "case")} in this filter; 95% interval: ${figures.method}. Exploratory: not adjusted for the number of looks.${tied}`;
    }).catch(wardround.showProblem);
    return element("section", { class: "card summary", "aria-label": "Counts of the pattern" }, grid, element("div", {}, figure, method));
  }

  // ---- the list ----
  function strip(table, selection, column, row) {
    const box = element("span", { class: "strip", role: "cell" }), words = [];
    for (let condition = 0; condition < table.conditions.length; condition++) {
      const series = table.seriesAt[column][condition];
      if (series < 0 || !selection.series.includes(series) || !selection.inStratum(condition, row)) continue;
      const outcome = wardround.cellOutcome(table, series, row);
      if (outcome === null) continue;
      const said = `${table.conditions[condition].label}: ${wardround.outcomeWords(outcome)}`;
      words.push(said);
      box.append(element("i", { class: `dot ${outcome}`, title: said }));
    }
    box.append(element("span", { class: "hidden", text: `${table.columns[column].label}: ${words.join("; ") || "not asked"}` }));
    return box;
  }
  function list(table, { selection, rows, pattern }) {
    const shown = table.columns.map((_, column) => column).filter(column => selection.series.some(series => table.series[series][0] === column));
    const head = element("div", { class: "row head", role: "row" }, element("span", { role: "columnheader", class: "thumb" }, element("span", { class: "hidden", text: "Image" })), element("span", { role: "columnheader", class: "what", text: "Question" }),
      shown.map(column => element("span", { role: "columnheader", class: "strip", title: table.columns[column].label, text: table.columns[column].label })));
    const space = element("div", { class: "space", role: "rowgroup" });
    const view = element("div", { class: "scroller", tabindex: "0", role: "table", "aria-label": "Questions", "aria-rowcount": rows.length + 1 }, element("div", { role: "rowgroup", class: "heads" }, head), space);
    const drawn = new Map();
    const height = matchMedia("(max-width: 899px)").matches ? 104 : 76;
    space.style.height = `${rows.length * height}px`;
    view.style.setProperty("--columns", shown.length);

    function make(place) {
      const row = rows[place];
      const line = element("div", { class: "row", role: "row", "aria-rowindex": place + 2 });
      line.style.transform = `translateY(${place * height}px)`;
      line.style.height = `${height}px`;
      const thumb = element("span", { class: "thumb", role: "cell" }), text = element("span", { class: "snippet" });
      const link = element("a", { href: wardround.address({ page: "question", case: table.cases[row], question: table.questionName(row) }), text: table.cases[row] });
      const what = element("span", { class: "what", role: "cell" }, element("span", { class: "name" }, link, element("small", { text: ` ${table.questionName(row)}${table.noted.has(row) ? " · noted" : ""}` })), text);
      line.append(thumb, what, ...shown.map(column => strip(table, selection, column, row)));
      wardround.load(`rows/${Math.floor(row / table.block)}`).then(block => {
        const entry = block.rows[row % table.block];
        text.textContent = entry.text;
        if (entry.thumb) thumb.append(element("img", { src: wardround.thumbnailAddress(entry.thumb), alt: "", loading: "lazy" }));
      }).catch(() => {});
      return line;
    }
    function draw() {
      const first = Math.max(0, Math.floor(view.scrollTop / height) - SPARE);
      const last = Math.min(rows.length, Math.ceil((view.scrollTop + view.clientHeight) / height) + SPARE);
      for (const [place, line] of drawn) if (place < first || place >= last) { line.remove(); drawn.delete(place); }
      for (let place = first; place < last; place++) {
        if (drawn.has(place)) continue;
        const line = make(place);
        drawn.set(place, line);
        space.append(line);
      }
    }
    let queued = false;
    view.addEventListener("scroll", () => { if (!queued) { queued = true; requestAnimationFrame(() => { queued = false; wardround.scrolled = view.scrollTop; draw(); }); } }, { passive: true });
    requestAnimationFrame(() => {
      if (wardround.backTo !== undefined) { const place = rows.indexOf(wardround.backTo); if (place >= 0) view.scrollTop = Math.max(0, (place - 2) * height); wardround.backTo = undefined; }
      draw();
    });
    new ResizeObserver(draw).observe(view);
    const empty = rows.length ? null : element("p", { class: "empty", text: pattern ? "No question has this pattern in the filter." : "No question passes the filters." });
    return empty || view;
  }

  async function page(table, main) {
    const chosen = await selected(table);
    const state = wardround.state();
    const count = element("p", { class: "count", role: "status" }, element("b", { text: number(chosen.rows.length) }), ` of ${plural(table.rows, "question")}`);
    main.replaceChildren(element("div", { class: "layout" },
      filters(table, chosen.selection),
      element("div", { class: "content" },
        element("h1", { class: "hidden", text: "Questions" }),
        patternBar(table, chosen),
        patternCard(table, chosen),
        element("div", { class: "bar" }, count, selectBox("Order", Object.entries(wardround.SORTS), state.get("sort") || "", value => wardround.go({ sort: value })),
          element("p", { class: "key" }, ["right", "wrong", "some", "unparsed", "refused", "unscored", "graded"].filter(name => name === "some" || table.cells[name].some(value => value)).map(name => element("span", {}, element("i", { class: `dot ${name}` }), ` ${name === "some" ? "some trials" : name} `)))),
        list(table, chosen))));
  }
  Object.assign(wardround, { questionsPage: page, selected, sides });
})();
