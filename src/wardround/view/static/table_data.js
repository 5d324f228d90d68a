// The table of questions: rows, series (a candidate of a run under a condition) and cells, as typed arrays.
"use strict";
(() => {
  const NONE = 255;
  const OUTCOMES = ["right", "wrong", "unparsed", "refused", "unscored", "graded"];

  function bytes(text) {
    const decoded = atob(text), array = new Uint8Array(decoded.length);
    for (let place = 0; place < decoded.length; place++) array[place] = decoded.charCodeAt(place);
    return array;
  }
  const words = text => new Uint32Array(bytes(text).buffer);

  function facet(packed) {
    return { values: packed.values, combinations: packed.combinations, codes: words(packed.codes) };
  }
  function axesText(axes, varied) {
    const parts = varied.filter(axis => axis in axes).map(axis => `${axis} ${axes[axis]}`);
    return parts.join(", ") || "reference";
  }

  wardround.readTable = document => {
    const table = {
      ...document,
      questions: facet(document.questions),
      cluster: words(document.cluster),
      gold: bytes(document.gold),
      of: new Int32Array(bytes(document.of).buffer),
      facets: Object.fromEntries(Object.entries(document.facets).map(([key, packed]) => [key, facet(packed)])),
      stratum: bytes(document.stratum),
      cells: Object.fromEntries(Object.entries(document.cells).map(([key, packed]) => [key, bytes(packed)])),
    };
    table.noted = new Set(document.notes);
    table.severalRuns = table.runs.length > 1;
    for (const column of table.columns) column.label = table.severalRuns ? `${column.name} (${table.runs[column.run]})` : column.name;
    for (const condition of table.conditions) condition.label = axesText(condition.axes, table.varied);
    table.seriesAt = table.columns.map(() => table.conditions.map(() => -1));
    table.series.forEach(([column, condition], number) => { table.seriesAt[column][condition] = number; });
    table.chainOf = new Map();
    table.chains.forEach((rows, chain) => rows.forEach(row => table.chainOf.set(row, chain)));
    table.at = (series, row) => series * table.rows + row;
    table.questionName = row => table.questions.values[table.questions.combinations[table.questions.codes[row]][0]];
    table.asked = cell => OUTCOMES.reduce((sum, name) => sum + table.cells[name][cell], 0);
    // refusals count as wrong unless the study leaves them out; unscored answers never count
    table.scored = (cell, series) => table.cells.right[cell] + table.cells.wrong[cell] + table.cells.unparsed[cell]
      + (table.countsRefused[table.columns[table.series[series][0]].run] ? table.cells.refused[cell] : 0);
    table.severity = (condition, row) => {
      const stratum = table.stratum[condition * table.rows + row];
      return stratum === NONE ? null : table.strata[stratum][1];
    };
    table.degradation = (condition, row) => {
      const stratum = table.stratum[condition * table.rows + row];
      return stratum === NONE ? null : table.strata[stratum][0] || "none";
    };
    table.findRow = (caseId, question) => {
      for (let row = table.cases.indexOf(caseId); row >= 0 && row < table.rows; row = table.cases.indexOf(caseId, row + 1)) {
        if (table.questionName(row) === question) return row;
      }
      return -1;
    };
    return table;
  };
  wardround.readDiagnoses = document => ({
    names: document.names, series: words(document.series), row: words(document.row),
    gold: words(document.gold), diagnosis: words(document.diagnosis), same: bytes(document.same),
  });
  wardround.OUTCOMES = OUTCOMES;
  wardround.NONE = NONE;
})();
