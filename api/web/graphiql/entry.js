// What the explorer's page takes from others. All of it, and nothing else, goes into static/vendor/graphiql.js.
import "graphiql/style.css";

export { createGraphiQLFetcher } from "@graphiql/toolkit";
export { setNonce } from "get-nonce";
export { GraphiQL } from "graphiql";
export { createClient } from "graphql-ws";
export { createElement } from "react";
export { createRoot } from "react-dom/client";
