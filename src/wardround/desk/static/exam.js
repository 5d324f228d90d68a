// Counts the time in which a question is visible, shows it, and saves it with the draft.
"use strict";
(() => {
  const shown = document.querySelector(".timer");
  const field = document.querySelector('input[name="seconds"]');
  if (!shown || !field) return;
  const KEEP_EVERY = 10;
  const before = Number(shown.dataset.before);
  let spent = Number(shown.dataset.spent), last = performance.now(), kept = spent;

  const clock = seconds => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
  function count() {
    const moment = performance.now();
    if (!document.hidden) spent += Math.min((moment - last) / 1000, 5); // a sleeping machine does not count
    last = moment;
    field.value = spent.toFixed(1);
    shown.firstElementChild.textContent = `${clock(spent)} on this question, ${clock(before + spent)} in all`;
    if (spent - kept >= KEEP_EVERY) {
      kept = spent;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }
  count();
  setInterval(count, 1000);
  document.addEventListener("visibilitychange", count);
  field.form.addEventListener("submit", count, { capture: true });
})();
