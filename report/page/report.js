// Sorts, filters and copies what is there already; the page says the same without it. State lives in the fragment:
// #calls~sort=2d~find=allreduce, so that a link shows what its sender saw.
"use strict";
(() => {
  const make = (name, text, title) => {
    const node = document.createElement(name);
    node.textContent = text;
    if (title) node.title = title;
    return node;
  };
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    const number = cell.dataset.v;
    return number === undefined ? cell.textContent : number === "" ? -Infinity : Number(number);
  };
  const order = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));

  const remember = (table) => {
    const parts = [table.id];
    if (table.dataset.sort) parts.push("sort=" + table.dataset.sort);
    if (table.dataset.find) parts.push("find=" + encodeURIComponent(table.dataset.find));
    try { history.replaceState(null, "", "#" + parts.join("~")); } catch (refused) { /* some viewers forbid it */ }
  };
  const sort = (table, column, down) => {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    rows.sort((a, b) => order(valueOf(a, column), valueOf(b, column)) * (down ? -1 : 1));
    body.append(...rows);
    [...table.tHead.rows[0].cells].forEach((head, i) => {
      if (i === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    table.dataset.sort = column + (down ? "d" : "a");
  };
  const find = (table, text) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of table.tBodies[0].rows) {
      const all = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => all.includes(word));
    }
    table.dataset.find = text;
  };

  for (const table of document.querySelectorAll("table")) {
    if (!table.tHead || table.tBodies[0].rows.length < 2) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const title = head.textContent;
      if (!title) return;
      const button = make("button", title, "Sort by " + title);
      button.type = "button";
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const isNumber = head.classList.contains("n");
        const was = head.getAttribute("aria-sort");
        sort(table, column, was ? was === "ascending" : isNumber);
        remember(table);
      });
    });
    if (table.tBodies[0].rows.length < 8) continue;
    const box = document.createElement("input");
    box.type = "search";
    box.placeholder = "filter rows";
    box.setAttribute("aria-label", "Filter the rows of this table");
    box.addEventListener("input", () => { find(table, box.value); remember(table); });
    table.parentElement.before(box);
    table.filterBox = box;
  }

  for (const line of document.querySelectorAll(".command")) {
    const button = make("button", "copy", "Copy this command");
    button.type = "button";
    button.className = "copy";
    button.addEventListener("click", () => {
      const text = line.querySelector("code").textContent;
      const said = () => { button.textContent = "copied"; };
      if (navigator.clipboard) navigator.clipboard.writeText(text).then(said, () => getSelection().selectAllChildren(line.querySelector("code")));
      else getSelection().selectAllChildren(line.querySelector("code"));
    });
    line.append(button);
  }

  // A frame that is clicked fills the picture; the topmost shows all again.
  const icicle = document.querySelector("svg.icicle");
  if (icicle) {
    const frames = [...icicle.querySelectorAll("g")];
    const wide = icicle.viewBox.baseVal.width;
    const texts = frames.map((frame) => frame.querySelector("title").textContent);
    const zoom = (to) => {
      const x = Number(to.dataset.x), w = Number(to.dataset.w);
      frames.forEach((frame, i) => {
        const from = Math.max(0, (Number(frame.dataset.x) - x) / w), end = Math.min(1, (Number(frame.dataset.x) + Number(frame.dataset.w) - x) / w);
        const width = (end - from) * wide, [rect, text] = [frame.querySelector("rect"), frame.querySelector("text")];
        frame.style.display = width < 0.5 ? "none" : "";
        rect.setAttribute("x", from * wide);
        rect.setAttribute("width", Math.max(0, width));
        text.setAttribute("x", from * wide + 3);
        const fits = Math.floor(width / 6.8 - 1);
        text.textContent = fits < 3 ? "" : texts[i].replace(/: [^:]*$/, "").slice(0, fits);
      });
    };
    frames.forEach((frame) => {
      frame.tabIndex = 0;
      frame.addEventListener("click", () => zoom(frame));
      frame.addEventListener("keydown", (event) => { if (event.key === "Enter") zoom(frame); });
    });
    const box = document.createElement("input");
    box.type = "search";
    box.placeholder = "find in call paths";
    box.setAttribute("aria-label", "Mark the call paths that have these letters");
    box.addEventListener("input", () => frames.forEach((frame, i) => frame.querySelector("rect").classList
      .toggle("found", box.value !== "" && texts[i].toLowerCase().includes(box.value.toLowerCase()))));
    icicle.parentElement.before(box);
  }

  // From a call to where in the program it is made.
  const sites = document.getElementById("sites-sites"), calls = document.querySelector("section#calls table");
  if (sites && calls)
    for (const { cells: [cell] } of calls.tBodies[0].rows) {
      const link = make("a", cell.textContent, "Where in the program it is called");
      link.href = `#sites-sites~find=${encodeURIComponent(cell.textContent)}`;
      cell.replaceChildren(link);
    }

  // "go to rank": the row of it, where the page has one.
  const ranks = document.querySelector("section#ranks table")?.closest("section");
  if (ranks) {
    const form = document.createElement("form");
    const box = document.createElement("input");
    const said = make("span", "");
    box.type = "number";
    box.min = 0;
    box.id = "go-to-rank";
    const label = make("label", "Go to rank ");
    label.append(box);
    form.append(label, said);
    const columns = (table) => [...table.tHead.rows[0].cells].findIndex((head) => head.textContent === "RANK");
    const go = (rank) => {
      const tables = [...ranks.querySelectorAll("table")].filter((table) => columns(table) >= 0);
      const row = tables.flatMap((table) => [...table.tBodies[0].rows].filter((one) => one.cells[columns(table)].dataset.v === rank))[0];
      for (const old of ranks.querySelectorAll(".here")) old.classList.remove("here");
      said.textContent = row ? "" : ` it is not among the rows of this page: mpiprof-report ranks --rank ${rank}`;
      if (!row) return;
      row.classList.add("here");
      row.scrollIntoView({ block: "center" });
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (/^\d+$/.test(box.value)) { go(box.value); try { history.replaceState(null, "", "#rank=" + box.value); } catch (refused) { /* as above */ } }
    });
    ranks.querySelector(".scroll").before(form);
    const fromAddress = () => { const at = /^#rank=(\d+)$/.exec(location.hash); if (at) { box.value = at[1]; go(at[1]); } };
    addEventListener("hashchange", fromAddress);
    fromAddress();
  }

  const theme = make("button", "light / dark", "Change the colours");
  theme.type = "button";
  theme.addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  });
  document.querySelector("header").append(theme);

  const restore = () => {
    const [id, ...parts] = location.hash.slice(1).split("~");
    const table = id && document.getElementById(id);
    if (!table || table.tagName !== "TABLE" || !table.tHead) return;
    for (const part of parts) {
      const [key, value] = part.split("=");
      if (key === "sort" && /^\d+[ad]$/.test(value) && parseInt(value, 10) < table.tHead.rows[0].cells.length)
        sort(table, parseInt(value, 10), value.endsWith("d"));
      if (key === "find" && table.filterBox) {
        table.filterBox.value = decodeURIComponent(value);
        find(table, table.filterBox.value);
      }
    }
    table.scrollIntoView();
  };
  addEventListener("hashchange", restore);
  restore();

  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "INPUT") return;
    const box = [...document.querySelectorAll("input")].find((one) => one.getBoundingClientRect().bottom > 0);
    if (box) { event.preventDefault(); box.focus(); }
  });
})();
