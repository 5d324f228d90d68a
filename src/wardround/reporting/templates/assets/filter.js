"use strict";
// the fragment selects the marks that are counted: #candidate=a&inputs=history&outcome=wrong
(function () {
  var data = JSON.parse(document.getElementById("data").textContent);
  var rows = document.querySelectorAll("#cases tbody tr");
  var heads = document.querySelectorAll("#cases thead th");
  var selects = document.querySelectorAll("#filters select");
  var outcomes = ["right", "wrong", "unparsed", "refused", "unscored", "graded"];
  document.getElementById("filters").hidden = false;

  function key(select) { return select.dataset.key || select.id; }

  function show() {
    var filters = new URLSearchParams(location.hash.slice(1));
    var candidate = filters.get("candidate"), outcome = outcomes.indexOf(filters.get("outcome"));
    var wanted = [];
    filters.forEach(function (value, name) {
      if (name !== "candidate" && name !== "outcome")
        wanted.push(data.values.findIndex(function (pair) { return pair[0] === name && pair[1] === value; }));
    });
    selects.forEach(function (select) { select.value = filters.get(key(select)) || ""; });
    heads.forEach(function (head, place) {
      head.hidden = place > 0 && Boolean(candidate) && data.candidates[place - 1] !== candidate;
    });
    var shown = 0;
    rows.forEach(function (row, number) {
      var totals = data.candidates.map(function () { return null; });
      data.cases[number].forEach(function (ask) {
        if (candidate && data.candidates[ask[0]] !== candidate) return;
        if (wanted.some(function (value) { return ask[1].indexOf(value) < 0; })) return;
        if (outcome >= 0 && !ask[2][outcome]) return;
        totals[ask[0]] = (totals[ask[0]] || [0, 0, 0, 0, 0]).map(function (sum, place) { return sum + ask[2][place]; });
      });
      totals.forEach(function (total, place) {
        var cell = row.cells[place + 1];
        cell.hidden = heads[place + 1].hidden;
        var all = total && total.reduce(function (sum, count) { return sum + count; }, 0);
        cell.textContent = total ? total[0] + " of " + all : "–";
      });
      row.hidden = totals.every(function (total) { return total === null; });
      if (!row.hidden) shown += 1;
    });
    var parts = [];
    filters.forEach(function (value, name) { parts.push(name + " " + value); });
    document.getElementById("shown").textContent = shown + " of " + rows.length + " cases" +
      (parts.length ? ": " + parts.join(", ") : "") + ". Cells: right answers of all answers.";
  }

  selects.forEach(function (select) {
    select.addEventListener("change", function () {
      var filters = new URLSearchParams(location.hash.slice(1));
      if (select.value) filters.set(key(select), select.value); else filters.delete(key(select));
      location.hash = filters.toString();
    });
  });
  addEventListener("hashchange", show);
  show();
})();
