// Updates the administrator's figures while the page is visible.
"use strict";
(() => {
  const EVERY = 8000;
  async function renew() {
    if (document.hidden || document.activeElement?.closest("[data-live]")) return;
    const answer = await fetch(location.href).catch(() => null);
    if (!answer?.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.querySelectorAll("[data-live]").forEach(part => {
      const now = page.getElementById(part.id);
      if (now && now.innerHTML !== part.innerHTML) part.replaceChildren(...now.childNodes);
    });
  }
  setInterval(renew, EVERY);
})();
