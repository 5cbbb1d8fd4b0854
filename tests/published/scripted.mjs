// What the scripted hosts in TypeScript have in common: their command line, steps and report.
//
//     node HOST FOLDER MODE STEP... -- SERVER [ARGUMENT]...
//
// FOLDER holds the node_modules to load from. Modes, steps and report are those of scripted.py, less
// its TOOL=JSON. Does not live here: any software development kit (ts_host.mjs, ts1_host.mjs).

import { createRequire } from "node:module";
import { resolve } from "node:path";

const cut = process.argv.indexOf("--");
const [folder, mode, ...names] = process.argv.slice(2, cut);
const [command, ...args] = process.argv.slice(cut + 1);
const patience = 20_000; // of one step: a bound for what hangs

export const require = createRequire(resolve(folder, "package.json"));
export const level = "warning"; // of the log messages that a host wants
console.debug = console.info = console.error; // stdout is for the report

// Answers to what a server asks.
export const answers = {
  elicit: async ({ params }) =>
    params.mode === "url" ? { action: "accept" } : { action: "accept", content: { name: "Ada" } },
  createMessage: async () => ({
    role: "assistant",
    content: { type: "text", text: "Hello." },
    model: "scripted",
  }),
  listRoots: async () => ({ roots: [{ uri: "file:///a" }, { uri: "file:///b" }] }),
};
export const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

// What the server has told unasked, by kind, in order.
class Seen {
  told = {};
  waiting = [];

  tell(kind, what) {
    (this.told[kind] ??= []).push(what);
    for (const look of this.waiting) look();
  }

  of(kind) {
    return [...(this.told[kind] ?? [])];
  }

  until(kind, count) {
    return new Promise((done) => {
      const look = () => this.of(kind).length >= count && done(this.of(kind));
      this.waiting.push(look);
      look();
    });
  }
}
export const seen = new Seen();

// A host is { client, call(name, args, options), setLevel(), watch(uri) }; watch gives what ends it.
function stepsOf({ client, call, setLevel, watch }) {
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

  async function progress() {
    const onprogress = ({ progress, total, message }) =>
      seen.tell("progress", [progress, total, message]);
    const result = await call("count", { to: 3 }, { onprogress });
    return [result, await seen.until("progress", 3)];
  }

  async function logs() {
    await setLevel();
    const result = await call("log", {});
    return [result, await seen.until("log", 2)];
  }

  async function changes() {
    const end = await watch("shelf://top/touched");
    await call("touch", {});
    await seen.until("updated", 1);
    await call("grow", {});
    await seen.until("tools", 1);
    await end();
    await call("touch", {});
    return [seen.of("updated"), seen.of("tools")];
  }

  const asked = Object.fromEntries(
    ["form", "url", "model", "roots", "twice", "all"].map((what) => [
      `ask_${what}`,
      () => call("ask", { what }),
    ]),
  );

  return {
    ...asked,
    progress,
    logs,
    changes,
    era: () => call("era", {}),
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
}

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

// `connect(mode, server)` gives a host, `about(host)` what it knows of the server.
export async function main(connect, about) {
  const report = { connect: {}, steps: {} };
  let host;
  try {
    host = await connect(mode, { command, args });
    const steps = stepsOf(host);
    for (const name of names) report.steps[name] = await outcome(steps[name]);
    report.connect = about(host);
  } catch (failure) {
    report.connect = failed(failure);
  }
  await host?.client.close();
  console.log(JSON.stringify(report));
}
