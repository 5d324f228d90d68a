"use strict";
// shows the sections of another condition; they are packed in the page, the first condition is the page itself
(function () {
  var select = document.getElementById("condition");
  var status = document.getElementById("condition-status");
  var first = {}, kept = new Map();
  var sections = document.querySelectorAll("section[data-follows]");
  sections.forEach(function (section) { first[section.id] = section.querySelector(".body").innerHTML; });

  function unpack(number) {
    if (number === 0) return Promise.resolve(first);
    if (kept.has(number)) return kept.get(number);
    var text = document.getElementById("condition-" + number).textContent;
    var bytes = Uint8Array.from(atob(text), function (letter) { return letter.charCodeAt(0); });
    var stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    var made = new Response(stream).json();
    kept.set(number, made);
    return made;
  }

  function show(number) {
    return unpack(number).then(function (made) {
      sections.forEach(function (section) {
        section.querySelector(".body").innerHTML = made[section.id] ||
          '<p class="absent">Nothing was measured for this section in the chosen condition.</p>';
      });
      document.querySelectorAll(".at-condition").forEach(function (note) { note.remove(); });
      if (number > 0) document.querySelectorAll("main > section").forEach(function (section) {
        var note = document.createElement("p");
        note.className = "at-condition";
        note.textContent = "follows" in section.dataset
          ? "In the condition " + select.options[number].textContent
          : "Does not follow the choice of a condition: it compares conditions, or is about the whole run.";
        section.querySelector("h2").after(note);
      });
      document.dispatchEvent(new Event("contentchange"));
    });
  }

  select.closest(".condition").hidden = false;
  select.addEventListener("change", function () {
    show(select.selectedIndex).then(function () {
      status.textContent = "All figures are now at: " + select.options[select.selectedIndex].textContent;
    });
  });
  var wanted = Number(new URLSearchParams(location.search).get("condition")) || 0;
  if (wanted > 0 && wanted < select.options.length) { select.selectedIndex = wanted; show(wanted); }
})();
