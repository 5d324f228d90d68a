// The keyboard: what has a data-key is chosen or pressed by it, Ctrl+Enter saves, Z takes the last change back.
// Answers are keys without Shift; the viewer's letters need Shift, so that the two never collide.
"use strict";
(() => {
  const form = document.querySelector("form.work");
  if (!form) return;
  const typed = "textarea, select, input:not([type=radio], [type=checkbox], [type=range])";

  // undo: the states of all ticks and choices before each change

  const boxes = () => [...form.querySelectorAll("input[type=radio], input[type=checkbox]")];
  const state = () => boxes().map(box => box.checked);
  const changes = [];
  let current = state();
  form.addEventListener("change", event => {
    if (!event.target.matches("input[type=radio], input[type=checkbox]")) return;
    const now = state();
    if (now.join() === current.join()) return;
    changes.push(current);
    current = now;
  });
  function undo() {
    const before = changes.pop();
    const status = form.querySelector(".saved");
    if (!before) {
      if (status) status.textContent = document.querySelector(".previous") ? "Nothing to take back here: P opens the previous item" : "Nothing to take back";
      return;
    }
    const now = boxes();
    const changed = now.filter((box, place) => box.checked !== before[place]);
    now.forEach((box, place) => { box.checked = before[place]; });
    current = before;
    (changed[0] || form).dispatchEvent(new Event("change", { bubbles: true })); // kept with the draft
  }

  function choose(input) {
    input.checked = true;
    input.focus({ preventScroll: true });
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }
  function act(element) {
    if ("undo" in element.dataset) undo();
    else if ("cycle" in element.dataset) {
      const states = [...element.querySelectorAll("input")];
      choose(states[(states.findIndex(input => input.checked) + 1) % states.length]);
    } else if (element.matches("input[type=checkbox]")) element.click();
    else if (element.matches("input")) choose(element);
    else element.click();
  }
  form.querySelectorAll("[data-all]").forEach(button => button.addEventListener("click", () => {
    form.querySelectorAll(`[data-cycle] input[value="${button.dataset.all}"]`).forEach(input => { input.checked = true; });
    form.querySelector("[data-cycle] input:checked").dispatchEvent(new Event("change", { bubbles: true }));
  }));
  form.querySelectorAll("[data-undo]").forEach(button => button.addEventListener("click", undo));
  addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit();
      return;
    }
    if (document.querySelector("dialog[open]") || event.target.matches(typed) || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const key = event.key.toLowerCase();
    const element = [...document.querySelectorAll("[data-key]")].find(known => known.dataset.key === key);
    if (!element) return;
    event.preventDefault();
    act(element);
  });
})();
