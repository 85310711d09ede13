// Live refresh, the menu on phones, and what needs the pointer or the keyboard. Without it every page works, still.
"use strict";

const main = document.getElementById("main");

// The page is fetched again and its main part put in place, unless somebody is at work in it.
function busy() {
  const active = document.activeElement;
  const writing = active && main.contains(active) && active.matches("input, select, textarea, summary, [role=button]");
  return document.hidden || writing || !getSelection().isCollapsed || main.querySelector("[data-open]") !== null;
}

async function refresh() {
  if (busy()) return;
  const said = document.getElementById("refreshed");
  try {
    const answer = await fetch(location.href, { headers: { "X-Refresh": "1" }, redirect: "error" });
    if (!answer.ok) throw new Error(String(answer.status));
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (busy()) return;
    const focused = document.activeElement && document.activeElement.id;
    const open = [...main.querySelectorAll("details[open][id]")].map((its) => its.id);
    main.replaceChildren(...next.getElementById("main").childNodes);
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    said.replaceChildren(...next.getElementById("refreshed").childNodes);
    prepare();
  } catch {
    said.textContent = "not refreshed: the server does not answer";
  }
}

const seconds = Number(main.dataset.refresh);
if (seconds > 0) setInterval(refresh, seconds * 1000);

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

// A sentence shows its passage as long as the pointer or the focus is on it; a click or Enter keeps it open.
function peeking(its) {
  const summary = its.querySelector("summary");
  const show = () => {
    if (its.open) return;
    for (const other of main.querySelectorAll("details[data-peek]")) {
      delete other.dataset.peek;
      other.open = false;
    }
    its.dataset.peek = "";
    its.open = true;
  };
  const hide = () => {
    if ("peek" in its.dataset && document.activeElement !== summary && !its.matches(":hover")) {
      delete its.dataset.peek;
      its.open = false;
    }
  };
  summary.addEventListener("focus", () => {
    if (summary.matches(":focus-visible")) show();
  });
  its.addEventListener("pointerenter", (event) => {
    if (event.pointerType === "mouse" && !main.querySelector("details.sentence[open]:not([data-peek])")) show();
  });
  summary.addEventListener("blur", () => setTimeout(hide));
  its.addEventListener("pointerleave", hide);
  summary.addEventListener("click", (event) => {
    if ("peek" in its.dataset) {
      event.preventDefault();
      delete its.dataset.peek;
    }
  });
}

// Runs for the page as it came and again after each refresh.
function prepare() {
  if (!matchMedia("(min-width: 62rem)").matches) {
    for (const its of main.querySelectorAll("details[data-peek]")) delete its.dataset.peek; // a tap closes it
  }
  for (const its of main.querySelectorAll("details.sentence")) peeking(its);
  for (const form of main.querySelectorAll("form[data-confirm]")) {
    form.addEventListener("submit", (event) => {
      if (!confirm(form.dataset.confirm)) event.preventDefault();
    });
  }
}
prepare();

// Single keys press what names them, unless somebody writes, or means a key of the browser.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.matches("input, select, textarea, [contenteditable]")) return;
  const pressed = main.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (pressed) {
    event.preventDefault();
    pressed.click();
  }
});
