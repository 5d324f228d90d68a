// One image, or two under a wipe: zoom by wheel, pan by drag, window by right drag or "Window", full screen by F.
"use strict";
(() => {
  const { element } = wardround;
  const MOST = 16, STEP = 1.25;

  function viewer(layers, caption) {
    const view = { scale: 1, x: 0, y: 0, center: 0.5, width: 1, wipe: 50 };
    const images = layers.map(layer => element("img", { src: wardround.imageAddress(layer.image), alt: layer.label, draggable: "false" }));
    const holders = images.map((image, place) => element("div", { class: `layer ${place ? "over" : "under"}` }, image));
    const edge = element("i", { class: "edge", hidden: layers.length < 2 });
    const frame = element("div", { class: "frame", tabindex: "0", role: "group", "aria-label": `${layers.map(layer => layer.label).join(" and ")}. Plus and minus zoom, arrows move, F fills the window, W sets the window, 0 takes all back.` }, holders, edge);
    const note = element("span", { class: "meaning window", role: "status" });
    let windowing = false, held = null;

    function draw() {
      view.x = Math.min(0, Math.max(view.x, 1 - view.scale));
      view.y = Math.min(0, Math.max(view.y, 1 - view.scale));
      // out = (in - (center - width / 2)) / width, by the two filters that browsers have
      const contrast = 2 * view.center / view.width, brightness = 1 / (view.width * contrast);
      for (const image of images) {
        image.style.transform = `translate(${view.x * frame.clientWidth}px, ${view.y * frame.clientHeight}px) scale(${view.scale})`;
        image.style.filter = view.width === 1 && view.center === 0.5 ? "" : `brightness(${brightness}) contrast(${contrast})`;
      }
      if (holders[1]) { holders[1].style.clipPath = `inset(0 0 0 ${view.wipe}%)`; edge.style.left = `${view.wipe}%`; }
      frame.dataset.scale = view.scale.toFixed(2);
      frame.dataset.center = view.center.toFixed(3);
      frame.dataset.width = view.width.toFixed(3);
      note.textContent = view.width === 1 && view.center === 0.5 ? "" : `window: centre ${Math.round(view.center * 255)}, width ${Math.round(view.width * 255)} of the 8 bits sent`;
    }
    function zoom(factor, x = 0.5, y = 0.5) {
      const scale = Math.min(MOST, Math.max(1, view.scale * factor));
      view.x = x - (x - view.x) * scale / view.scale;
      view.y = y - (y - view.y) * scale / view.scale;
      view.scale = scale;
      draw();
    }
    function turn(wider, brighter) {
      view.width = Math.min(4, Math.max(0.02, view.width * Math.exp(wider)));
      view.center = Math.min(1.5, Math.max(0.01, view.center - brighter * view.width));
      draw();
    }
    function move(x, y) { if (windowing) turn(-x / 4, y / 4); else { view.x += x; view.y += y; draw(); } }
    function reset() { Object.assign(view, { scale: 1, x: 0, y: 0, center: 0.5, width: 1 }); draw(); }
    function full() {
      const on = figure.classList.toggle("whole");
      fullButton.setAttribute("aria-pressed", on);
      document.body.classList.toggle("has-whole", on);
      reset();
      frame.focus();
    }
    function toggleWindow() { windowing = !windowing; windowButton.setAttribute("aria-pressed", windowing); frame.classList.toggle("windowing", windowing); }
    const tool = (sign, label, act) => element("button", { type: "button", title: label, "aria-label": label, text: sign, onclick: act });
    const windowButton = tool("Window", "Window: drag sideways for its width, up and down for its centre", toggleWindow);
    const fullButton = tool("Large", "Large: fills the screen; Escape ends it", full);
    windowButton.setAttribute("aria-pressed", "false");
    fullButton.setAttribute("aria-pressed", "false");
    const tools = element("div", { class: "tools" }, fullButton, tool("+", "Zoom in", () => zoom(STEP)), tool("−", "Zoom out", () => zoom(1 / STEP)), windowButton, tool("Reset", "Reset: as it was sent", reset), note);
    const slider = layers.length > 1 ? element("input", { type: "range", class: "wipe", min: "0", max: "100", value: "50", "aria-label": `Wipe between ${layers[0].label} and ${layers[1].label}`, oninput: event => { view.wipe = Number(event.target.value); frame.dataset.wipe = view.wipe; draw(); } }) : null;
    const labels = layers.length > 1 ? element("div", { class: "wipe-labels" }, layers.map(layer => element("span", { text: layer.label }))) : null;
    const figure = element("figure", { class: "viewer" }, frame, labels, slider, tools, caption ? element("figcaption", { text: caption }) : null);

    const keys = { "+": () => zoom(STEP), "=": () => zoom(STEP), "-": () => zoom(1 / STEP), 0: reset, f: full, w: toggleWindow, ArrowLeft: () => move(0.1, 0), ArrowRight: () => move(-0.1, 0), ArrowUp: () => move(0, 0.1), ArrowDown: () => move(0, -0.1) };
    figure.addEventListener("keydown", event => {
      if (event.key === "Escape" && figure.classList.contains("whole")) { full(); event.stopPropagation(); return; }
      if (event.target !== frame || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      event.stopPropagation();
      keys[event.key]();
    });
    const at = event => { const box = frame.getBoundingClientRect(); return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]; };
    frame.addEventListener("wheel", event => {
      if (!figure.classList.contains("whole") && !event.ctrlKey && document.activeElement !== frame) return; // the page scrolls past
      event.preventDefault();
      zoom(event.deltaY < 0 ? STEP : 1 / STEP, ...at(event));
    }, { passive: false });
    frame.addEventListener("contextmenu", event => event.preventDefault());
    frame.addEventListener("dblclick", event => view.scale > 1 ? reset() : zoom(3, ...at(event)));
    frame.addEventListener("pointerdown", event => { held = { at: at(event), windows: windowing || event.button === 2 }; frame.setPointerCapture(event.pointerId); });
    frame.addEventListener("pointermove", event => {
      if (!held) return;
      const now = at(event), [x, y] = [now[0] - held.at[0], now[1] - held.at[1]];
      held.at = now;
      if (held.windows) turn(2 * x, -y); else { view.x += x; view.y += y; draw(); }
    });
    for (const name of ["pointerup", "pointercancel"]) frame.addEventListener(name, () => { held = null; });
    draw();
    return figure;
  }
  wardround.viewer = viewer;
})();
