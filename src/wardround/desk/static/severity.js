// The severity slider: fetches the picture of the newest position; two marks.
"use strict";
(() => {
  const form = document.querySelector("form.severity");
  if (!form) return;
  const slider = form.querySelector("#slider"), live = form.querySelector("img.live"), state = form.querySelector(".state");
  const REST = 250; // milliseconds without movement after which the full picture is fetched
  let wanted = null, busy = false, resting = null, turned = null; // turned: the window, where it is not the first

  async function draw(place, quick) {
    const under = turned, asked = new URLSearchParams({ ...(quick && { quick: 1 }), ...(under && !under.soft && { center: under.center, width: under.width }) });
    const answer = await fetch(`${form.dataset.picture}/at/${place}?${asked}`);
    if (!answer.ok) throw new Error(answer.status);
    const url = URL.createObjectURL(await answer.blob());
    const before = live.src;
    live.src = url;
    await live.decode().catch(() => {});
    if (before.startsWith("blob:")) URL.revokeObjectURL(before);
    live.dataset.at = place;
    live.dataset.under = under ? `${under.center} ${under.width}` : "";
  }
  async function follow() {
    if (busy) return;
    busy = true;
    try {
      while (wanted !== null) {
        const { place, quick } = wanted;
        wanted = null;
        await draw(place, quick);
        state.textContent = "";
      }
    } catch {
      state.textContent = "– no picture: is there a connection?";
    }
    busy = false;
  }
  function moved() {
    wanted = { place: Number(slider.value).toFixed(2), quick: true };
    clearTimeout(resting);
    resting = setTimeout(() => { wanted = { place: Number(slider.value).toFixed(2), quick: false }; follow(); }, REST);
    follow();
  }
  function show() {
    for (const [level, name] of [["l1", "one"], ["l2", "two"]]) {
      const value = form.elements[level].value, mark = form.querySelector(`.mark.${name}`);
      mark.classList.toggle("there", value !== "");
      mark.style.left = `${50 * Number(value)}%`;
      const button = form.querySelector(`[data-set=${level}]`);
      button.classList.toggle("done", value !== "");
      button.querySelector("small").textContent = value === "" ? "" : Number(value) >= 2 ? "at the right end" : "marked";
    }
  }
  function set(level) {
    const field = form.elements[level];
    field.value = Number(slider.value).toFixed(2);
    form.elements[`${level}_window`].value = turned ? `${turned.center} ${turned.width}` : "";
    form.elements.unreadable.checked = false;
    show();
    slider.dispatchEvent(new Event("change", { bubbles: true })); // kept with the draft
  }
  slider.addEventListener("input", moved);
  live.closest(".frame").addEventListener("window", event => { turned = event.detail; moved(); });
  slider.addEventListener("keydown", event => {
    const by = { PageUp: 0.1, PageDown: -0.1 }[event.key];
    if (!by) return;
    event.preventDefault();
    slider.value = Number(slider.value) + by;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  });
  form.querySelectorAll("[data-set]").forEach(button => button.addEventListener("click", () => set(button.dataset.set)));
  show();
  if (Number(slider.value) > 0) moved();
  slider.focus({ preventScroll: true });
})();
