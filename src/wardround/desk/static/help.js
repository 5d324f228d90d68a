// "?" shows the keys of this page: those of answers, as the page names them, and those of the viewer.
"use strict";
(() => {
  const TYPED = "textarea, select, input:not([type=radio], [type=checkbox], [type=range])";
  const dialog = document.createElement("dialog");
  dialog.className = "help";
  dialog.setAttribute("aria-label", "Keys");
  document.body.append(dialog);

  const plain = element => (element.closest("label")?.innerText || element.querySelector("legend")?.innerText || element.innerText || element.title || "").replace(/\s+/g, " ").trim();
  function answers() {
    return [...document.querySelectorAll("[data-key]")].map(element => {
      const key = element.dataset.key.toUpperCase();
      const words = element.getAttribute("aria-label") || plain(element);
      return [key, words.endsWith(` ${key}`) ? words.slice(0, -2) : words, "answer"];
    });
  }
  function commands() {
    const known = new Map();
    document.querySelectorAll("[data-viewer] .frame").forEach(frame => frame.commands?.forEach(({ label }, key) => known.set(key, label)));
    return [...known].map(([key, label]) => [key, label, "viewer"]);
  }
  function rows(title, list) {
    if (!list.length) return [];
    const heading = document.createElement("h2"), table = document.createElement("dl");
    heading.textContent = title;
    for (const [key, words, kind] of list) {
      const term = document.createElement("dt"), meaning = document.createElement("dd"), keyboard = document.createElement("kbd");
      keyboard.textContent = key.replace("Shift+", "⇧ ");
      keyboard.dataset[kind] = key;
      term.append(keyboard);
      meaning.textContent = words;
      table.append(term, meaning);
    }
    return [heading, table];
  }
  function show() {
    const everywhere = [["Ctrl+Enter", "Save"], ["?", "These keys"], ["Shift+D", "Light or dark"]];
    if ("images" in document.documentElement.dataset) everywhere.push(["Shift+M", "Reading room, and back"]);
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = "Close";
    close.addEventListener("click", () => dialog.close());
    dialog.replaceChildren(...rows("Answers", answers()), ...rows("Images", commands()), ...rows("Everywhere", everywhere.map(row => [...row, "page"])), close);
    dialog.showModal();
  }
  document.querySelectorAll("[data-help]").forEach(button => {
    button.hidden = false;
    button.addEventListener("click", show);
  });
  addEventListener("keydown", event => {
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches(TYPED)) return;
    event.preventDefault();
    if (dialog.open) dialog.close(); else show();
  });
})();
