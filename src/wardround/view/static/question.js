// The page of one question: images, prompt, all replies in columns, evidence, the path of its chain, notes.
"use strict";
(() => {
  const { element, percent, plural } = wardround;
  const letter = place => place < 26 ? String.fromCharCode(65 + place) : String(place + 1);

  function conditionText(axes, table) {
    const varied = table.varied.filter(axis => axis in axes).map(axis => `${axis} ${axes[axis]}`);
    return varied.join(", ") || "reference";
  }
  const sameAxes = (a, b) => { const keys = Object.keys(a); return keys.length === Object.keys(b).length && keys.every(key => a[key] === b[key]); };
  function conditionNumber(table, axes) { return table.conditions.findIndex(condition => sameAxes(condition.axes, axes)); }

  // ---- images: the distinct sets that conditions were sent ----
  function imageSets(table, document, selection, row, prefix = "") {
    const sets = [];
    for (const run of document.runs) {
      for (const ask of run.asks) {
        if (ask.prompt === null || ask.prompt === undefined) continue;
        const images = run.prompts[ask.prompt].filter(part => part.image).map(part => ({ image: part.image, name: part.text }));
        if (!images.length || sets.some(set => set.images.length === images.length && set.images.every((one, place) => one.image === images[place].image))) continue;
        const condition = conditionNumber(table, ask.condition);
        const severity = condition < 0 ? null : table.severity(condition, row), type = condition < 0 ? null : table.degradation(condition, row);
        const label = severity && severity !== "L0" ? `${type} ${severity}` : prefix || (severity === "L0" ? "clean" : conditionText(ask.condition, table));
        const isSelected = condition >= 0 && selection.conditions[condition] && selection.inStratum(condition, row);
        sets.push({ label, images, isClean: !severity || severity === "L0", isSelected });
      }
    }
    return sets;
  }
  function imagePanel(sets) {
    if (!sets.length) return element("p", { class: "meaning", text: "No image was sent with this question." });
    const panel = element("div", { class: "images" }), clean = sets.findIndex(set => set.isClean);
    const degraded = sets.findIndex((set, place) => place !== clean && set.isSelected && !set.isClean);
    let first = clean < 0 ? 0 : clean, second = degraded >= 0 ? degraded : sets.findIndex((_, place) => place !== first);
    function draw() {
      const [a, b] = [sets[first], second < 0 ? null : sets[second]];
      const boxes = sets.length > 1 ? element("div", { class: "sides" },
        wardround.selectBox("Left", sets.map((set, place) => [place, set.label]), first, value => { first = Number(value); draw(); }),
        wardround.selectBox("Right", sets.map((set, place) => [place, set.label]), second, value => { second = Number(value); draw(); })) : null;
      const figures = a.images.map((image, place) => {
        const other = b && b !== a ? b.images[place] : null;
        const layers = [{ image: image.image, label: a.label }, ...(other && other.image !== image.image ? [{ image: other.image, label: b.label }] : [])];
        return wardround.viewer(layers, a.images.length > 1 ? `Image ${place + 1} as sent` : "");
      });
      panel.replaceChildren(...[boxes, element("div", { class: `viewers count-${Math.min(figures.length, 4)}` }, figures)].filter(Boolean));
    }
    draw();
    return panel;
  }

  // ---- replies ----
  function markedText(text, passage) {
    if (text === null || text === undefined) return element("p", { class: "meaning", text: "The reply is not there: only its mark is." });
    if (!text) return element("p", { class: "meaning", text: "empty" });
    const box = element("div", { class: "said" });
    if (passage) box.append(text.slice(0, passage[0]), element("mark", { text: text.slice(...passage), title: "what was read" }), text.slice(passage[1]));
    else box.textContent = text;
    return box;
  }
  const CALLS = { search: "searched for", read: "read", finish: "finished" };
  function agentCall(call) {
    const hits = call.hits || [], isArticle = call.tool === "read" && hits.length;
    return element("div", { class: "call" },
      element("p", {}, CALLS[call.tool] || call.tool || "no call", call.argument ? [" ", call.tool === "search" ? element("q", { text: call.argument }) : `PMID ${call.argument}${isArticle ? `: ${hits[0].title}` : ""}`] : null),
      !isArticle && hits.length ? element("ol", { class: "hits" }, hits.map(hit => element("li", {}, element("b", { text: hit.title || "without a title" }), element("small", { text: ` PMID ${hit.pmid}` })))) : null,
      call.result && call.tool !== "finish" ? element("p", { class: "meaning", text: call.result }) : null);
  }
  function agentSteps(found) {
    return element("ol", { class: "steps turns" }, found.steps.map(step => element("li", {}, step.text ? element("div", { class: "said", text: step.text }) : null, step.calls.map(agentCall))),
      element("li", {}, `The search ended: ${found.ended || "unknown"}. The answer is the reply above.`));
  }
  function evidence(found) {
    if (!found) return null;
    const parts = [];
    if (found.steps) parts.push(agentSteps(found));
    else if (found.queries.length) {
      parts.push(element("ol", { class: "steps" }, found.queries.map(query => element("li", {}, "searched for ", element("q", { text: query }))),
        element("li", { text: `found ${plural(found.hits.length, "article")}, read or was shown ${found.documents.length}` }), found.ended ? element("li", { text: `ended: ${found.ended}` }) : null));
    }
    const supporting = found.documents.reduce((sum, document) => sum + document.sentences.filter(sentence => sentence.supports).length, 0);
    parts.push(...found.documents.map(document => element("details", { class: "document", open: document.sentences.some(sentence => sentence.supports) },
      element("summary", {}, element("b", { text: document.title || "without a title" }), element("small", { text: ` PMID ${document.pmid}` })),
      element("p", {}, document.sentences.flatMap(sentence => [sentence.supports ? element("mark", { text: sentence.text }) : sentence.text, " "])))));
    return element("details", { class: "evidence" }, element("summary", { text: `${plural(found.documents.length, "document")}${found.queries.length ? `, ${plural(found.queries.length, "search").replace("searchs", "searches")}` : ""}${supporting ? `, ${plural(supporting, "sentence")} marked` : ""}` }), parts);
  }
  function verdicts(trial) {
    if (!trial.verdicts || !trial.verdicts.length) return null;
    return element("ul", { class: "verdicts" }, trial.verdicts.map(verdict => element("li", {}, element("b", { text: verdict.diagnosis }), `: ${verdict.same === null ? "no verdict" : verdict.same ? "same" : "not the same"} `,
      element("small", { text: `(${verdict.judge}${verdict.flag ? `; ${verdict.flag}` : ""})` }), verdict.said ? element("blockquote", { text: verdict.said }) : null)));
  }
  const signed = points => `${points > 0 ? "+" : "\u2212"}${Math.abs(points)}`;
  function criteria(trial) {
    if (!trial.criteria) return null;
    return element("ul", { class: "verdicts" }, trial.criteria.map(item => element("li", {}, element("b", { text: item.met === null ? "no verdict" : item.met ? "met" : "not met" }), ` ${signed(item.points)} ${item.text} `,
      item.axis ? element("small", { text: `(${item.axis})` }) : null, item.said ? element("blockquote", { text: item.said }) : null)));
  }
  function trialBox(trial, ask, run) {
    const shown = (ask.options || []).find(([, own]) => own === trial.option);
    const read = shown && run.options ? `${shown[0]}. ${run.options[trial.option]}` : trial.option !== null && trial.option !== undefined ? `option ${letter(trial.option)}` : "";
    const facts = [read && `read as ${read}`, trial.confidence !== null && trial.confidence !== undefined && `confidence ${percent(trial.confidence)}`, trial.rule && `rule: ${trial.rule}`, trial.finish && trial.finish !== "stop" && `ended by ${trial.finish}`, trial.error_class && `error: ${trial.error_class}`, trial.grounded === true && "supported by the documents", trial.grounded === false && "not supported by the documents"].filter(Boolean);
    return element("div", { class: "trial" },
      element("p", { class: "trial-head" }, wardround.outcomeTag(trial.outcome), ask.trials.length > 1 ? element("small", { text: ` trials ${trial.numbers.map(n => n + 1).join(", ")} of ${ask.trials.length}` }) : null),
      markedText(trial.text, trial.passage),
      facts.length ? element("p", { class: "meaning", text: facts.join(" · ") }) : null,
      trial.reasoning ? element("details", {}, element("summary", { text: "reasoning" }), element("div", { class: "said", text: trial.reasoning })) : null,
      verdicts(trial), criteria(trial), evidence(trial.evidence));
  }
  function distinct(trials) {
    const groups = new Map();
    for (const trial of trials) {
      const key = JSON.stringify({ ...trial, trial: 0 });
      if (groups.has(key)) groups.get(key).numbers.push(trial.trial); else groups.set(key, { ...trial, numbers: [trial.trial] });
    }
    return [...groups.values()];
  }
  function replies(table, document, selection, row, chosen) {
    const asks = document.runs.flatMap(run => run.asks.map(ask => ({ ask, run, condition: conditionNumber(table, ask.condition), column: table.columns.findIndex(column => column.name === ask.candidate && table.runs[column.run] === run.run) })));
    const inFilter = entry => entry.condition >= 0 && selection.conditions[entry.condition] && selection.inStratum(entry.condition, row);
    // a pattern compares with another condition, which is shown, too
    const wanted = new Set(asks.filter(inFilter).map(entry => entry.condition));
    if (chosen.pattern === "degraded" || chosen.pattern === "evidence") for (const condition of [...wanted]) { const other = table.conditions[condition][chosen.pattern === "degraded" ? "clean" : "alone"]; if (other >= 0) wanted.add(other); }
    const conditions = [...new Set(asks.map(entry => entry.condition))].sort((a, b) => a - b);
    const showAll = wardround.state().get("replies") === "all" || !wanted.size;
    const shown = conditions.filter(condition => showAll || wanted.has(condition));
    const first = chosen.pattern === "pair" ? [chosen.a, chosen.b] : chosen.pattern ? [chosen.a] : [];
    const columns = [...new Set([...first, ...asks.map(entry => entry.column)])].filter(column => asks.some(entry => entry.column === column));
    const table_ = element("table", { class: "replies" }, element("thead", {}, element("tr", {}, element("th", { scope: "col", text: "Condition" }), columns.map(column => element("th", { scope: "col", text: column < 0 ? "?" : table.columns[column].label })))),
      element("tbody", {}, shown.map(condition => element("tr", {}, element("th", { scope: "row", text: condition < 0 ? "other" : table.conditions[condition].label }),
        columns.map(column => {
          const entry = asks.find(one => one.condition === condition && one.column === column);
          return element("td", {}, entry ? [entry.ask.problem ? element("p", { class: "meaning", text: entry.ask.problem }) : null, distinct(entry.ask.trials).map(trial => trialBox(trial, entry.ask, entry.run))] : element("p", { class: "meaning", text: "not asked" }));
        })))));
    const more = conditions.length > (showAll ? 0 : shown.length) && conditions.length > 1 ? element("button", { type: "button", class: "quiet", text: showAll ? "Only the conditions of the filter" : `All ${conditions.length} conditions`, onclick: () => wardround.go({ replies: showAll ? null : "all" }) }) : null;
    return element("section", {}, element("div", { class: "bar" }, element("h2", { text: "Replies" }), more), element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Replies" }, table_));
  }

  // ---- chains ----
  function chain(table, row, selection) {
    const number = table.chainOf.get(row);
    if (number === undefined || table.chains[number].length < 2) return null;
    const rows = table.chains[number], stage = table.facets.stage;
    const stageName = at => (stage && stage.combinations[stage.codes[at]].map(part => stage.values[part])[0]) || table.questionName(at);
    const asked = series => rows.some(at => table.asked(table.at(series, at)) && selection.inStratum(table.series[series][1], at));
    const lines = selection.series.filter(asked).map(series => {
      let carried = false;
      const steps = rows.map(at => {
        const outcome = wardround.cellOutcome(table, series, at), isWrong = outcome !== null && outcome !== "right";
        const step = element("a", { class: `step ${outcome} ${carried && isWrong ? "carried" : ""} ${at === row ? "here" : ""}`, href: wardround.address({ case: table.cases[at], question: table.questionName(at), page: "question" }), "aria-current": at === row ? "step" : null },
          element("b", { text: stageName(at) }), element("small", { text: `${wardround.outcomeWords(outcome)}${carried && isWrong ? ", after an error" : ""}` }));
        carried = carried || isWrong;
        return step;
      });
      const [column, condition] = table.series[series];
      return element("li", {}, element("span", { class: "chain-name", text: `${table.columns[column].label}${table.conditions.length > 1 ? ` · ${table.conditions[condition].label}` : ""}` }), element("span", { class: "path" }, steps));
    });
    return element("section", {}, element("h2", { text: "The chain" }), element("ol", { class: "chains" }, lines));
  }

  // ---- notes ----
  function notes(document, table, row) {
    const listed = element("ul", { class: "notes" });
    const add = note => listed.append(element("li", {}, element("b", { text: note.kind }), ` ${note.text} `, element("small", { text: `${note.made.slice(0, 16).replace("T", " ")}${table.severalRuns ? ` · ${note.run}` : ""}` })));
    document.notes.forEach(add);
    if (wardround.isExport) return document.notes.length ? element("section", {}, element("h2", { text: "Notes" }), listed) : null;
    const text = element("textarea", { rows: "2", maxlength: "4000", "aria-label": "Note", placeholder: "What did you notice?" }), said = element("p", { class: "meaning", role: "status" });
    async function send(kind) {
      try {
        for (const run of document.runs) add(await wardround.send("api/notes", JSON.stringify({ run: run.run, row, kind, text: text.value })));
        table.noted.add(row);
        text.value = "";
        said.textContent = kind === "note" ? "Kept in notes.jsonl of the run." : "Flagged: the report lists it among the items to review when it is written again.";
      } catch (error) { said.textContent = error.message; }
    }
    return element("section", { class: "note-form" }, element("h2", { text: "Notes" }), listed, text,
      element("div", { class: "buttons" }, element("button", { type: "button", text: "Add note", onclick: () => send("note") }), element("button", { type: "button", class: "stop", text: "The key is wrong", onclick: () => send("wrong key") })), said);
  }

  // ---- the page ----
  function prompts(document) {
    return element("section", {}, element("h2", { text: "Prompts as sent" }), document.runs.flatMap(run => run.prompts.map((parts, number) => {
      const users = run.asks.filter(ask => ask.prompt === number).map(ask => ask.candidate);
      return element("details", { class: "prompt" }, element("summary", { text: `${[...new Set(users)].join(", ")}${Object.keys((run.asks.find(ask => ask.prompt === number) || { condition: {} }).condition).length ? ` · ${Object.entries(run.asks.find(ask => ask.prompt === number).condition).map(([axis, value]) => `${axis} ${value}`).join(", ")}` : ""}` }),
        parts.map(part => part.image ? element("img", { src: wardround.imageAddress(part.image), alt: `image as sent: ${part.text}`, loading: "lazy" }) : element("pre", { text: part.text })));
    })));
  }
  async function page(table, main) {
    const state = wardround.state(), row = table.findRow(state.get("case"), state.get("question"));
    if (row < 0) { main.replaceChildren(element("p", { class: "empty", text: `There is no question ${state.get("question")} of case ${state.get("case")} in these runs.` })); return; }
    const [chosen, document_] = await Promise.all([wardround.selected(table), wardround.load(`question/${row}`, { fresh: !wardround.isExport })]);
    wardround.backTo = row;
    const place = chosen.rows.indexOf(row), at = step => chosen.rows[place + step];
    const target = other => wardround.address({ page: "question", case: table.cases[other], question: table.questionName(other) });
    const turn = element("nav", { class: "turn", "aria-label": "Questions in the filter" },
      place > 0 ? element("a", { href: target(at(-1)), rel: "prev", text: "← previous" }) : element("span", { text: "← previous" }),
      element("span", { text: place < 0 ? "not in the filter" : `${wardround.number(place + 1)} of ${wardround.number(chosen.rows.length)}` }),
      place >= 0 && place < chosen.rows.length - 1 ? element("a", { href: target(at(1)), rel: "next", text: "next →" }) : element("span", { text: "next →" }),
      element("a", { href: wardround.address({ page: null, case: null, question: null, replies: null }), text: "back to the table" }));
    const known = document_.runs.find(run => run.text !== undefined) || { facts: {}, history: "", text: "", options: [], gold: null };
    let sets = imageSets(table, document_, chosen.selection, row);
    if (table.of[row] >= 0) {
      const clean = await wardround.load(`question/${table.of[row]}`).catch(() => null);
      if (clean) for (const set of imageSets(table, clean, chosen.selection, table.of[row], "clean")) {
        if (set.isClean && !sets.some(own => own.images[0].image === set.images[0].image)) sets = [set, ...sets];
      }
    }
    const problems = document_.runs.filter(run => run.problem).map(run => element("p", { class: "alert", text: `${run.run}: replies and images are not shown. ${run.problem}` }));
    const isChoice = known.options && known.options.length;
    main.replaceChildren(element("article", { class: "question" }, turn, problems,
      element("header", {}, element("p", { class: "kicker", text: `Question ${document_.question}` }), element("h1", { text: document_.case }),
        element("p", { class: "facts" }, Object.entries(known.facts).map(([name, value]) => element("span", { class: "chip", text: `${name} ${value}` })))),
      element("div", { class: "two" },
        element("section", { "aria-label": "Images" }, imagePanel(sets)),
        element("section", { "aria-label": "Question" },
          known.history ? element("p", { class: "history", text: known.history }) : null,
          (known.conversation || []).map(said => element("p", { class: "history", text: `${said.role}: ${said.content}` })),
          known.text ? element("p", { class: "asked", text: known.text }) : null,
          known.criteria && known.criteria.length ? element("ul", { class: "criteria" }, known.criteria.map(item => element("li", {}, element("b", { text: signed(item.points) }), ` ${item.text}`, item.axis ? element("small", { text: ` (${item.axis})` }) : null))) : null,
          isChoice ? element("ol", { class: "options" }, known.options.map((option, number) => element("li", { class: number === known.gold ? "gold" : null }, element("b", { text: `${letter(number)}. ` }), option, number === known.gold ? element("span", { class: "outcome right", text: "key" }) : null)))
            : known.gold !== null && known.gold !== "" ? element("p", {}, "Right answer: ", element("b", { text: String(known.gold) })) : null)),
      replies(table, document_, chosen.selection, row, chosen),
      chain(table, row, chosen.selection),
      notes(document_, table, row),
      prompts(document_)));
    document.title = `${document_.case} · wardround view`;
    main.onkeydown = null;
    wardround.keys = { ArrowLeft: place > 0 ? target(at(-1)) : null, ArrowRight: place >= 0 && place < chosen.rows.length - 1 ? target(at(1)) : null };
  }
  wardround.questionPage = page;
})();
