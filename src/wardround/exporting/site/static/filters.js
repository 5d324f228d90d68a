"use strict";
// filters of the table of all figures; the fragment keeps them: #measure=accuracy&slice={"modality":"CT"}
(function () {
  document.querySelectorAll("form.filters").forEach(function (form) {
    var table = document.getElementById(form.dataset.table), rows = [...table.tBodies[0].rows];
    var status = form.querySelector("[role=status]"), controls = [...form.elements].filter(function (part) { return part.name; });

    function read() {
      var chosen = new URLSearchParams(location.hash.slice(1));
      var has = controls.some(function (control) { return chosen.has(control.name); });
      controls.forEach(function (control) {
        var value = chosen.has(control.name) ? chosen.get(control.name) : has ? "" : control.dataset.default || "";
        control.value = value;
        if (control.value !== value) control.value = ""; // a value that this page does not have
      });
    }
    function show() {
      var words = form.elements.find.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0;
      rows.forEach(function (row) {
        var text = words.length ? row.textContent.toLowerCase() : "";
        row.hidden = controls.some(function (control) {
          return control.name !== "find" && control.value && row.dataset[control.name] !== control.value;
        }) || !words.every(function (word) { return text.includes(word); });
        if (!row.hidden) shown += 1;
      });
      status.textContent = shown + " of " + rows.length + " figures";
    }
    function changed() {
      var chosen = new URLSearchParams();
      controls.forEach(function (control) { chosen.set(control.name, control.value); });
      history.replaceState(null, "", "#" + chosen);
      show();
    }
    form.hidden = false;
    form.addEventListener("submit", function (event) { event.preventDefault(); });
    form.addEventListener("input", changed);
    addEventListener("hashchange", function () { read(); show(); });
    read();
    show();
  });
})();
