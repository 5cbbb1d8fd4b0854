// A scripted host with the official TypeScript SDK 2.x.
//
//     node ts_host.mjs FOLDER MODE STEP... -- SERVER [ARGUMENT]...
//
// FOLDER holds the node_modules to load from (the group sdk-ts2). Modes, steps and report are those
// of scripted.py, less its TOOL=JSON.

import { createRequire } from "node:module";
import { resolve } from "node:path";

const cut = process.argv.indexOf("--");
const [folder, mode, ...names] = process.argv.slice(2, cut);
const [command, ...args] = process.argv.slice(cut + 1);
const require = createRequire(resolve(folder, "package.json"));
const { Client } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");
console.debug = console.info = console.error; // stdout is for the report

const patience = 20_000; // of one step: a bound for what hangs

const negotiations = { legacy: undefined, auto: { mode: "auto" } };
const versionNegotiation = mode in negotiations ? negotiations[mode] : { mode: { pin: mode } };
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
const client = new Client(
  { name: "scripted-ts", version: "1.0.0" },
  { versionNegotiation, capabilities },
);
client.setRequestHandler("elicitation/create", async () => ({
  action: "accept",
  content: { name: "Ada" },
}));
client.setRequestHandler("sampling/createMessage", async () => ({
  role: "assistant",
  content: { type: "text", text: "Hello." },
  model: "scripted",
}));
client.setRequestHandler("roots/list", async () => ({
  roots: [{ uri: "file:///a" }, { uri: "file:///b" }],
}));

const call = (name, args, options) => client.callTool({ name, arguments: args }, options);

async function parallel() {
  return Promise.all([1, 2, 3].map(() => call("slow", { seconds: 0.3 })));
}

async function slowCancel() {
  const stop = new AbortController();
  const slow = call("slow", { seconds: 60 }, { signal: stop.signal });
  const ended = slow.then(
    () => "finished",
    (failure) => (stop.signal.aborted ? "cancelled" : failed(failure)),
  );
  await sleepers("1 asleep");
  stop.abort("enough");
  const echo = await call("echo", { text: "still here" });
  return [await ended, echo, await sleepers("0 asleep")];
}

// Asks how many slow calls are under way, until it is as wanted.
async function sleepers(wanted) {
  for (;;) {
    const told = await call("sleepers", {});
    if (JSON.stringify(told).includes(wanted)) return told;
  }
}

const asked = Object.fromEntries(
  ["form", "model", "roots", "twice", "all"].map((what) => [
    `ask_${what}`,
    () => call("ask", { what }),
  ]),
);

const steps = {
  ...asked,
  list_tools: () => client.listTools(),
  list_resources: () => client.listResources(),
  list_prompts: () => client.listPrompts(),
  echo: () => call("echo", { text: 'héllo "字" \u2028 \u{1f600}' }),
  add: () => call("add", { a: 2, b: 40 }),
  read_resource: () => client.readResource({ uri: "shelf://top/note" }),
  read_missing: () => client.readResource({ uri: "shelf://top/nothing" }),
  prompt: () => client.getPrompt({ name: "greet", arguments: { name: "Ada" } }),
  complete: () =>
    client.complete({
      ref: { type: "ref/prompt", name: "greet" },
      argument: { name: "name", value: "Ad" },
    }),
  parallel,
  fail: () => call("fail", {}),
  unknown_tool: () => call("no_such_tool", {}),
  slow_cancel: slowCancel,
};

function failed({ name, message, code, data }) {
  return { ok: false, error: `${name}: ${message}`, code, data };
}

async function outcome(step) {
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end after ${patience} ms`)), patience);
  });
  try {
    return { ok: true, got: await Promise.race([step(), limit]) };
  } catch (failure) {
    return failed(failure);
  } finally {
    clearTimeout(timer);
  }
}

const report = { connect: {}, steps: {} };
try {
  await client.connect(new StdioClientTransport({ command, args }));
  for (const name of names) report.steps[name] = await outcome(steps[name]);
  report.connect = {
    version: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
  };
} catch (failure) {
  report.connect = failed(failure);
}
await client.close();
console.log(JSON.stringify(report));
