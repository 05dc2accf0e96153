"use strict";
(() => {
  const root = document.documentElement;
  const all = (what, where) => Array.from((where || document).querySelectorAll(what));
  const say = (text) => { const place = document.getElementById("said"); if (place) place.textContent = text; };

  // Anchors: what is asked for is opened and shown, also where it is folded.
  const reveal = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    if (!name) return;
    const target = document.getElementById(name);
    if (!target) {
      const op = /^op-(\d+)$/.exec(name);
      const run = root.querySelector("[data-around]");
      if (op && run) say("Operation " + op[1] + " is not drawn here: " + run.dataset.around + " " + op[1]);
      return;
    }
    for (let up = target; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    target.scrollIntoView({ block: "start" });
    if (!target.hasAttribute("tabindex")) target.setAttribute("tabindex", "-1");
    target.focus({ preventScroll: true });
  };
  addEventListener("hashchange", reveal);

  // A picture that is wider than its place shows the finding first.
  const centre = (where) => {
    for (const bar of all(".scroll .bar.found", where)) {
      const place = bar.closest(".scroll");
      const off = bar.getBoundingClientRect().left - place.getBoundingClientRect().left;
      place.scrollLeft += off - place.clientWidth / 2;
    }
  };
  for (const one of all("details.finding")) one.addEventListener("toggle", () => { if (one.open) centre(one); });
  centre(document);

  // However far a picture is scrolled, the names of its lanes stay at its left edge.
  for (const place of all(".scroll")) {
    const names = all("svg .names", place);
    const keep = () => { for (const one of names) one.style.transform = "translateX(" + place.scrollLeft + "px)"; };
    if (names.length) { place.addEventListener("scroll", keep, { passive: true }); keep(); }
  }

  // The filter hides what does not have every word; folded groups with a match are opened.
  const filter = document.getElementById("filter");
  const sift = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const one of all("[data-text]")) {
      const text = one.dataset.text.toLowerCase();
      one.hidden = !words.every((word) => text.includes(word));
      if (!one.hidden) shown += 1;
    }
    for (const group of all("details[data-group]")) {
      const left = all("[data-text]", group).some((one) => !one.hidden);
      group.hidden = !left;
      if (words.length) group.open = left;
    }
    say(words.length ? shown + " match" : "");
  };
  if (filter) filter.addEventListener("input", sift);

  for (const button of all("button[data-copy]")) {
    button.addEventListener("click", () => {
      const done = () => { button.textContent = "copied"; say("copied: " + button.dataset.copy); };
      const area = document.createElement("textarea");
      area.value = button.dataset.copy;
      document.body.append(area);
      area.select();
      if (document.execCommand("copy")) done();
      area.remove();
    });
  }

  const theme = document.getElementById("theme");
  if (theme) theme.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  for (const table of all("table[data-sortable]")) {
    all("thead th", table).forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.textContent = head.textContent;
      head.textContent = "";
      head.append(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        for (const other of all("thead th", table)) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const key = (line) => { const cell = line.children[column]; return cell.dataset.key || cell.textContent; };
        const compare = new Intl.Collator("en", { numeric: true }).compare;
        const lines = all("tbody tr", table).sort((a, b) => compare(key(a), key(b)) * (up ? 1 : -1));
        table.tBodies[0].append(...lines);
      });
    });
  }
  reveal();
})();
