// Patterns of answers, each over pairs of cells: counts of the four outcomes, and the paired difference with its interval.
// A cell is right if more than half of its scored trials are right, and wrong if fewer than half are (our choice).
"use strict";
(() => {
  const Z = 1.959963984540054, FEWEST = 30; // clusters, for the normal interval

  const PATTERNS = {
    pair: { button: "A right, B wrong", needsB: true, sides: (a, b) => [a, b] },
    degraded: { button: "Right clean, wrong degraded", sides: () => ["clean", "degraded"] },
    evidence: { button: "Right alone, wrong with evidence", sides: () => ["alone", "with evidence"] },
    trials: { button: "Right in some trials only" },
  };

  function available(table) {
    if (table.patterns) return table.patterns;
    const several = table.cells.right.some((count, cell) => count > 1 || table.asked(cell) > 1);
    return table.patterns = Object.keys(PATTERNS).filter(name => ({
      pair: table.columns.length > 1,
      degraded: table.strata.some(([, severity]) => severity !== "L0"),
      evidence: table.conditions.some(condition => condition.alone >= 0),
      trials: several,
    })[name]);
  }

  // calls `visit(row, seriesA, rowA, seriesB, rowB)` for every pair in the selection
  function visitPairs(table, selection, pattern, a, b, rows, visit) {
    const inCondition = condition => selection.conditions[condition];
    for (const row of rows) {
      for (let condition = 0; condition < table.conditions.length; condition++) {
        if (!inCondition(condition) || !selection.inStratum(condition, row)) continue;
        const own = table.seriesAt[a][condition];
        if (own < 0) continue;
        if (pattern === "pair") {
          const other = table.seriesAt[b][condition];
          if (other >= 0) visit(row, own, row, other, row);
        } else if (pattern === "evidence") {
          const alone = table.conditions[condition].alone;
          const other = alone < 0 ? -1 : table.seriesAt[a][alone];
          if (other >= 0) visit(row, other, row, own, row);
        } else if (pattern === "degraded") {
          const severity = table.severity(condition, row);
          if (severity === null || severity === "L0") continue;
          // the question named in `of` under the same condition; else the same undegraded; else that question undegraded
          const original = table.of[row] >= 0 ? table.of[row] : row, undone = table.conditions[condition].clean;
          for (const [cleanRow, cleanCondition] of [[original, condition], [row, undone], [original, undone]]) {
            const clean = cleanCondition < 0 ? -1 : table.seriesAt[a][cleanCondition];
            if (clean < 0 || table.severity(cleanCondition, cleanRow) !== "L0" || !table.asked(table.at(clean, cleanRow))) continue;
            visit(row, clean, cleanRow, own, row);
            break;
          }
        }
      }
    }
  }

  // counts, rows by quadrant ("10": first right, second wrong), and the sums of each cluster
  function count(table, selection, pattern, a, b) {
    const quadrants = { "10": new Set(), "01": new Set(), "11": new Set(), "00": new Set() };
    const counts = { "10": 0, "01": 0, "11": 0, "00": 0 }, clusters = new Map();
    let pairs = 0, tied = 0;
    visitPairs(table, selection, pattern, a, b, selection.rows, (row, seriesA, rowA, seriesB, rowB) => {
      const cellA = table.at(seriesA, rowA), cellB = table.at(seriesB, rowB);
      const scoredA = table.scored(cellA, seriesA), scoredB = table.scored(cellB, seriesB);
      if (!scoredA || !scoredB) return;
      pairs += 1;
      const shareA = table.cells.right[cellA] / scoredA, shareB = table.cells.right[cellB] / scoredB;
      const sums = clusters.get(table.cluster[row]) || [0, 0, 0, 0];
      sums[0] += shareA; sums[1] += 1; sums[2] += shareB; sums[3] += 1;
      clusters.set(table.cluster[row], sums);
      if (shareA === 0.5 || shareB === 0.5) { tied += 1; return; }
      const quadrant = `${shareA > 0.5 ? 1 : 0}${shareB > 0.5 ? 1 : 0}`;
      counts[quadrant] += 1;
      quadrants[quadrant].add(row);
    });
    return { pairs, tied, counts, quadrants, sums: [...clusters.values()] };
  }

  function countTrials(table, selection, a) {
    const rows = new Set(), clusters = new Map();
    let some = 0, all = 0;
    for (const row of selection.rows) {
      for (let condition = 0; condition < table.conditions.length; condition++) {
        const series = table.seriesAt[a][condition];
        if (series < 0 || !selection.conditions[condition] || !selection.inStratum(condition, row)) continue;
        const cell = table.at(series, row), scored = table.scored(cell, series);
        if (scored < 2) continue;
        const right = table.cells.right[cell], isSome = right > 0 && right < scored ? 1 : 0;
        all += 1;
        some += isSome;
        if (isSome) rows.add(row);
        const sums = clusters.get(table.cluster[row]) || [0, 0, 0, 1];
        sums[0] += isSome; sums[1] += 1;
        clusters.set(table.cluster[row], sums);
      }
    }
    return { rows, some, all, sums: [...clusters.values()] };
  }

  // the difference of two ratios with a cluster-robust standard error; the server's method if clusters are many
  function normalInterval(sums) {
    const total = [0, 0, 0, 0];
    for (const row of sums) row.forEach((value, place) => { total[place] += value; });
    if (!total[1] || !total[3]) return { value: null, low: null, high: null, clusters: 0, method: "nothing to compare" };
    const a = total[0] / total[1], b = total[2] / total[3], value = a - b;
    if (sums.length < FEWEST) return { value, low: null, high: null, clusters: sums.length, method: "too few cases for an interval" };
    let squares = 0;
    for (const row of sums) squares += ((row[0] - a * row[1]) / total[1] - (row[2] - b * row[3]) / total[3]) ** 2;
    const reach = Z * Math.sqrt(squares * sums.length / (sums.length - 1));
    return { value, low: Math.max(-1, value - reach), high: Math.min(1, value + reach), clusters: sums.length, method: "normal, cluster-robust" };
  }
  async function interval(sums) {
    if (wardround.isExport) return normalInterval(sums);
    return wardround.send("api/interval", new Float64Array(sums.flat()).buffer);
  }

  Object.assign(wardround, { PATTERNS, availablePatterns: available, countPattern: count, countTrials, interval, normalInterval, visitPairs });
})();
