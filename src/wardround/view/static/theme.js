"use strict";
// the theme follows the system until the reader chooses one; ?theme=dark sets it for one visit
(function () {
  var root = document.documentElement;
  var chosen = new URLSearchParams(location.search).get("theme");
  try { chosen = chosen || localStorage.getItem("wardround-theme"); } catch (blocked) { /* no storage: not remembered */ }
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  document.addEventListener("DOMContentLoaded", function () {
    var button = document.querySelector("button.theme");
    button.hidden = false;
    button.addEventListener("click", function () {
      var dark = root.dataset.theme
        ? root.dataset.theme === "dark"
        : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      try { localStorage.setItem("wardround-theme", root.dataset.theme); } catch (blocked) { /* as above */ }
    });
  });
})();
