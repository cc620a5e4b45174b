// Pages that ask for themselves again: a trace, an overview and failures while something is recorded, a job, and a memory at
// another moment; and what the page of a failure works out later. The browser reads the answer as a document (nothing of it
// runs), and what has changed is put in place. All of them work without it, too.
"use strict";

const EVERY = 2000;
const PATIENCE = 30000;
const MOST_STEPS = 500;

/** The document at an address of this page; an error where the answer is no such page. */
function asked(address) {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.responseType = "document";
    request.timeout = PATIENCE;
    request.open("GET", address);
    request.addEventListener("load", () => {
      const isHere = new URL(request.responseURL).pathname === location.pathname;
      if (request.status === 200 && isHere && request.response) done(request.response);
      else failed(new Error(isHere ? `the server answers ${request.status}` : "you are no longer signed in"));
    });
    request.addEventListener("error", () => failed(new Error("the server can't be reached")));
    request.addEventListener("timeout", () => failed(new Error("the server takes too long")));
    request.send();
  });
}

/** Put a part of the new document into its place, unless it is the same, or somebody is in it or has chosen in it. */
function renew(here, there) {
  if (!here || !there || here.outerHTML === there.outerHTML) return;
  if (here.contains(document.activeElement) || here.querySelector("input:checked")) return;
  here.replaceWith(document.importNode(there, true));
}

/** New steps come at the end, and changed ones change in place: nothing moves under who reads. */
function renewSteps(there) {
  const list = document.querySelector('[data-part="steps"]');
  if (!list) {
    document.querySelector(".live")?.nextElementSibling?.replaceWith(document.importNode(there, true));
    return;
  }
  for (const item of there.children) {
    const known = document.getElementById(item.id);
    const isOpen = known?.querySelector("details")?.open;
    if (!known) {
      if (list.children.length < MOST_STEPS) list.append(document.importNode(item, true));
    } else if (!isOpen) {
      renew(known, item);
    }
  }
}

function follow(said) {
  const every = Number(said.dataset.every) || EVERY;
  const again = async () => {
    if (!document.hidden) {
      try {
        const found = await asked(location.href);
        for (const here of document.querySelectorAll('[data-part]:not([data-part="steps"])')) {
          renew(here, found.querySelector(`[data-part="${here.dataset.part}"]`));
        }
        const steps = found.querySelector('[data-part="steps"]');
        if (steps) renewSteps(steps);
        const live = found.querySelector("[data-live]");
        const text = live?.textContent ?? said.dataset.done;
        if (said.textContent !== text) said.textContent = text;
        if (!live) return;
      } catch (error) {
        said.textContent = `What is new can't be fetched: ${error.message}. It is tried again.`;
      }
    }
    setTimeout(again, every);
  };
  setTimeout(again, every);
}

function moments(slider) {
  const form = slider.form;
  form.querySelector("[data-scriptless]").hidden = true;
  let waiting = 0;
  let newest = 0;
  slider.addEventListener("input", () => {
    const whole = Number(slider.max) + 1;
    form.querySelector("output").textContent = `${(Number(slider.value) + 1).toLocaleString("en")} of ${whole.toLocaleString("en")}`;
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const address = new URL(location.href);
      address.search = new URLSearchParams(new FormData(form)).toString();
      newest += 1;
      const own = newest;
      const part = document.querySelector(slider.dataset.moment);
      part.setAttribute("aria-busy", "true");
      try {
        const found = await asked(address.href);
        if (own !== newest) return;
        history.replaceState(null, "", address.href);
        part.replaceChildren(...document.importNode(found.querySelector(slider.dataset.moment), true).childNodes);
      } catch (error) {
        const told = document.createElement("p");
        told.className = "note bad";
        told.setAttribute("role", "alert");
        told.textContent = `This moment can't be shown: ${error.message}.`;
        part.replaceChildren(told);
      } finally {
        if (own === newest) part.removeAttribute("aria-busy");
      }
    }, 150);
  });
}

/** What takes long to work out is fetched when the rest of the page is there. */
async function later(said) {
  const address = new URL(location.href);
  address.search = new URLSearchParams([...address.searchParams, ...new URLSearchParams(said.dataset.later)]).toString();
  try {
    const found = await asked(address.href);
    for (const part of ["story", "why-not"]) {
      renew(document.querySelector(`[data-part="${part}"]`), found.querySelector(`[data-part="${part}"]`));
    }
  } catch (error) {
    said.textContent = `This could not be worked out: ${error.message}. Load the page again to try once more.`;
  }
}

const live = document.querySelector("[data-live]");
if (live) follow(live);
const slider = document.querySelector("[data-moment]");
if (slider) moments(slider);
const waiting = document.querySelector("[data-later]");
if (waiting) later(waiting);
