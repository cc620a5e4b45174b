// What the pages do beyond links and forms. All of them work without it, but for the page that `memtrace ui` opens.
"use strict";

const typed = (element) => element.matches("input:not([type=radio]):not([type=checkbox]), textarea, select");

function submitOnChange() {
  for (const field of document.querySelectorAll("[data-submit]")) {
    field.addEventListener("change", () => field.form.requestSubmit());
  }
  // An address without what is not filled in can be read.
  for (const form of document.querySelectorAll("form.filters, form.find")) {
    form.addEventListener("formdata", (event) => {
      for (const [name, value] of [...event.formData]) {
        if (value === "") event.formData.delete(name);
      }
    });
  }
}

function copyButtons() {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    const said = button.textContent;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(button.dataset.copy);
        button.textContent = "Copied";
      } catch {
        button.textContent = "The browser does not allow it";
      }
      button.setAttribute("role", "status");
      setTimeout(() => (button.textContent = said), 2000);
    });
  }
}

// What is half typed outlives an expired key: it stays in this tab until it is saved, or until one signs out.
function drafts() {
  const form = document.querySelector("[data-draft]");
  if (form === null) return;
  const key = `memtrace.draft.${form.dataset.draft}`;
  const version = form.dataset.version ?? "";
  const keep = (sent) => {
    const fields = [...new FormData(form)];
    sessionStorage.setItem(key, JSON.stringify({ version, sent, fields }));
  };
  const kept = JSON.parse(sessionStorage.getItem(key) ?? "null");
  // What was sent, and stands there in another version now, was saved.
  if ("saved" in form.dataset || (kept?.sent && kept.version !== version)) {
    sessionStorage.removeItem(key);
  } else if (kept !== null && form.querySelector("[role=alert]") === null) {
    fill(form, kept.fields);
  }
  form.addEventListener("input", () => keep(false));
  form.addEventListener("submit", (event) => {
    keep(true);
    if (event.defaultPrevented) return;
    event.preventDefault();
    whenThere(form);
  });
}

// A browser shows a page of its own where a server does not answer, and the form is gone. So it is asked first.
async function whenThere(form) {
  form.setAttribute("aria-busy", "true");
  let away = false;
  try {
    await fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(15000) });
  } catch {
    away = true;
  }
  form.removeAttribute("aria-busy");
  document.getElementById("away")?.remove();
  if (!away) {
    form.submit();
    return;
  }
  const told = document.createElement("p");
  told.id = "away";
  told.className = "note bad";
  told.setAttribute("role", "alert");
  told.textContent =
    "Nothing was saved: the server can't be reached. What you wrote stays here, also if you load the page again. " +
    "Try again in a while.";
  form.querySelector("button.primary").before(told);
}

function fill(form, fields) {
  for (const field of form.elements) {
    if (!field.name) continue;
    const values = fields.filter(([name]) => name === field.name).map(([, value]) => value);
    if (field.type === "radio" || field.type === "checkbox") {
      field.checked = values.includes(field.value);
      if (field.checked) field.closest("details")?.setAttribute("open", "");
    } else if (values.length > 0) {
      field.value = values[0];
      if (field.value !== "") field.closest("details")?.setAttribute("open", "");
    }
  }
}

function reservation() {
  const kept = document.querySelector("[data-seconds]");
  if (kept === null) return;
  setTimeout(() => {
    kept.hidden = true;
    document.querySelector("[data-ended]").hidden = false;
  }, Number(kept.dataset.seconds) * 1000);
}

function files() {
  for (const input of document.querySelectorAll("[data-fills]")) {
    input.addEventListener("change", async () => {
      if (input.files.length > 0) document.getElementById(input.dataset.fills).value = await input.files[0].text();
    });
  }
}

// An error type can't be made by every kind of operation: the others are put aside, and the operation of the verdict on the
// page, or the only one that is left, is chosen.
function fitting() {
  const form = document.querySelector(".judge");
  const types = [...(form?.querySelectorAll("[data-not-by]") ?? [])];
  const show = (chooses) => {
    const not = types.find((one) => one.checked)?.dataset.notBy ?? "";
    for (const group of form.querySelectorAll("[data-kind]")) {
      group.hidden = not === "*" || not.split(" ").includes(group.dataset.kind);
      if (group.hidden && chooses) for (const one of group.querySelectorAll(":checked")) one.checked = false;
    }
    const left = [...form.querySelectorAll("[data-kind]:not([hidden]) input")];
    if (!chooses || not === "*" || form.querySelector("[name=operation]:checked")) return;
    const meant = left.find((one) => "blamed" in one.dataset) ?? (left.length === 1 ? left[0] : undefined);
    if (meant) meant.checked = true;
  };
  if (types.length === 0) return;
  form.addEventListener("change", (event) => event.target.name === "type" && show(true));
  show(false);
}

function keys() {
  document.addEventListener("keydown", (event) => {
    // Where nothing has the focus, as after an undo, a verdict is meant; on a link these keys open a tab.
    const isFree = event.target === document.body;
    const form = isFree ? document.querySelector(".judge[data-draft]") : event.target.closest?.("[data-draft]");
    if (form && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape" && typed(event.target)) {
      event.target.blur();
      return;
    }
    if (typed(event.target)) return;
    if (event.key === "?") {
      location.href = "/ui/help#keys";
      return;
    }
    const named = document.querySelectorAll(`[data-key="${CSS.escape(event.key)}"]`);
    const all = [...named].filter((one) => one.closest("[data-kind][hidden]") === null);
    if (all.length === 0) return;
    event.preventDefault();
    // Of several, the one after that which has the focus.
    const meant = all[(all.indexOf(document.activeElement) + 1) % all.length];
    meant.closest("details")?.setAttribute("open", "");
    meant.focus();
    if (meant.matches("input[type=radio], button, a")) meant.click();
    // What stands in a field for sentences is gone on with; a field for a word is written anew.
    else if (meant.matches("textarea")) meant.setSelectionRange(meant.value.length, meant.value.length);
    else meant.select?.();
  });
}

// A picture that is larger than its place shows where something was lost; above and beside it is the way there.
function losses() {
  const picture = document.querySelector(".picture");
  const mark = picture?.querySelector(".mark, .state-lost");
  if (!mark) return;
  const [place, lost] = [picture.getBoundingClientRect(), mark.getBoundingClientRect()];
  if (lost.bottom > place.bottom) picture.scrollTop += lost.top - place.top - place.height / 2;
  if (lost.right > place.right) picture.scrollLeft += lost.left - place.left - place.width / 2;
}

// A box of a picture leads to the list of what is in it, which may be closed.
function places() {
  const show = () => {
    const meant = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!meant || !meant.matches("details")) return;
    for (let one = meant; one; one = one.parentElement.closest("details")) one.open = true;
    meant.scrollIntoView({ block: "center" });
    meant.querySelector("summary").focus();
  };
  addEventListener("hashchange", show);
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("svg a[href^='#']")) setTimeout(show);
  });
  show();
}

function open() {
  const form = document.getElementById("open");
  if (form === null) return;
  const code = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  if (code === "") {
    location.replace("/ui");
    return;
  }
  form.elements.code.value = code;
  form.submit();
}

// The code of an invitation is after "#", which is sent to no server. It goes into the form, and out of the address.
function invitation() {
  const form = document.getElementById("invitation");
  const code = location.hash.slice(1);
  if (form === null || code === "") return;
  history.replaceState(null, "", location.pathname + location.search);
  form.elements.code.value = code;
  document.getElementById("by-hand").hidden = true;
  form.querySelector("button").focus();
}

document.querySelector("[data-first]")?.focus();
const insecure = document.getElementById("insecure");
if (insecure !== null) insecure.hidden = isSecureContext;
document.getElementById("found")?.scrollIntoView({ block: "center" });
// What is wrong with a form stands in it, and the page is shown from its top.
document.querySelector(".judge :is([role=alert], [data-seen])")?.scrollIntoView({ block: "center" });
submitOnChange();
copyButtons();
drafts();
reservation();
files();
fitting();
keys();
losses();
places();
open();
invitation();
