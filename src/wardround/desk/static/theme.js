// Light or dark, and the reading room (the image fills the screen): set before the page is drawn, chosen by buttons, remembered.
"use strict";
(() => {
  const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
  const ROOMY = "(min-width: 60rem)";
  const read = key => { try { return localStorage.getItem(key); } catch { return null; } };
  const write = (key, value) => { try { localStorage.setItem(key, value); } catch { /* not remembered then */ } };
  const hasRoom = "images" in root.dataset;
  let inRoom = hasRoom && (read("desk-room") ?? (matchMedia(ROOMY).matches && root.dataset.images !== "construct" ? "on" : "off")) === "on";

  const themeKey = () => inRoom ? "desk-theme-room" : "desk-theme";
  const theme = () => read(themeKey()) ?? (inRoom || system.matches ? "dark" : "light");
  function apply() {
    root.toggleAttribute("data-room", inRoom);
    root.dataset.theme = theme();
    document.querySelectorAll("[data-theme-switch]").forEach(button => { button.textContent = theme() === "dark" ? "Light" : "Dark"; });
    document.querySelectorAll("[data-room-switch]").forEach(button => {
      button.hidden = !hasRoom;
      button.textContent = inRoom ? "Leave reading room" : "Reading room";
    });
  }
  function switchTheme() { write(themeKey(), theme() === "dark" ? "light" : "dark"); apply(); }
  function switchRoom() {
    if (!hasRoom) return;
    inRoom = !inRoom;
    write("desk-room", inRoom ? "on" : "off");
    apply();
    dispatchEvent(new Event("resize")); // what was drawn for the other size is drawn again
  }
  apply();
  system.addEventListener("change", apply);
  addEventListener("DOMContentLoaded", () => {
    apply();
    document.querySelectorAll("[data-theme-switch]").forEach(button => button.addEventListener("click", switchTheme));
    document.querySelectorAll("[data-room-switch]").forEach(button => button.addEventListener("click", switchRoom));
  });
  addEventListener("keydown", event => {
    if (!event.shiftKey || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("textarea, select, input:not([type=radio], [type=checkbox], [type=range])")) return;
    const act = { D: switchTheme, M: switchRoom }[event.key.toUpperCase()];
    if (act) { event.preventDefault(); act(); }
  });
})();
