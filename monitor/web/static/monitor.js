// Live refresh, the menu on phones, pointer and keyboard shortcuts. Every page works without this script.
"use strict";

const main = document.getElementById("main");

// Whether the user is working in the page, so that it must stay as it is.
function busy() {
  const active = document.activeElement;
  const writing = active && main.contains(active) && active.matches("input, select, textarea, summary, [role=button]");
  return document.hidden || writing || !getSelection().isCollapsed || main.querySelector("[data-open]") !== null;
}

let timer;
let shownAt = document.getElementById("refreshed").textContent;

// Begins anew with what the page asks for now: one whose work has ended is refreshed less often, or not any more.
function schedule() {
  clearInterval(timer);
  const seconds = Number(main.dataset.refresh);
  if (seconds > 0) timer = setInterval(refresh, seconds * 1000);
}

// Fetches the page again and replaces its main part, unless the user is working in it.
async function refresh() {
  if (busy()) return;
  const status = document.getElementById("refreshed");
  try {
    const answer = await fetch(location.href, { headers: { "X-Refresh": "1" }, redirect: "manual" });
    if (answer.type === "opaqueredirect") {
      sayOld("sign in again");
      return;
    }
    if (!answer.ok) throw new Error(String(answer.status));
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (busy()) return;
    const focused = document.activeElement && document.activeElement.id;
    const opened = [...main.querySelectorAll("details[id]")].map((element) => [element.id, element.open]);
    const fresh = next.getElementById("main");
    main.dataset.refresh = fresh.dataset.refresh ?? "";
    main.replaceChildren(...fresh.childNodes);
    for (const [id, open] of opened) document.getElementById(id)?.toggleAttribute("open", open);
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    status.replaceChildren(...next.getElementById("refreshed").childNodes);
    shownAt = status.textContent;
    prepare();
    schedule();
  } catch {
    sayOld("the server does not answer");
  }
}

// On top as well: on a phone nobody sees the foot of a long page.
function sayOld(why) {
  document.getElementById("refreshed").textContent = `not refreshed: ${why}`;
  const notice = document.getElementById("old") ?? document.createElement("p");
  notice.id = "old";
  notice.className = "notice bad";
  notice.textContent = `This page is as it was at ${shownAt} UTC: ${why}.`;
  main.prepend(notice);
}

schedule();
// A phone that was locked has run no timer.
document.addEventListener("visibilitychange", () => {
  if (Number(main.dataset.refresh) > 0) refresh();
});

// What a form has done is said once, and neither again by each refresh nor to whom the address is sent.
const shown = new URL(location.href);
if (shown.searchParams.has("notice")) {
  shown.searchParams.delete("notice");
  history.replaceState(history.state, "", shown);
}

const menu = document.querySelector(".menu");
if (menu) {
  const places = document.getElementById("places");
  menu.hidden = false;
  places.dataset.closed = "";
  menu.addEventListener("click", () => {
    const opens = "closed" in places.dataset;
    menu.setAttribute("aria-expanded", String(opens));
    if (opens) delete places.dataset.closed;
    else places.dataset.closed = "";
  });
}

// A sentence shows its passage while the pointer or the focus is on it; a click or Enter keeps it open.
function addPeek(details) {
  const summary = details.querySelector("summary");
  const show = () => {
    if (details.open) return;
    for (const other of main.querySelectorAll("details[data-peek]")) {
      delete other.dataset.peek;
      other.open = false;
    }
    details.dataset.peek = "";
    details.open = true;
  };
  const hide = () => {
    if ("peek" in details.dataset && document.activeElement !== summary && !details.matches(":hover")) {
      delete details.dataset.peek;
      details.open = false;
    }
  };
  summary.addEventListener("focus", () => {
    if (summary.matches(":focus-visible")) show();
  });
  details.addEventListener("pointerenter", (event) => {
    if (event.pointerType === "mouse" && !main.querySelector("details.sentence[open]:not([data-peek])")) show();
  });
  summary.addEventListener("blur", () => setTimeout(hide));
  details.addEventListener("pointerleave", hide);
  summary.addEventListener("click", (event) => {
    if ("peek" in details.dataset) {
      event.preventDefault();
      delete details.dataset.peek;
    }
  });
}

// Runs once for the loaded page, and again after each refresh.
function prepare() {
  if (!matchMedia("(min-width: 62rem)").matches) {
    for (const opened of main.querySelectorAll("details[data-peek]")) delete opened.dataset.peek; // so a tap closes it
  }
  for (const details of main.querySelectorAll("details.sentence")) addPeek(details);
  for (const form of main.querySelectorAll("form[data-confirm]")) {
    form.addEventListener("submit", (event) => {
      if (!confirm(form.dataset.confirm)) event.preventDefault();
    });
  }
}
prepare();

// A single key presses the button with that data-key, unless the user is typing or uses a browser shortcut.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.matches("input, select, textarea, [contenteditable]")) return;
  const pressed = main.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (pressed) {
    event.preventDefault();
    pressed.click();
  }
});
