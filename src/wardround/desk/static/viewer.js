// Zoom and pan of every picture: wheel, drag, pinch, double click, + - 0 f and the arrow keys.
"use strict";
(() => {
  const MOST = 16, STEP = 1.25, MOVE = 40;

  function viewer(frame) {
    const image = frame.querySelector("img");
    const view = { scale: 1, x: 0, y: 0 };
    const fingers = new Map();

    function draw() {
      const wide = frame.clientWidth, high = frame.clientHeight;
      view.x = Math.min(0, Math.max(view.x, wide - wide * view.scale));
      view.y = Math.min(0, Math.max(view.y, high - high * view.scale));
      image.style.transform = `translate(${view.x}px, ${view.y}px) scale(${view.scale})`;
      frame.dataset.scale = view.scale.toFixed(2);
    }
    function zoom(factor, x = frame.clientWidth / 2, y = frame.clientHeight / 2) {
      const scale = Math.min(MOST, Math.max(1, view.scale * factor));
      view.x = x - (x - view.x) * scale / view.scale;
      view.y = y - (y - view.y) * scale / view.scale;
      view.scale = scale;
      draw();
    }
    function move(x, y) { view.x += x; view.y += y; draw(); }
    function reset() { Object.assign(view, { scale: 1, x: 0, y: 0 }); draw(); }
    function whole() { frame.classList.toggle("whole"); reset(); }
    function at(event) {
      const box = frame.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    }

    const keys = {
      "+": () => zoom(STEP), "=": () => zoom(STEP), "-": () => zoom(1 / STEP), "0": reset, "f": whole,
      ArrowLeft: () => move(MOVE, 0), ArrowRight: () => move(-MOVE, 0),
      ArrowUp: () => move(0, MOVE), ArrowDown: () => move(0, -MOVE),
    };
    frame.addEventListener("keydown", event => {
      if (event.key === "Escape" && frame.classList.contains("whole")) { whole(); return; }
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      event.stopPropagation();
      keys[event.key]();
    });
    frame.addEventListener("wheel", event => {
      event.preventDefault();
      zoom(event.deltaY < 0 ? STEP : 1 / STEP, ...at(event));
    }, { passive: false });
    frame.addEventListener("dblclick", event => view.scale > 1 ? reset() : zoom(3, ...at(event)));
    frame.addEventListener("pointerdown", event => {
      fingers.set(event.pointerId, at(event));
      frame.setPointerCapture(event.pointerId);
      frame.classList.add("moving");
    });
    frame.addEventListener("pointermove", event => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const now = at(event);
      if (fingers.size === 2) {
        const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
        const apart = ([x, y]) => Math.hypot(x - other[0], y - other[1]) || 1;
        zoom(apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      } else {
        move(now[0] - before[0], now[1] - before[1]);
      }
      fingers.set(event.pointerId, now);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      frame.addEventListener(name, event => {
        fingers.delete(event.pointerId);
        if (!fingers.size) frame.classList.remove("moving");
      });
    }
    const tools = document.createElement("div");
    tools.className = "tools";
    for (const [sign, label, act] of [["+", "Zoom in", () => zoom(STEP)], ["−", "Zoom out", () => zoom(1 / STEP)],
      ["Fit", "Whole image", reset], ["Full", "Full window; Escape ends it", () => { whole(); frame.focus(); }]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = sign;
      button.title = label;
      button.setAttribute("aria-label", label);
      button.addEventListener("click", act);
      tools.append(button);
    }
    frame.after(tools);
  }

  document.querySelectorAll("[data-viewer] .frame").forEach(viewer);
})();
