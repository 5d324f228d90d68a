// The runs: what each consists of, and the progress of those under way.
"use strict";
(() => {
  const { element, number, percent, plural } = wardround;
  const EVERY = 1000; // milliseconds

  function duration(seconds) {
    const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60);
    return hours ? `${hours} h ${String(minutes % 60).padStart(2, "0")} min` : minutes ? `${minutes} min ${String(Math.floor(seconds % 60)).padStart(2, "0")} s` : `${Math.floor(seconds)} s`;
  }
  function progress(run) {
    const now = run.progress;
    if (!now || !now.expected) return run.status === "running" ? element("p", { class: "meaning", text: "Preparing, marking or measuring." }) : null;
    const facts = [["answers", `${number(now.answers)} of ${number(now.expected)}`], ["a second", now.per_second.toFixed(1)], ["left", now.seconds_left ? duration(now.seconds_left) : "–"], ["faults", number(now.faults)], ["unparsed", now.parsed ? percent(now.unparsed / now.parsed) : "–"], ["cost", now.cost ? `${now.cost.toFixed(2)} USD` : "–"]];
    return element("div", {}, element("progress", { value: now.answers, max: now.expected, "aria-label": `Answers of ${run.name}` }),
      element("dl", { class: "figures" }, facts.map(([name, value]) => element("div", {}, element("dt", { text: name }), element("dd", { text: value })))),
      now.candidates.length > 1 ? element("table", { class: "plain" }, element("thead", {}, element("tr", {}, ["candidate", "answers", "faults", "cost"].map(text => element("th", { scope: "col", text })))), element("tbody", {}, now.candidates.map(one => element("tr", {}, element("th", { scope: "row", text: one.name }), element("td", { text: `${number(one.answers)} of ${number(one.expected)}` }), element("td", { text: number(one.faults) }), element("td", { text: one.cost ? `${one.cost.toFixed(2)} USD` : "–" }))))) : null,
      now.last_fault ? element("p", { class: "meaning", text: `Last fault: ${now.last_fault}` }) : null);
  }
  function card(run, act) {
    const buttons = wardround.isExport ? [] : [
      run.status === "running" ? element("button", { type: "button", class: "stop", text: "Stop", onclick: () => act("stop", run) }) : null,
      run.can_resume ? element("button", { type: "button", text: "Resume", onclick: () => act("resume", run) }) : null].filter(Boolean);
    return element("section", { class: `card run ${run.status}`, "aria-label": run.name }, element("div", { class: "bar" }, element("h2", { text: run.name }), element("span", { class: `status ${run.status}`, text: run.status })),
      run.why ? element("p", { class: "meaning", text: run.why }) : null, progress(run),
      element("p", { class: "meaning", text: [run.cases !== null && run.cases !== undefined ? plural(run.cases, "case") : null, plural(run.candidates.length, "candidate"), run.finished ? `finished ${run.finished.slice(0, 16).replace("T", " ")}` : null, run.has_marks ? null : "no marks yet"].filter(Boolean).join(" · ") }),
      element("p", { class: "facts" }, run.candidates.map(one => element("span", { class: "chip", text: `${one.name}${one.cost ? ` · ${one.cost.toFixed(2)} USD` : ""}` }))),
      buttons.length ? element("div", { class: "buttons" }, buttons) : null);
  }

  async function page(table, main) {
    const said = element("p", { class: "meaning", role: "status" }), cards = element("div", { class: "runs" });
    main.replaceChildren(element("div", { class: "single" }, element("h1", { text: "Runs" }), said, cards));
    async function act(action, run) {
      try { said.textContent = `${run.name}: ${(await wardround.send(`api/runs/${action}`, JSON.stringify({ run: run.name }))).message}`; } catch (error) { said.textContent = error.message; }
      await draw();
    }
    let before = "", ended = null;
    async function draw() {
      const { runs } = await wardround.load("runs", { fresh: true });
      const now = JSON.stringify(runs);
      if (now !== before) { // what a reader has focused stays until something changes
        const focused = document.activeElement && cards.contains(document.activeElement) ? document.activeElement.textContent : null;
        cards.replaceChildren(...runs.map(run => card(run, act)));
        if (focused) [...cards.querySelectorAll("button")].find(button => button.textContent === focused)?.focus();
      }
      before = now;
      const marked = JSON.stringify(runs.filter(run => run.has_marks && run.status !== "running").map(run => [run.name, run.finished]));
      if (ended !== null && marked !== ended) await wardround.reload(); // a run has ended: its marks are new
      ended = marked;
    }
    async function watch() {
      if (!cards.isConnected) return;
      await draw().catch(wardround.showProblem);
      setTimeout(watch, EVERY);
    }
    if (!wardround.isExport) setTimeout(watch, EVERY);
    await draw();
  }
  wardround.runsPage = page;
})();
