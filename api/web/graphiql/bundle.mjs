// Makes graphiql.js, graphiql.css, dagre.js and the licences of all that is in them: `node bundle.mjs FOLDER`, after
// `npm ci`.
// The same lock gives the same bytes. `python -m api.web.vendor` runs this and writes the manifest.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { build } from "esbuild";

const LICENCES = new Set(["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"]);
const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const LEGAL = /^(licen[cs]e|notice|copyrightnotice|thirdpartynotices)/i;
const MIT = readFileSync(new URL("MIT.txt", import.meta.url), "utf8");

const folder = process.argv[2];
if (folder === undefined || !existsSync(folder)) {
  throw new Error("name the folder that the files go into: node bundle.mjs FOLDER");
}

// The style sheet has 350 KB of fonts inside; the page takes those of the system.
const withoutFonts = {
  name: "without-fonts",
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace(/@font-face\s*\{[^}]*\}/g, ""),
      loader: "css",
    }));
  },
};

const { metafile } = await build({
  entryPoints: { dagre: "dagre.js", graphiql: "entry.js" },
  outdir: folder,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  define: { "process.env.NODE_ENV": '"production"' },
  legalComments: "none",
  metafile: true,
  plugins: [withoutFonts],
});

const bundles = new Map();
for (const [output, { inputs }] of Object.entries(metafile.outputs)) {
  const bundle = basename(output, extname(output));
  const found = bundles.get(bundle) ?? bundles.set(bundle, new Map()).get(bundle);
  for (const input of Object.keys(inputs)) {
    const package_ = PACKAGE.exec(input);
    if (package_ !== null) {
      const about = JSON.parse(readFileSync(join(package_[1], "package.json"), "utf8"));
      found.set(`${about.name} ${about.version}`, { about, path: package_[1] });
    }
  }
}

function textOf({ about, path }) {
  if (!LICENCES.has(about.license)) {
    throw new Error(`${about.name} ${about.version} has the licence ${about.license}, which nobody has looked at`);
  }
  const files = readdirSync(path).filter((name) => LEGAL.test(name)).sort();
  if (files.length > 0) {
    return files.map((name) => readFileSync(join(path, name), "utf8").replaceAll("\r\n", "\n").trim()).join("\n\n");
  }
  if (about.license !== "MIT") {
    throw new Error(`${about.name} ${about.version} comes without the text of its licence`);
  }
  const author = typeof about.author === "string" ? about.author : about.author?.name;
  return `The package declares the MIT licence and has no file of it.\n\nCopyright (c) ${author ?? `the authors of ${about.name}`}\n\n${MIT.trim()}`;
}

for (const [bundle, found] of bundles) {
  const names = [...found.keys()].sort();
  const texts = names.map(
    (name) => `${"=".repeat(80)}\n${name} (${found.get(name).about.license})\n\n${textOf(found.get(name))}\n`,
  );
  const files = bundle === "graphiql" ? "graphiql.js and graphiql.css hold" : `${bundle}.js holds`;
  writeFileSync(join(folder, `${bundle}.LICENSES.txt`), `${files} parts of these packages.\n\n${texts.join("\n")}`);
}
