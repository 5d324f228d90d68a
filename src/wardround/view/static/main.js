// Which page is shown: the address says it, with all filters, so that it can be shared.
"use strict";
(() => {
  const { element } = wardround;
  const PAGES = [["", "Questions", "questionsPage"], ["map", "Map", "mapPage"], ["confusions", "Confusions", "confusionsPage"], ["runs", "Runs", "runsPage"]];
  let table = null, showing = 0;

  async function show() {
    const mine = ++showing, name = wardround.state().get("page") || "", main = document.getElementById("main");
    wardround.keys = {};
    document.getElementById("pages").replaceChildren(...PAGES.map(([page, label]) => element("a", { href: wardround.address({ page, case: null, question: null, replies: null }), "aria-current": page === name ? "page" : null, text: label })));
    const entry = PAGES.find(([page]) => page === name);
    document.title = `${entry ? entry[1] : "Question"} · wardround view`;
    try {
      wardround.showProblem(null);
      const draw = name === "question" ? wardround.questionPage : wardround[(entry || PAGES[0])[2]];
      const active = document.activeElement && document.activeElement.closest("main") ? describe(document.activeElement) : null;
      await draw(table, { replaceChildren: (...children) => { if (mine === showing) main.replaceChildren(...children); } });
      if (mine === showing) { main.dataset.drawn = location.hash; if (active) restore(main, active); if (name === "question") scrollTo(0, 0); }
    } catch (error) { if (mine === showing) wardround.showProblem(error); }
  }
  // after a click the page is drawn again: the focus stays on the same control
  const describe = control => ({ tag: control.tagName, text: control.textContent.replace(/[\d,]+$/, "").trim(), id: control.id });
  function restore(main, { tag, text, id }) {
    const same = id ? main.querySelector(`#${CSS.escape(id)}`) : [...main.querySelectorAll(tag.toLowerCase())].find(control => control.textContent.replace(/[\d,]+$/, "").trim() === text);
    if (same) same.focus({ preventScroll: true });
  }
  async function reload() {
    table = wardround.readTable(await wardround.load("table", { fresh: true }));
    if (!["question", "runs"].includes(wardround.state().get("page"))) await show();
  }
  wardround.reload = reload;

  addEventListener("hashchange", show);
  addEventListener("keydown", event => {
    if (event.target.closest("input, textarea, select, .frame") || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = wardround.keys && wardround.keys[event.key];
    if (target) { event.preventDefault(); location.hash = target; }
  });
  wardround.load("table").then(document_ => {
    table = wardround.readTable(document_);
    wardround.table = table;
    if (!table.rows && !wardround.state().get("page")) wardround.go({ page: "runs" }, { replace: true }); else show();
  }).catch(wardround.showProblem);
})();
