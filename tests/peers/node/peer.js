// N3.js and jsonld.js with the line protocol of jvm/Peer.java: a request is the file to read, its
// format, the file to write and its format, separated by tabs; the answer is "ok", or "error" and the
// reason. Formats: nt, nq, ttl, trig; blank node labels are kept if the library allows it.
// "jsonld-lines", one JSON-LD document per line, becomes "json-lines": its quads in the form of
// jsonld.js, or the text of its error; the option is the base.
"use strict";

const fs = require("node:fs");
const readline = require("node:readline");
const jsonld = require("jsonld");
const { Parser, Writer } = require("n3");

const MEDIA_TYPES = {
  nt: "application/n-triples",
  nq: "application/n-quads",
  ttl: "text/turtle",
  trig: "application/trig",
};

function convert(source, from, target, to) {
  const parser = new Parser({ format: MEDIA_TYPES[from], blankNodePrefix: "" });
  const prefixes = {};
  const quads = parser.parse(fs.readFileSync(source, "utf8"), null, (name, iri) => {
    prefixes[name] = iri.value;
  });
  const writer = new Writer({ format: MEDIA_TYPES[to], prefixes });
  writer.addQuads(quads);
  writer.end((error, text) => {
    if (error) throw error;
    fs.writeFileSync(target, text);
  });
}

async function noLoader(url) {
  throw new Error(`no ${url}`);
}

async function readDocuments(source, target, base) {
  const lines = [];
  for (const line of fs.readFileSync(source, "utf8").split("\n").slice(0, -1)) {
    try {
      lines.push(await jsonld.toRDF(JSON.parse(line), { base, documentLoader: noLoader }));
    } catch (error) {
      lines.push(`${error} (JSON-LD: ${error.details && error.details.code})`);
    }
  }
  fs.writeFileSync(target, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

async function answer(line) {
  const [source, from, target, to, base] = line.split("\t");
  try {
    if (from === "jsonld-lines") await readDocuments(source, target, base);
    else convert(source, from, target, to);
    return "ok";
  } catch (error) {
    return `error ${String(error).replace(/\s+/g, " ")}`;
  }
}

(async () => {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    fs.writeSync(1, `${await answer(line)}\n`);
  }
})();
