// Every picture: zoom, pan, full window, linked panes, and the keys of the viewer.
// A frame has `slices` (what can be shown in it), `place` (which one is), `look` (its window) and `show()` (draws them).
// The viewer's letters need Shift, so that they never collide with the keys of answers; arrows work on a focused frame.
"use strict";
(() => {
  const MOST = 16, STEP = 1.25, MOVE = 40, KEPT = 80;
  const TYPED = "textarea, select, input:not([type=radio], [type=checkbox])";
  let active = null; // the frame that keys act on
  const kept = new Map(); // pictures that were fetched, by address

  async function fetched(address) {
    if (!kept.has(address)) {
      const answer = await fetch(address);
      if (!answer.ok) throw new Error(answer.status);
      kept.set(address, URL.createObjectURL(await answer.blob()));
      for (const [old, url] of kept) {
        if (kept.size <= KEPT) break;
        if ([...document.images].some(image => image.src === url)) continue;
        URL.revokeObjectURL(url);
        kept.delete(old);
      }
    }
    return kept.get(address);
  }

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
    const image = frame.querySelector("img"), first = image.src;
    frame.group = group;
    frame.commands = new Map(); // key: { label, act, focused }
    frame.slices = JSON.parse(frame.dataset.slices || "[]");
    frame.place = 0;
    frame.look = null; // { center, width } where it is not the first one and the server draws it
    const view = { scale: 1, x: 0, y: 0 }; // x and y as shares of the frame, so that linked frames may differ in size
    const fingers = new Map();
    frame.tools = document.createElement("div");
    frame.tools.className = "tools";
    (frame.parentElement.querySelector("figcaption") || frame.parentElement).append(frame.tools);

    // what is shown

    frame.address = place => {
      const slice = frame.slices[place], query = slice.frame === undefined ? "" : `?frame=${slice.frame}`;
      const look = frame.look ? `/window/${frame.look.center.toPrecision(6)}/${frame.look.width.toPrecision(6)}` : "";
      return slice.image + look + query;
    };
    let wanted = false, busy = false;
    frame.show = async () => {
      wanted = true;
      if (busy) return;
      busy = true;
      while (wanted) { // the newest only: those in between are not asked for
        wanted = false;
        try {
          const isFirst = frame.place === 0 && !frame.look && !frame.moved;
          image.src = isFirst ? first : await fetched(frame.address(frame.place));
          await image.decode().catch(() => {});
          frame.dataset.shown = frame.address(frame.place);
        } catch { break; }
      }
      busy = false;
      for (const place of [frame.place + 1, frame.place - 1]) if (frame.moved && frame.slices[place]) fetched(frame.address(place)).catch(() => {});
    };

    // zoom and pan

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
    function two() {
      const clean = group.frames.find(other => "clean" in other.dataset) || group.frames[0];
      const other = active && active !== clean && group.frames.includes(active) ? active : group.frames.find(one => one !== clean);
      const on = group.container.classList.toggle("two");
      group.frames.forEach(one => { one.closest(".picture").hidden = on && one !== clean && one !== other; });
      group.twos.forEach(button => button.setAttribute("aria-pressed", on));
      dispatchEvent(new Event("resize"));
    }
    function at(event) {
      const box = frame.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    }

    const command = (keys, label, act, focused = false) => keys.forEach(key => frame.commands.set(key, { label, act, focused }));
    command(["+", "="], "Zoom in", () => zoom(STEP));
    command(["-"], "Zoom out", () => zoom(1 / STEP));
    command(["Home"], "Fit the whole image", reset);
    command(["Shift+F"], "Full window, and back", () => { whole(); frame.focus({ preventScroll: true }); });
    if (group.frames.length > 1) command(["Shift+L"], "Link the images: they move together", link);
    if (group.frames.length > 2) command(["Shift+T"], "Two side by side: the first (or clean) one and this one", two);
    for (const [key, x, y] of [["ArrowLeft", MOVE, 0], ["ArrowRight", -MOVE, 0], ["ArrowUp", 0, MOVE], ["ArrowDown", 0, -MOVE]]) {
      command([key], "Move a focused image", () => move(x, y), true);
    }

    frame.addEventListener("wheel", event => {
      event.preventDefault();
      if (frame.scroll && !event.ctrlKey) frame.scroll(event);
      else zoom(event.deltaY < 0 ? STEP : 1 / STEP, ...at(event));
    }, { passive: false });
    frame.addEventListener("dblclick", event => view.scale > 1 ? reset() : zoom(3, ...at(event)));
    frame.addEventListener("contextmenu", event => event.preventDefault()); // the right button turns the window
    for (const name of ["focus", "pointerenter", "pointerdown"]) frame.addEventListener(name, () => { active = frame; });
    frame.addEventListener("pointerdown", event => {
      if (event.button > 0) return;
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
    addEventListener("resize", draw);
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
    if (group.frames.length > 2) {
      const button = tool(frame, "Two", "Two side by side: the first (or clean) one and this one", () => { active = frame; two(); });
      button.setAttribute("aria-pressed", false);
      group.twos.push(button);
    }
    frame.leaveWhole = () => { if (frame.classList.contains("whole")) { whole(); return true; } return false; };
  }

  const nameOf = event => event.shiftKey && /^[a-z]$/i.test(event.key) ? `Shift+${event.key.toUpperCase()}` : event.key;
  addEventListener("keydown", event => {
    if (!active || document.querySelector("dialog[open]") || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.target.matches(TYPED)) return;
    if (event.key === "Escape") { if (active.leaveWhole()) event.preventDefault(); return; }
    const command = active.commands.get(nameOf(event));
    if (!command || (command.focused && document.activeElement !== active)) return;
    event.preventDefault();
    command.act();
  });
  document.querySelectorAll("[data-viewer]").forEach(container => {
    const group = { container, frames: [...container.querySelectorAll(".frame")], buttons: [], twos: [], linked: "linked" in container.dataset };
    container.dataset.count = Math.min(group.frames.length, 10);
    group.frames.forEach(frame => viewer(frame, group));
    active ||= group.frames[0] || null;
  });
})();
