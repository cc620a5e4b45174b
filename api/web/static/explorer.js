// The page at /graphql: GraphiQL, under a field for an API key.
//
// The key and all that is typed stay in this tab (sessionStorage): nothing of them is left when it is closed, and
// nothing is taken from the page's address, so that no link can put a query here.
import { createClient, createElement, createGraphiQLFetcher, createRoot, GraphiQL, setNonce } from "./vendor/graphiql.js";

const STORED = "memtrace.key";
const NEEDED = "Put in an API key: “memtrace keys create” makes one.";
const REFUSED = "The server does not take this key: it is wrong, was revoked or has run out. Put in another.";
const AWAY = "The server can't be reached. Is it running?";
const DEFAULT_QUERY = `# Ctrl+Enter runs, Ctrl+Space completes.
# The book on the left: all that can be asked.
query Projects {
  viewer {
    actor
    projects {
      name
      role
    }
  }
}
`;

const endpoint = new URL(location.pathname, location.origin);
const socket = new URL(endpoint);
socket.protocol = endpoint.protocol === "https:" ? "wss:" : "ws:";

const field = document.getElementById("key");
const forget = document.getElementById("forget");
const status = document.getElementById("status");
const root = createRoot(document.getElementById("explorer"));
let close = () => {};

function say(text, isTrouble = false) {
  status.textContent = text;
  status.classList.toggle("trouble", isTrouble);
}

/** What is asked with one key; what it says is heard until the next one is put in. */
class Caller {
  constructor(key) {
    this.key = key;
    this.isCurrent = true;
    this.client = createClient({
      url: socket.href,
      connectionParams: () => ({ authorization: `Bearer ${this.checked()}` }),
      retryAttempts: 0,
      on: { closed: (event) => event.code === 4403 && this.say(REFUSED, true) },
    });
    this.fetcher = createGraphiQLFetcher({
      url: endpoint.href,
      fetch: (url, options) => this.fetch(url, options),
      schemaFetcher: (question) => this.schema(question),
      wsClient: this.client,
      enableIncrementalDelivery: false,
    });
  }

  say(text, isTrouble) {
    if (this.isCurrent) {
      say(text, isTrouble);
    }
  }

  checked() {
    if (this.key === "") {
      field.focus();
      throw new Error(NEEDED);
    }
    return this.key;
  }

  async fetch(url, options) {
    const headers = { ...options.headers, Authorization: `Bearer ${this.checked()}` };
    let response;
    try {
      response = await fetch(url, { ...options, headers, credentials: "omit", cache: "no-store", redirect: "error" });
    } catch {
      this.say(AWAY, true);
      throw new Error(AWAY);
    }
    if (response.status === 401) {
      this.say(REFUSED, true);
    }
    return response;
  }

  async schema(question) {
    this.say("Reading the schema …");
    const response = await this.fetch(endpoint, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(question),
    });
    const answer = await response.json();
    if (answer.data) {
      this.say("The key is kept in this tab alone, until it is closed.");
    } else if (response.status !== 401) {
      const reason = answer.errors?.[0]?.message ?? answer.detail;
      this.say(
        `Queries can be run, but without completion and documentation, for the server does not tell its schema (${reason}). ` +
          "Its operator can allow that: the settings are introspection and trusted_documents_only.",
        true,
      );
    }
    // GraphiQL asks again where an answer has no data, in other words that would be refused for the same reason.
    return { data: null, ...answer };
  }

  close() {
    this.isCurrent = false;
    this.client.dispose();
  }
}

function use(key) {
  close();
  const caller = new Caller(key);
  close = () => caller.close();
  field.value = key;
  forget.hidden = key === "";
  if (key === "") {
    say(NEEDED);
  } else {
    sessionStorage.setItem(STORED, key);
  }
  const logo = createElement(GraphiQL.Logo, null, "GraphQL");
  root.render(
    createElement(
      GraphiQL,
      {
        fetcher: caller.fetcher,
        schema: key === "" ? null : undefined,
        storage: sessionStorage,
        defaultQuery: DEFAULT_QUERY,
        isHeadersEditorEnabled: false,
        showPersistHeadersSettings: false,
      },
      logo,
    ),
  );
}

document.getElementById("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  const key = field.value.trim().replace(/^Bearer\s+/i, "");
  if (/^[\x21-\x7e]+$/.test(key)) {
    use(key);
  } else if (key === "") {
    say(NEEDED, true);
  } else {
    say("This is no key: it has spaces or letters in it that no key has.", true);
  }
});
forget.addEventListener("click", () => {
  sessionStorage.removeItem(STORED);
  location.reload(); // what was answered goes with it
});

setNonce(document.querySelector("script[nonce]").nonce);
use(sessionStorage.getItem(STORED) ?? "");
