"use strict";
// tables: sorted by a click on a heading, searched if long, copied as Markdown, LaTeX or CSV; figures: saved as SVG or PNG
(function () {
  var LONG = 10; // rows; longer tables can be searched
  var STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "text-anchor"];

  function element(tag, className, text) {
    var made = document.createElement(tag);
    made.className = className;
    if (text) made.textContent = text;
    if (tag === "button") made.type = "button";
    return made;
  }
  function rowsOf(table) { return [...table.tBodies].flatMap(function (body) { return [...body.rows]; }); }
  function clean(cell) {
    var copy = cell.cloneNode(true);
    copy.querySelectorAll("svg, .sorter-mark, .hidden").forEach(function (part) { part.remove(); });
    return copy.textContent.replace(/\s+/g, " ").trim();
  }
  function value(cell) {
    if (!cell) return null;
    var text = (cell.querySelector("b") && cell.tagName === "TD" ? cell.querySelector("b").textContent : clean(cell));
    var number = parseFloat(text.replace("\u2212", "-").replace("< ", "").replace(/,/g, ""));
    return Number.isNaN(number) ? text.toLowerCase() : number;
  }
  function compare(a, b) {
    if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b);
    return typeof a === "number" ? -1 : 1; // what has no number comes last
  }

  function sortable(table) {
    var heads = table.tHead && table.tHead.rows[table.tHead.rows.length - 1];
    if (!heads || rowsOf(table).length < 2 || table.querySelector("tbody [colspan], tbody [rowspan]") || table.dataset.order === "fixed") return;
    [...heads.cells].forEach(function (head, place) {
      if (head.matches(".track, .bar") || head.tagName !== "TH") return;
      var button = element("button", "sorter");
      while (head.firstChild) button.append(head.firstChild);
      button.append(element("span", "sorter-mark"));
      button.lastChild.setAttribute("aria-hidden", "true");
      head.append(button);
      if (!clean(head)) button.setAttribute("aria-label", "Sort by name");
      button.addEventListener("click", function () {
        var falling = head.getAttribute("aria-sort") === "ascending" || (!head.hasAttribute("aria-sort") && head.matches(".number, .value, .n, .unparsed, .p"));
        if (head.getAttribute("aria-sort") === "descending") falling = false;
        [...heads.cells].forEach(function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", falling ? "descending" : "ascending");
        [...table.tBodies].forEach(function (body) {
          [...body.rows].map(function (row) { return [value(row.cells[place]), row]; })
            .sort(function (a, b) { var order = compare(a[0], b[0]); return falling && typeof a[0] === typeof b[0] ? -order : order; })
            .forEach(function (pair) { body.append(pair[1]); });
        });
      });
    });
  }

  function searchable(table, bar) {
    var rows = rowsOf(table);
    if (rows.length <= LONG || table.dataset.find === "own") return; // a page with filters of its own finds rows itself
    var label = element("label", "finder"), input = document.createElement("input"), shown = element("span", "meaning");
    input.type = "search";
    label.append("Find ", input);
    shown.setAttribute("role", "status");
    function find() {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean), count = 0;
      rows.forEach(function (row) {
        var text = row.textContent.toLowerCase();
        row.hidden = !words.every(function (word) { return text.includes(word); });
        if (!row.hidden) count += 1;
      });
      shown.textContent = count + " of " + rows.length + " rows";
    }
    input.addEventListener("input", find);
    bar.append(label, shown);
    find();
  }

  function cells(table) {
    var heads = table.tHead ? [...table.tHead.rows].slice(-1) : [];
    return [...heads, ...rowsOf(table).filter(function (row) { return !row.hidden; })].map(function (row) {
      return [...row.cells].filter(function (cell) { return !cell.matches(".track, .bar"); }).map(clean);
    });
  }
  var FORMATS = {
    Markdown: function (rows) {
      var lines = rows.map(function (row) { return "| " + row.map(function (cell) { return cell.replace(/\|/g, "\\|"); }).join(" | ") + " |"; });
      lines.splice(1, 0, "|" + " --- |".repeat(rows[0].length));
      return lines.join("\n") + "\n";
    },
    LaTeX: function (rows) {
      var special = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "\u2212": "$-$", "–": "--", "<": "$<$", ">": "$>$", "≥": "$\\ge$", "×": "$\\times$", "·": "$\\cdot$" };
      var lines = rows.map(function (row) {
        return row.map(function (cell) {
          return cell.replace(/[\\~^\u2212–<>≥×·]|[&%$#_{}]/g, function (sign) { return special[sign] || "\\" + sign; });
        }).join(" & ") + " \\\\";
      });
      lines.splice(1, 0, "\\midrule");
      return "\\begin{tabular}{l" + "r".repeat(rows[0].length - 1) + "}\n\\toprule\n" + lines.join("\n") + "\n\\bottomrule\n\\end{tabular}\n";
    },
    CSV: function (rows) {
      return rows.map(function (row) {
        return row.map(function (cell) { return /[",\n]/.test(cell) ? '"' + cell.replace(/"/g, '""') + '"' : cell; }).join(",");
      }).join("\r\n") + "\r\n";
    },
  };
  function copy(text) {
    if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text);
    var area = element("textarea", "hidden");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    return Promise.resolve();
  }

  function copyable(table, bar) {
    var box = element("span", "copiers"), status = element("span", "meaning");
    status.setAttribute("role", "status");
    box.append("Copy as ");
    Object.keys(FORMATS).forEach(function (name) {
      var button = element("button", "tool", name);
      button.addEventListener("click", function () {
        copy(FORMATS[name](cells(table))).then(function () { status.textContent = "copied"; }, function () { status.textContent = "the browser does not allow it"; });
      });
      box.append(button);
    });
    box.append(status);
    bar.append(box);
  }

  function styled(svg) {
    var copy = svg.cloneNode(true), from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
    from.forEach(function (node, place) {
      var style = getComputedStyle(node);
      STYLES.forEach(function (name) { to[place].style.setProperty(name, style.getPropertyValue(name)); });
    });
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.style.background = getComputedStyle(document.documentElement).getPropertyValue("--card");
    return copy;
  }
  function save(url, name) {
    var link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
  }
  function savable(svg) {
    var bar = element("p", "tools"), title = svg.querySelector("title").textContent;
    var name = title.split(":")[0].replace(/[^\w-]+/g, "-").slice(0, 60) || "figure";
    function source(width, height) {
      var copy = styled(svg);
      copy.setAttribute("width", width);
      copy.setAttribute("height", height);
      return new XMLSerializer().serializeToString(copy);
    }
    var box = svg.viewBox.baseVal;
    [["SVG", function () { save("data:image/svg+xml;charset=utf-8," + encodeURIComponent(source(box.width, box.height)), name + ".svg"); }],
     ["PNG", function () {
       var image = new Image(), canvas = document.createElement("canvas");
       canvas.width = 4 * box.width; canvas.height = 4 * box.height;
       image.onload = function () {
         canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
         save(canvas.toDataURL("image/png"), name + ".png");
       };
       image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(source(canvas.width, canvas.height));
     }]].forEach(function (format) {
      var button = element("button", "tool", format[0]);
      button.setAttribute("aria-label", "Save as " + format[0] + ": " + title.split(":")[0]);
      button.addEventListener("click", format[1]);
      bar.append(button);
    });
    svg.after(bar);
  }

  function prepare() {
    document.querySelectorAll("main table:not([data-ready])").forEach(function (table) {
      table.dataset.ready = "";
      var bar = element("div", "tools");
      sortable(table);
      searchable(table, bar);
      if (table.tHead) copyable(table, bar);
      (table.closest(".scroll") || table).after(bar);
    });
    document.querySelectorAll("svg.diagram:not([data-ready])").forEach(function (svg) {
      svg.dataset.ready = "";
      savable(svg);
    });
  }
  document.addEventListener("contentchange", prepare);
  prepare();
})();
