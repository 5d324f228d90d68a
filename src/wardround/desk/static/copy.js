// Copies a link that is shown once.
"use strict";
document.querySelector("[data-copy]")?.addEventListener("click", async event => {
  const link = document.querySelector(".link");
  link.select();
  try {
    await navigator.clipboard.writeText(link.value);
    event.target.textContent = "Copied";
  } catch {
    event.target.textContent = "Press Ctrl+C";
  }
});
