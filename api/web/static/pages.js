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
  if ("saved" in form.dataset) {
    sessionStorage.removeItem(key);
  } else if (form.querySelector("[role=alert]") === null) {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? "null");
    for (const [name, value] of Object.entries(kept ?? {})) {
      const field = form.elements[name];
      if (field !== undefined) field.value = value;
    }
  }
  form.addEventListener("input", () => {
    sessionStorage.setItem(key, JSON.stringify(Object.fromEntries(new FormData(form))));
  });
}

function keys() {
  document.addEventListener("keydown", (event) => {
    const form = event.target.closest?.("[data-draft]");
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
    const meant = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (meant === null) return;
    event.preventDefault();
    meant.focus();
    if (meant.type === "radio") meant.click();
    else meant.select?.();
  });
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

document.querySelector("[data-first]")?.focus();
const insecure = document.getElementById("insecure");
if (insecure !== null) insecure.hidden = isSecureContext;
document.getElementById("found")?.scrollIntoView({ block: "center" });
submitOnChange();
copyButtons();
drafts();
keys();
open();
