// Zoom and pan of every picture: wheel, drag, pinch, double click, + - 0 f and the arrow keys; l moves all together.
"use strict";
(() => {
  const MOST = 16, STEP = 1.25, MOVE = 40;

  function tool(frame, sign, label, act) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = sign;
    button.title = label;
    button.setAttribute("aria-label", label);
    button.addEventListener("click", act);
    frame.tools.append(button);
    return button;
  }

  function viewer(frame, group) {
    const image = frame.querySelector("img");
    frame.group = group;
    const view = { scale: 1, x: 0, y: 0 }; // x and y as shares of the frame, so that linked frames may differ in size
    const fingers = new Map();
    frame.tools = document.createElement("div");
    frame.tools.className = "tools";
    (frame.parentElement.querySelector("figcaption") || frame.parentElement).append(frame.tools);

    function draw() {
      view.x = Math.min(0, Math.max(view.x, 1 - view.scale));
      view.y = Math.min(0, Math.max(view.y, 1 - view.scale));
      image.style.transform = `translate(${view.x * frame.clientWidth}px, ${view.y * frame.clientHeight}px) scale(${view.scale})`;
      frame.dataset.scale = view.scale.toFixed(2);
    }
    function changed() {
      draw();
      if (group.linked) group.frames.forEach(other => { if (other !== frame) other.follow(view); });
    }
    frame.follow = other => { Object.assign(view, other); draw(); };
    function zoom(factor, x = frame.clientWidth / 2, y = frame.clientHeight / 2) {
      const scale = Math.min(MOST, Math.max(1, view.scale * factor));
      const [across, down] = [x / frame.clientWidth, y / frame.clientHeight];
      view.x = across - (across - view.x) * scale / view.scale;
      view.y = down - (down - view.y) * scale / view.scale;
      view.scale = scale;
      changed();
    }
    function move(x, y) { view.x += x / frame.clientWidth; view.y += y / frame.clientHeight; changed(); }
    function reset() { Object.assign(view, { scale: 1, x: 0, y: 0 }); changed(); }
    function whole() {
      const on = frame.classList.toggle("whole");
      frame.tools.classList.toggle("over", on); // without them a touch user could not leave
      full.setAttribute("aria-pressed", on);
      reset();
    }
    function link() {
      group.linked = !group.linked;
      group.buttons.forEach(button => button.setAttribute("aria-pressed", group.linked));
      changed();
    }
    function at(event) {
      const box = frame.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    }

    const keys = {
      "+": () => zoom(STEP), "=": () => zoom(STEP), "-": () => zoom(1 / STEP), Home: reset, "f": whole,
      ArrowLeft: () => move(MOVE, 0), ArrowRight: () => move(-MOVE, 0),
      ArrowUp: () => move(0, MOVE), ArrowDown: () => move(0, -MOVE),
    };
    if (group.frames.length > 1) keys.l = link;
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
    tool(frame, "+", "Zoom in", () => zoom(STEP));
    tool(frame, "−", "Zoom out", () => zoom(1 / STEP));
    tool(frame, "Fit", "Fit the whole image", reset);
    const full = tool(frame, "Full", "Full window; Escape ends it", () => { whole(); frame.focus(); });
    full.setAttribute("aria-pressed", false);
    if (group.frames.length > 1) {
      const button = tool(frame, "Link", "Link: move all images together", link);
      button.setAttribute("aria-pressed", group.linked);
      group.buttons.push(button);
    }
  }

  document.querySelectorAll("[data-viewer]").forEach(container => {
    const group = { frames: [...container.querySelectorAll(".frame")], buttons: [], linked: "linked" in container.dataset };
    group.frames.forEach(frame => viewer(frame, group));
  });
})();
