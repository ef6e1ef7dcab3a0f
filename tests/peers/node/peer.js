// N3.js behind the line protocol of jvm/Peer.java: a request is the file to read, its format, the
// file to write and its format, split by tabs; the answer is "ok", or "error" and the reason.
// Formats: nt, nq, ttl, trig. Blank node labels are kept where the library lets them.
"use strict";

const fs = require("node:fs");
const readline = require("node:readline");
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

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  let answer = "ok";
  try {
    convert(...line.split("\t"));
  } catch (error) {
    answer = `error ${String(error).replace(/\s+/g, " ")}`;
  }
  fs.writeSync(1, `${answer}\n`);
});
