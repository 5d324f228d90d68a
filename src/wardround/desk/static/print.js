// The browser's own dialog prints a page, or saves it as PDF.
"use strict";
document.querySelector("[data-print]")?.addEventListener("click", () => print());
