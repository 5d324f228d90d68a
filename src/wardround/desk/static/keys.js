// The keyboard: numbers choose, Ctrl+Enter saves.
"use strict";
(() => {
  const form = document.querySelector("form.work");
  if (!form) return;
  addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit();
      return;
    }
    const typing = event.target.matches("textarea, select, input:not([type=radio], [type=checkbox])");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const choice = [...form.querySelectorAll("input[data-key]")].find(input => input.dataset.key === event.key);
    if (choice) {
      event.preventDefault();
      choice.checked = true;
      choice.focus();
      choice.dispatchEvent(new Event("change", { bubbles: true }));
    }
  });
})();
