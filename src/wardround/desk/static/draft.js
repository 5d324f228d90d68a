// Saves the form as a draft shortly after each change: a closed browser loses nothing.
"use strict";
(() => {
  const form = document.querySelector("form[data-draft]");
  if (!form) return;
  const token = document.querySelector('meta[name="csrf"]').content;
  const status = form.querySelector(".saved");
  const own = ["csrf", "once", "criterion"];
  let waiting = null, left = false;

  function fields() {
    const told = {};
    for (const [name, value] of new FormData(form)) {
      if (!own.includes(name) && typeof value === "string") (told[name] ||= []).push(value);
    }
    return told;
  }
  async function keep() {
    waiting = null;
    if (left) return;
    try {
      const answer = await fetch(form.dataset.draft, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRF-Token": token },
        body: JSON.stringify({ form: fields() }),
        keepalive: true,
      });
      if (!answer.ok || status.textContent) status.textContent = answer.ok ? "Kept" : "Not kept: load the page again";
    } catch {
      status.textContent = "Not kept: no connection. Trying again …";
      waiting = setTimeout(keep, 3000);
    }
  }
  function later(event) {
    if (event.target.type !== "hidden") status.textContent = "…"; // changes that nobody typed are saved silently
    clearTimeout(waiting);
    waiting = setTimeout(keep, 300);
  }
  form.addEventListener("input", later);
  form.addEventListener("change", later);
  form.addEventListener("submit", () => {
    left = true;
    clearTimeout(waiting);
    form.querySelectorAll("button.main").forEach(button => setTimeout(() => { button.disabled = true; }));
  });
  addEventListener("pagehide", () => {
    if (waiting) keep();
    if (!left) fetch(form.dataset.draft.replace(/draft$/, "leave"), { method: "POST", headers: { "X-CSRF-Token": token }, keepalive: true });
  });
  addEventListener("pageshow", event => { if (event.persisted) location.reload(); });
})();
