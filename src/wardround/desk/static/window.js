// The window of a picture: the right button drags it (right widens, up brightens), presets go by modality, Shift+W lets the left button,
// a finger and the arrow keys do it. Files of more than 8 bits are drawn by the server; others by a filter of the browser, as exactly.
// Linked pictures that were first shown under the same window keep the same. A live frame is drawn by who listens to "window".
"use strict";
(() => {
  const CT = { // in Hounsfield units
    "Soft tissue": { center: 40, width: 400 }, Lung: { center: -600, width: 1500 }, Mediastinum: { center: 50, width: 350 },
    Bone: { center: 400, width: 1800 }, Brain: { center: 40, width: 80 }, Stroke: { center: 35, width: 40 },
    Liver: { center: 80, width: 150 }, Angiography: { center: 300, width: 600 },
  };
  const CONTRAST = { "High contrast": { narrow: 0.6 }, "Low contrast": { narrow: 1.7 } };
  const INVERTED = { Inverted: { invert: true } };
  const RED_FREE = { "Red-free (green channel)": { green: true } };
  const SVG = "http://www.w3.org/2000/svg";
  let filters = 0;

  function presetsOf(told, modality) {
    if (told.unit === "HU") return CT;
    const more = /fundus|cfp|retin/i.test(modality) ? RED_FREE : /x-?ray|radiogra|mammo|us$|ultrasound|angio/i.test(modality) ? INVERTED : {};
    return { ...CONTRAST, ...more };
  }
  function element(name, attributes, ...children) {
    const made = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    made.append(...children);
    return made;
  }

  async function windowed(frame) {
    const image = frame.querySelector("img");
    const answer = frame.dataset.window ? await fetch(frame.dataset.window) : null;
    let told = answer?.ok ? await answer.json() : {};
    const soft = !("center" in told); // 8 bits or colours: all that there is has come
    if (soft) told = { center: 127.5, width: 255, low: 0, high: 255, unit: "" };
    const range = Math.max(told.high - told.low, 1e-6), presets = presetsOf(told, frame.dataset.modality || "");
    const first = { center: told.center, width: told.width, invert: false, green: false };
    let now = { ...first }, on = false, held = null, filter = null;

    const same = (a, b) => ["center", "width", "invert", "green"].every(name => a[name] === b[name]);
    const isFirstWindow = () => now.center === told.center && now.width === told.width;
    function applyFilter() {
      const slope = soft ? 255 / now.width : 1, intercept = soft ? 0.5 - now.center / now.width : 0;
      if (slope === 1 && intercept === 0 && !now.invert && !now.green) { image.style.filter = ""; return; }
      const sign = now.invert ? -1 : 1, shift = now.invert ? 1 - intercept : intercept;
      const transfer = ["R", "G", "B"].map(channel => element(`feFunc${channel}`, { type: "linear", slope: sign * slope, intercept: shift }));
      const green = now.green ? [element("feColorMatrix", { type: "matrix", values: "0 1 0 0 0  0 1 0 0 0  0 1 0 0 0  0 0 0 1 0" })] : [];
      const id = `window-${++filters}`;
      const made = element("svg", { width: 0, height: 0, "aria-hidden": "true", class: "filter" }, element("filter", { id, "color-interpolation-filters": "sRGB" }, ...green, element("feComponentTransfer", {}, ...transfer)));
      document.body.append(made);
      image.style.filter = `url(#${id})`;
      filter?.remove();
      filter = made;
    }
    function draw() {
      applyFilter();
      if (soft && !("live" in frame.dataset)) return;
      if ("live" in frame.dataset) {
        const detail = isFirstWindow() ? null : { center: now.center.toPrecision(6), width: now.width.toPrecision(6), soft };
        frame.dispatchEvent(new CustomEvent("window", { detail }));
        return;
      }
      frame.look = isFirstWindow() ? null : { center: now.center, width: now.width };
      frame.show();
    }
    function named(preset) {
      const { narrow, ...more } = preset;
      return { ...first, ...(narrow && { width: told.width * narrow }), ...more };
    }
    function tell() {
      note.textContent = soft && same(now, first) ? "" : `Centre ${+now.center.toPrecision(4)}, width ${+now.width.toPrecision(4)}${told.unit && ` ${told.unit}`}`;
      frame.dataset.center = now.center;
      frame.dataset.width = now.width;
      list.value = same(now, first) ? "first" : Object.keys(presets).find(name => same(now, named(presets[name]))) || "";
    }
    function choose(to) { now = { ...to }; tell(); draw(); }
    function changed(to) {
      choose(to);
      if (!frame.group.linked) return;
      const alike = other => other !== frame && other.windowed && ["center", "width", "unit"].every(name => other.windowed.told[name] === told[name]);
      frame.group.frames.filter(alike).forEach(other => other.windowed.choose(to));
    }
    function turn(wider, brighter) {
      const width = Math.min(2 * range, Math.max(range / 4096, now.width * Math.exp(wider)));
      changed({ ...now, width, center: Math.min(told.high, Math.max(told.low, now.center - brighter * width)) });
    }
    function reset() { changed(first); }
    function toggle() {
      on = !on;
      button.setAttribute("aria-pressed", on);
      frame.classList.toggle("windowing", on);
      if (on) frame.focus();
    }

    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Contrast";
    button.title = "Dragging and arrow keys change the window (the right button always does); Shift+W switches this, Shift+R takes it back";
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", toggle);
    const note = document.createElement("span");
    note.className = "soft window";
    const list = document.createElement("select");
    list.setAttribute("aria-label", "Window");
    list.append(new Option("As first shown", "first"), ...Object.keys(presets).map(name => new Option(name, name)), new Option("Own window", ""));
    list.addEventListener("change", event => {
      event.stopPropagation(); // nothing that a draft keeps
      if (list.value === "first") reset(); else if (list.value) changed(named(presets[list.value]));
    });
    list.addEventListener("input", event => event.stopPropagation());
    frame.tools.append(button, list, note);
    frame.windowed = { told, choose };
    frame.setAttribute("aria-label", `${frame.getAttribute("aria-label")} Shift+W: arrows change the window, Shift+R takes it back.`);
    tell();

    function next() {
      const names = Object.keys(presets), place = names.indexOf(list.value);
      changed(place + 1 < names.length ? named(presets[names[place + 1]]) : first);
    }
    frame.commands.set("Shift+W", { label: "Window by dragging and arrows, on and off (the right button always drags it)", act: toggle });
    frame.commands.set("Shift+R", { label: "Window as first shown", act: reset });
    frame.commands.set("Shift+P", { label: "Next preset of the window", act: next });
    const arrows = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.05], ArrowDown: [0, -0.05] };
    frame.addEventListener("keydown", event => {
      if (!on || event.ctrlKey || event.metaKey || event.altKey || !arrows[event.key]) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      turn(...arrows[event.key]);
    }, { capture: true });
    frame.addEventListener("pointerdown", event => {
      if (!(event.button === 2 || (on && event.isPrimary))) return;
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

  document.querySelectorAll("[data-viewer] .frame").forEach(frame => windowed(frame).catch(() => {}));
})();
