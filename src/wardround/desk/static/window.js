// The window of images with more than 8 bits: "Contrast" on, dragging right widens it, dragging up brightens; so do the arrow keys.
// Linked images that were first shown under the same window keep the same. A live frame is drawn by who listens to "window".
"use strict";
(() => {
  const PRESETS = { "Soft tissue": [40, 400], Lung: [-600, 1500], Bone: [400, 1800], Brain: [40, 80] }; // in Hounsfield units

  async function windowed(frame) {
    const image = frame.querySelector("img"), first = image.src;
    const answer = await fetch(frame.dataset.window);
    const told = answer.ok ? await answer.json() : {};
    if (!("center" in told)) return;
    const range = Math.max(told.high - told.low, 1e-6);
    let { center, width } = told, on = false, held = null, wanted = false, busy = false;

    async function follow() {
      if ("live" in frame.dataset) {
        const window = isFirst() ? null : { center: center.toPrecision(6), width: width.toPrecision(6) };
        frame.dispatchEvent(new CustomEvent("window", { detail: window }));
        return;
      }
      wanted = true;
      if (busy) return;
      busy = true;
      while (wanted) { // the newest window only: those in between are not asked for
        wanted = false;
        try {
          const drawn = isFirst() ? null : await fetch(`${frame.dataset.window}/${center.toPrecision(6)}/${width.toPrecision(6)}`);
          if (drawn && !drawn.ok) break;
          const before = image.src;
          image.src = drawn ? URL.createObjectURL(await drawn.blob()) : first;
          await image.decode().catch(() => {});
          if (before.startsWith("blob:")) URL.revokeObjectURL(before);
        } catch { break; }
      }
      busy = false;
    }
    function isFirst() { return center === told.center && width === told.width; }
    function tell() {
      note.textContent = `Centre ${+center.toPrecision(4)}, width ${+width.toPrecision(4)}${told.unit && ` ${told.unit}`}`;
      frame.dataset.center = center;
      frame.dataset.width = width;
      if (list) list.value = isFirst() ? "first" : Object.keys(PRESETS).find(name => PRESETS[name].every((value, place) => value === [center, width][place])) || "";
    }
    function turn(wider, brighter) {
      width = Math.min(2 * range, Math.max(range / 4096, width * Math.exp(wider)));
      changed([Math.min(told.high, Math.max(told.low, center - brighter * width)), width]);
    }
    function choose(to) { [center, width] = to; tell(); follow(); }
    function changed(to) {
      choose(to);
      if (!frame.group.linked) return;
      const same = other => other !== frame && other.windowed && ["center", "width", "unit"].every(name => other.windowed.told[name] === told[name]);
      frame.group.frames.filter(same).forEach(other => other.windowed.choose(to));
    }
    function reset() { changed([told.center, told.width]); }
    function toggle() {
      on = !on;
      button.setAttribute("aria-pressed", on);
      frame.classList.toggle("windowing", on);
      if (on) frame.focus();
    }

    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Contrast";
    button.title = "Drag or arrow keys change the window; w switches this on and off, r takes it back";
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", toggle);
    const note = document.createElement("span");
    note.className = "soft window";
    frame.tools.append(button);
    const list = told.unit === "HU" ? document.createElement("select") : null;
    if (list) {
      list.setAttribute("aria-label", "Window");
      list.append(new Option("As first shown", "first"), ...Object.keys(PRESETS).map(name => new Option(name, name)), new Option("Own window", ""));
      list.addEventListener("change", event => {
        event.stopPropagation(); // nothing that a draft keeps
        if (list.value === "first") reset(); else if (list.value) changed(PRESETS[list.value]);
      });
      list.addEventListener("input", event => event.stopPropagation());
      frame.tools.append(list);
    }
    frame.tools.append(note);
    frame.windowed = { told, choose };
    frame.setAttribute("aria-label", `${frame.getAttribute("aria-label")} W: arrows change the window, R takes it back.`);
    tell();

    const arrows = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.05], ArrowDown: [0, -0.05] };
    frame.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const act = { w: toggle, r: reset }[event.key] || (on && arrows[event.key] && (() => turn(...arrows[event.key])));
      if (!act) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      act();
    }, { capture: true });
    frame.addEventListener("pointerdown", event => {
      if (!on || !event.isPrimary) return;
      event.stopImmediatePropagation();
      frame.setPointerCapture(event.pointerId);
      held = [event.clientX, event.clientY];
    }, { capture: true });
    frame.addEventListener("pointermove", event => {
      if (!held) return;
      event.stopImmediatePropagation();
      const [x, y] = held;
      held = [event.clientX, event.clientY];
      turn((event.clientX - x) / 150, (y - event.clientY) / 300);
    }, { capture: true });
    for (const name of ["pointerup", "pointercancel"]) frame.addEventListener(name, () => { held = null; }, { capture: true });
  }

  document.querySelectorAll(".frame[data-window]").forEach(frame => windowed(frame).catch(() => {}));
})();
