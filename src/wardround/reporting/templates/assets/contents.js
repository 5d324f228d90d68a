"use strict";
// the contents list marks the section that is being read
(function () {
  var links = new Map();
  document.querySelectorAll(".layout nav a").forEach(function (link) { links.set(link.hash.slice(1), link); });
  var sections = [...document.querySelectorAll("main > section")];
  var current = null;
  function mark() {
    var line = innerHeight / 3;
    var read = sections.filter(function (section) { return section.getBoundingClientRect().top <= line; }).pop() || sections[0];
    if (innerHeight + scrollY >= document.documentElement.scrollHeight - 2) read = sections[sections.length - 1];
    if (!read || read === current) return;
    if (current) links.get(current.id).removeAttribute("aria-current");
    links.get(read.id).setAttribute("aria-current", "location");
    current = read;
  }
  addEventListener("scroll", mark, { passive: true });
  addEventListener("resize", mark);
  document.addEventListener("contentchange", mark);
  mark();
})();
