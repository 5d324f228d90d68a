// Elements of pages, made in the document and never from text.
"use strict";
(() => {
  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (name === "class") made.className = value;
      else if (name === "text") made.textContent = value;
      else made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
    return made;
  }
  const number = value => Number(value).toLocaleString("en-US");
  const percent = share => share === null || share === undefined || Number.isNaN(share) ? "–" : `${(share * 100).toFixed(1)}%`;
  const points = share => `${share < 0 ? "−" : "+"}${Math.abs(share * 100).toFixed(1)}`;
  const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

  function intervalText(figures, { signed = true } = {}) {
    if (figures.value === null) return "nothing to compare";
    const write = signed ? points : share => (share * 100).toFixed(1);
    const reach = figures.low === null ? "no interval" : `${write(figures.low)} to ${write(figures.high)}`;
    return `${write(figures.value)} points (${reach})`.replace(signed ? "" : " points", signed ? "" : "%");
  }

  function selectBox(label, options, value, change) {
    const select = element("select", { onchange: event => change(event.target.value) });
    for (const [key, text] of options) select.append(new Option(text, key, false, String(key) === String(value)));
    return element("label", { class: "field" }, element("span", { text: label }), select);
  }

  // how a cell did: its main outcome, and whether only some trials were right
  function cellOutcome(table, series, row) {
    const cell = table.at(series, row);
    if (!table.asked(cell)) return null;
    const right = table.cells.right[cell], scored = table.scored(cell, series);
    if (right && right < scored) return "some";
    const rest = wardround.OUTCOMES.reduce((best, name) => table.cells[name][cell] > table.cells[best][cell] ? name : best, "right");
    return rest;
  }
  const OUTCOME_WORDS = { some: "right in some trials" };
  const outcomeWords = outcome => outcome === null ? "not asked" : OUTCOME_WORDS[outcome] || outcome;

  const outcomeTag = outcome => element("span", { class: `outcome ${outcome}`, text: outcomeWords(outcome) });

  function showProblem(error) {
    const box = document.getElementById("problem");
    box.textContent = error ? String(error.message || error) : "";
    box.hidden = !error;
  }
  Object.assign(wardround, { element, number, percent, points, plural, intervalText, selectBox, cellOutcome, outcomeWords, outcomeTag, showProblem });
})();
