// Stacks: frames of a file and slices of a series share one pane; wheel, Page Up, Page Down and a slider go through them.
"use strict";
(() => {
  const NOTCH = 50; // of a wheel or touchpad, for one slice

  async function stack(frame) {
    if (frame.dataset.frames) { // a file that may have more frames than the one that is shown
      const answer = await fetch(frame.dataset.frames);
      const told = answer.ok ? await answer.json() : { count: 1 };
      if (told.count < 2) return;
      const image = frame.slices[0].image;
      frame.slices = Array.from({ length: told.count }, (_, number) => ({ image, frame: number, caption: `${frame.dataset.caption}, frame ${number + 1}` }));
      frame.place = told.shown;
      frame.moved = true; // the first address of the page has no frame in it
    }
    if (frame.slices.length < 2) return;
    const caption = frame.closest(".picture").querySelector("figcaption > span");
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", min: 1, max: frame.slices.length, step: 1, className: "slices" });
    slider.setAttribute("aria-label", "Image of the stack");
    frame.after(slider);

    function tell() {
      slider.value = frame.place + 1;
      slider.setAttribute("aria-valuetext", `${frame.place + 1} of ${frame.slices.length}`);
      caption.textContent = `${frame.slices[frame.place].caption} (${frame.place + 1} of ${frame.slices.length})`;
      frame.dataset.place = frame.place;
    }
    frame.goTo = place => {
      const next = Math.min(frame.slices.length - 1, Math.max(0, place));
      if (next === frame.place) return 0;
      const by = next - frame.place;
      frame.place = next;
      frame.moved = true;
      tell();
      frame.show();
      return by;
    };
    function go(by) {
      const moved = frame.goTo(frame.place + by);
      if (moved && frame.group.linked) frame.group.frames.forEach(other => { if (other !== frame && other.goTo) other.goTo(other.place + moved); });
    }
    let turned = 0;
    frame.scroll = event => {
      const delta = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 : 1);
      turned = Math.abs(delta) >= NOTCH ? Math.sign(delta) * NOTCH : turned + delta;
      if (Math.abs(turned) < NOTCH) return;
      go(Math.sign(turned));
      turned = 0;
    };
    for (const name of ["input", "change"]) slider.addEventListener(name, event => event.stopPropagation()); // nothing that a draft keeps
    slider.addEventListener("input", () => go(Number(slider.value) - 1 - frame.place));
    frame.commands.set("PageDown", { label: "Next image of the stack (also the wheel)", act: () => go(1) });
    frame.commands.set("PageUp", { label: "Previous image of the stack", act: () => go(-1) });
    tell();
  }

  document.querySelectorAll("[data-viewer] .frame").forEach(frame => stack(frame).catch(() => {}));
})();
