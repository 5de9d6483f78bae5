// Enhances pages that also work without it: local times, countdowns, live updates, shortcuts. It writes text and
// attributes only, never markup, and sends requests only to the server that it came from.
"use strict";

const body = document.body;
const seconds = (time) => (Date.parse(time.dateTime) - Date.now()) / 1000;

// The server writes times in UTC; here they are shown in the reader's time zone.
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" });
const short = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const minute = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const dated = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

function long(left) {
  const whole = Math.max(0, Math.floor(left));
  if (whole < 60) return `${whole} s`;
  if (whole < 600) return whole % 60 ? `${Math.floor(whole / 60)} min ${whole % 60} s` : `${whole / 60} min`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min`;
  return whole < 86400 ? `${Math.floor(whole / 3600)} h` : `${Math.floor(whole / 86400)} d`;
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function tick() {
  for (const time of document.querySelectorAll("time[data-how]")) {
    const at = new Date(time.dateTime);
    switch (time.dataset.how) {
      case "full": write(time, full.format(at)); break;
      case "clock": write(time, clock.format(at)); break;
      case "stamp": write(time, at.toDateString() === new Date().toDateString() ? short.format(at) : dated.format(at)); break;
      case "brief": write(time, (at.toDateString() === new Date().toDateString() ? minute : day).format(at)); break;
      case "age": write(time, -seconds(time) < 1 ? "now" : `${long(-seconds(time))} ago`); break;
      case "left": write(time, seconds(time) > 0 ? long(seconds(time)) : "expired"); break;
    }
  }
  for (const bar of document.querySelectorAll("progress[data-until]")) {
    bar.value = Math.max(0, (Date.parse(bar.dataset.until) - Date.now()) / 1000);
  }
}

// New entries are only counted, so that rows never move under the cursor. `data-watch` names the count of a page.
const watched = document.querySelector("[data-watch]");
const first = {};
let records = null;

function news(said) {
  for (const count of document.querySelectorAll("[data-count]")) {
    const number = said.counts[count.dataset.count] || 0;
    write(count, number ? number.toLocaleString("en") : "");
    count.classList.toggle("now", count.dataset.count === "held" && number > 0);
  }
  records ??= said.records;
  for (const [word, number] of Object.entries(said.counts)) first[word] ??= number;
  document.dispatchEvent(new CustomEvent("guard:now", { detail: said }));
  if (!watched) return;
  const word = watched.dataset.watch;
  const more = word === "records" ? said.records - Number(watched.dataset.last || records) : (said.counts[word] || 0) - first[word];
  watched.hidden = more === 0;
  const label = watched.querySelector("[data-more]");
  if (label) write(label, more > 0 ? `Show ${more.toLocaleString("en")} new` : "List changed: reload");
}

function listen() {
  if (!body.dataset.live || !window.EventSource) return;
  const stream = new EventSource(body.dataset.live);
  stream.addEventListener("now", (event) => news(JSON.parse(event.data)));
  stream.addEventListener("error", () => document.dispatchEvent(new CustomEvent("guard:lost")));
  stream.addEventListener("over", () => { stream.close(); location.assign("/login"); });
  window.addEventListener("pagehide", () => stream.close());
}

// j and k move between rows, / focuses the filter, Escape leaves a field. They can be switched off under Settings.
function rows() {
  return [...document.querySelectorAll("[data-row]")];
}

function go(step) {
  const all = rows();
  if (!all.length) return;
  const at = all.findIndex((row) => row.contains(document.activeElement));
  const next = all[Math.min(all.length - 1, Math.max(0, at + step))];
  (next.querySelector("a, button, summary") || next).focus();
}

function keys(event) {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.ctrlKey || event.metaKey || event.altKey || (typing && event.key !== "Escape")) return;
  switch (event.key) {
    case "j": go(1); break;
    case "k": go(-1); break;
    case "x": select(); break;
    case "a": document.querySelector("[data-select-clean]")?.click(); break;
    case "?": document.getElementById("keys")?.showModal(); break;
    case "/": {
      const filter = document.querySelector("[data-filter]");
      if (!filter) return;
      filter.focus();
      break;
    }
    case "Escape": if (typing) event.target.blur(); return;
    default: return;
  }
  event.preventDefault();
}

// x selects or leaves out the row in focus; a button that would select rows on the server selects them here at once.
function select() {
  const row = document.activeElement.closest("[data-row]"), box = row && row.querySelector("input[type=checkbox]:not(:disabled)");
  if (box) box.click();
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-select-clean]")) return;
  event.preventDefault();
  for (const one of document.querySelectorAll("input[data-clean]")) one.checked = true;
});

document.addEventListener("click", (event) => event.target.closest("[data-close]")?.closest("dialog").close());

// Ctrl-K finds a page, server, tool, agent or call by a part of its name; without scripts there is a page for that.
const palette = document.getElementById("palette");
let asked = 0;

document.addEventListener("keydown", (event) => {
  if (!palette || event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  if (!palette.open) palette.showModal();
  palette.querySelector("input").select();
});
palette?.addEventListener("input", async (event) => {
  const place = palette.querySelector("[data-found]"), mine = ++asked;
  try {
    const page = await fetched(`/find?q=${encodeURIComponent(event.target.value)}`);
    const found = page.getElementById("found");
    if (mine === asked && found) place.replaceChildren(document.importNode(found, true));
  } catch { /* The guard is not reachable now; the next letter asks again. */ }
});
palette?.addEventListener("keydown", (event) => {
  const links = [...palette.querySelectorAll("a")], at = links.indexOf(document.activeElement);
  if (event.key === "Enter" && at < 0 && links.length) { event.preventDefault(); links[0].click(); return; }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !links.length) return;
  event.preventDefault();
  (links[at + step] || palette.querySelector("input")).focus();
});

// A form is sent only once, however often its button is pressed. A checkbox in a header selects all rows.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
  form.setAttribute("aria-busy", "true");
});
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    form.removeAttribute("aria-busy");
  }
});
document.addEventListener("change", (event) => {
  const every = event.target.closest("input[data-every]");
  if (!every) return;
  for (const one of document.querySelectorAll(`input[name="${CSS.escape(every.dataset.every)}"]`)) {
    if (!one.disabled) one.checked = every.checked;
  }
});

// Fetches another page of the console as nodes. Scripts in it do not run.
async function fetched(address) {
  const answer = await fetch(address, { headers: { accept: "text/html", "x-page-part": "1" }, redirect: "error" });
  if (!answer.ok) throw new Error(String(answer.status));
  return parsed(await answer.text());
}

const parsed = (text) => new DOMParser().parseFromString(text, "text/html");

// Whether the reader uses an element or selects text: it must not be moved or replaced then.
const reading = (element) => element.contains(document.activeElement) || !getSelection().isCollapsed;

// The live audit log. New rows are added on top, unless the reader is busy with the rows or has paused: then they are
// held back, and their number is shown.
function tail(bar) {
  const [state, said, show, pause] = ["state", "said", "show", "pause"].map((name) => bar.querySelector(`[data-tail-${name}]`));
  const place = () => document.querySelector("[data-rows]");
  let top = Number(bar.dataset.top), waiting = [], following = true, busy = false, lost = false, known = top, cut = false;
  const MOST = 500, still = "newest first; rows stay put while you read";

  const reads = () => {
    const list = place();
    return !list || list.getBoundingClientRect().top < 0 || reading(list);
  };
  const put = () => {
    const list = place();
    if (!list || cut) { location.reload(); return; }
    list.prepend(...waiting);
    while (list.rows.length > MOST) list.lastElementChild.remove();
    waiting = [];
    tick();
    shown();
  };
  // A call that went on has its row completed where it is, unless the reader is in that row.
  const complete = (row) => {
    const same = (each) => each.dataset.entry === row.dataset.entry;
    const at = waiting.findIndex(same), there = place() && [...place().rows].find(same);
    if (at >= 0) { row.dataset.seq = waiting[at].dataset.seq; waiting[at] = row; }
    if (!there || reading(there)) return;
    row.dataset.seq = there.dataset.seq;
    there.replaceWith(row);
    tick();
  };
  const shown = () => {
    show.hidden = waiting.length === 0;
    write(show, `Show ${cut ? "more than " : ""}${waiting.length.toLocaleString("en")} new`);
    write(pause, following ? "Pause" : "Resume");
  };
  const look = async () => {
    if (busy || cut || known <= top) return;
    busy = true;
    try {
      const page = await fetched(`${bar.dataset.tail}${bar.dataset.tail.includes("?") ? "&" : "?"}newer=${top}`);
      const body = page.querySelector("tbody[data-top]");
      top = Number(body.dataset.top);
      waiting = [...[...body.rows].map((row) => document.importNode(row, true)), ...waiting];
      for (const row of page.querySelectorAll("tbody[data-went-on] > tr")) complete(document.importNode(row, true));
      cut = body.hasAttribute("data-more") || waiting.length > MOST;
      if (following && !cut && !reads()) put(); else shown();
    } catch {
      write(said, "New records could not be loaded; retrying with the next one.");
    } finally {
      busy = false;
    }
    if (known > top) setTimeout(look, 1000);
  };

  write(state, "Live");
  write(said, still);
  pause.hidden = false;
  bar.querySelector("[data-tail-newer]").hidden = true;
  shown();
  show.addEventListener("click", put);
  pause.addEventListener("click", () => {
    following = !following;
    write(state, following ? "Live" : `Paused at ${short.format(new Date())}`);
    if (following && waiting.length) put(); else shown();
  });
  document.addEventListener("guard:now", (event) => {
    if (lost) { lost = false; write(state, following ? "Live" : "Paused"); write(said, still); }
    known = event.detail.records;
    look();
  });
  document.addEventListener("guard:lost", () => {
    if (lost) return;
    lost = true;
    write(state, `Disconnected at ${short.format(new Date())}`);
    write(said, "updates resume when the guard is reachable; reload to see the newest records");
  });
}

// Refreshes a part of a page by itself, until that part is final or the page redirects; not while the reader uses it.
function again(part) {
  if (!part.dataset.again) return;
  part.querySelector("[data-again-link]")?.setAttribute("hidden", "");
  setTimeout(async () => {
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" }, redirect: "manual" });
      const next = answer.ok && parsed(await answer.text()).getElementById(part.id);
      if (!reading(part)) {
        if (answer.type === "opaqueredirect" || (next && !next.dataset.again)) { location.reload(); return; }
        if (next) part.replaceChildren(...document.importNode(next, true).childNodes);
        tick();
      }
    } catch { /* The guard is not reachable now; the next round tries again. */ }
    again(part);
  }, Number(part.dataset.again));
}

// Another reviewer may answer a held call while this page is open: its card then says what became of it.
function heldCards() {
  let held = null;
  const look = async () => {
    const page = await fetched("/held");
    for (const card of document.querySelectorAll("[data-held]:not([data-held=over])")) {
      const now = page.getElementById(card.id);
      if (now && now.dataset.held !== card.dataset.held) card.replaceWith(document.importNode(now, true));
      if (!now) await end(card);
    }
    if (document.querySelector("[data-held=allowed]")) setTimeout(change, 3000); // until it is made
    tick();
  };
  const end = async (card) => {
    const outcome = (await fetched(`/calls/${card.id}`)).querySelector("[data-outcome]");
    card.dataset.held = "over";
    card.querySelector(".time-left").replaceChildren();
    const said = card.querySelector("[data-over]");
    said.hidden = false;
    said.prepend(`${outcome.textContent} `);
    card.querySelector("form.answer")?.remove();
  };
  const change = () => look().catch(() => {}); // the next change tries again
  document.addEventListener("guard:now", (event) => {
    const number = event.detail.counts.held || 0, same = held === null || held === number;
    held = number;
    if (!same) change();
  });
}

// Dragging over the bars of a histogram zooms into their span. Each bar is a link to its own span, which its query says.
function zoom(chart) {
  const bars = [...chart.querySelectorAll("a")];
  const under = (event) => bars.findIndex((bar) => { const box = bar.lastElementChild.getBoundingClientRect(); return box.left <= event.clientX && event.clientX < box.right; });
  let from = -1, to = -1;
  const mark = () => bars.forEach((bar, at) => bar.classList.toggle("dragged", from >= 0 && at >= Math.min(from, to) && at <= Math.max(from, to)));
  chart.addEventListener("dragstart", (event) => event.preventDefault());
  chart.addEventListener("pointerdown", (event) => {
    if (event.button || event.pointerType === "touch") return;
    from = to = under(event);
  });
  chart.addEventListener("pointermove", (event) => {
    const at = under(event);
    if (from < 0 || at < 0 || at === to) return;
    to = at;
    mark();
  });
  window.addEventListener("pointerup", () => {
    if (from !== to && from >= 0) {
      const [first, last] = [bars[Math.min(from, to)], bars[Math.max(from, to)]].map((bar) => new URL(bar.getAttribute("href"), location.href));
      const until = last.searchParams.get("q").match(/until:\S+/);
      first.searchParams.set("q", first.searchParams.get("q").replace(/until:\S+/, until[0]));
      location.assign(first);
    }
    from = to = -1;
    mark();
  });
  // The click that ends a drag must not follow the bar under it.
  chart.addEventListener("click", (event) => { if (chart.querySelector(".dragged")) event.preventDefault(); }, true);
}

// A key that is added to the filter is only typed there, so that the reader can enter its value.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-add]"), field = document.querySelector("[data-filter]");
  if (!link || !field || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  field.value = `${field.value.trimEnd()} ${link.dataset.add}`.trimStart();
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
});

// Copy buttons for secrets that are shown once. They stay hidden where the browser has no clipboard access.
for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    write(button, "Copied");
  });
}

// Opens the fold that the address points into.
function unfold() {
  const wanted = document.querySelector(":target");
  const fold = wanted && wanted.closest("details");
  if (!fold || fold.open) return;
  fold.open = true;
  wanted.scrollIntoView();
}

tick();
setInterval(tick, 1000);
unfold();
window.addEventListener("hashchange", unfold);
for (const bar of document.querySelectorAll("[data-tail]:not([data-still])")) tail(bar);
for (const part of document.querySelectorAll("[data-again]")) again(part);
for (const chart of document.querySelectorAll("svg[data-zoom]")) zoom(chart);
if (document.querySelector("[data-held]")) heldCards();
listen();
if (body.dataset.keys !== "off") document.addEventListener("keydown", keys);
