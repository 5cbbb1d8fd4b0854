// A server on stdio with the official TypeScript SDK 2.x, which speaks both eras.
//
//     node modern_server.mjs FOLDER
//
// FOLDER holds the node_modules to load from (the group sdk-ts2). Answers what modern_server.py
// answers, in its own words.

import { createRequire } from "node:module";
import { resolve } from "node:path";

const require = createRequire(resolve(process.argv[2], "package.json"));
const { McpServer, completable, inputRequired } = require(
  "@modelcontextprotocol/server",
);
const { serveStdio } = require("@modelcontextprotocol/server/stdio");
const { z } = require("zod");

const text = (said) => ({ content: [{ type: "text", text: said }] });
const asleep = { now: 0, most: 0, cancelled: 0 };
const grown = { tools: 0, touched: 0 };

const questions = {
  form: () =>
    inputRequired.elicit({
      message: "Who are you?",
      requestedSchema: {
        type: "object",
        properties: { name: { type: "string" } },
        required: ["name"],
      },
    }),
  url: () =>
    inputRequired.elicitUrl({ message: "Sign in", url: "https://example.com/sign-in" }),
  model: () =>
    inputRequired.createMessage({
      messages: [{ role: "user", content: { type: "text", text: "Hello?" } }],
      maxTokens: 10,
    }),
  roots: () => inputRequired.listRoots(),
};
const roundsOf = { twice: [["form"], ["form"]], all: [["form", "model", "roots"]] };

function told(answer) {
  if ("action" in answer) return `${answer.action} ${JSON.stringify(answer.content)}`;
  if ("roots" in answer) return answer.roots.map(({ uri }) => uri).join(" ");
  return `${answer.model} ${answer.content.text}`;
}

function ask({ what }, { mcpReq }) {
  const rounds = roundsOf[what] ?? [[what]];
  const answers = JSON.parse(mcpReq.requestState() ?? "[]");
  const given = mcpReq.inputResponses ?? {};
  const keys = Object.keys(given).sort();
  if (keys.length) answers.push(keys.map((key) => told(given[key])));
  if (answers.length === rounds.length) return text(answers.flat().sort().join(", "));
  const asked = rounds[answers.length].map((each) => [each, questions[each]()]);
  return inputRequired({
    inputRequests: Object.fromEntries(asked),
    requestState: JSON.stringify(answers),
  });
}

async function slow({ seconds }, { mcpReq }) {
  asleep.now += 1;
  asleep.most = Math.max(asleep.most, asleep.now);
  try {
    await new Promise((done, stopped) => {
      const timer = setTimeout(done, seconds * 1000);
      mcpReq.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        asleep.cancelled += 1;
        stopped(new Error("cancelled"));
      });
    });
  } finally {
    asleep.now -= 1;
  }
  return text(`up to ${asleep.most} at once`);
}

async function count({ to }, { mcpReq }) {
  const progressToken = mcpReq._meta?.progressToken;
  for (let progress = 1; progress <= to; progress += 1) {
    const params = { progressToken, progress, total: to, message: `number ${progress}` };
    await mcpReq.notify({ method: "notifications/progress", params });
    // This SDK's client loses progress that comes in one read with the result.
    await new Promise((done) => setTimeout(done, 50));
  }
  return text("counted");
}

async function log(_, { mcpReq }) {
  for (const level of ["debug", "info", "warning", "error"]) {
    await mcpReq.log(level, { level }, "rack");
  }
  return text("logged");
}

serveStdio(() => {
  const server = new McpServer(
    { name: "rack", version: "2.1.0" },
    {
      capabilities: {
        logging: {},
        resources: { subscribe: true, listChanged: true },
        tools: { listChanged: true },
      },
      instructions: "Ask for tools/list first.",
    },
  );
  const tool = (name, shape, run) =>
    server.registerTool(name, { inputSchema: z.object(shape) }, run);
  server.registerTool(
    "echo",
    {
      title: "Echo",
      description: "Says what it is told.",
      inputSchema: z.object({ text: z.string() }),
      annotations: { readOnlyHint: true },
    },
    async ({ text: said }) => text(said),
  );
  server.registerTool(
    "add",
    {
      inputSchema: z.object({ a: z.number().int(), b: z.number().int() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    async ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
  );
  tool("slow", { seconds: z.number() }, slow);
  tool("sleepers", {}, async () =>
    text(`${asleep.now} asleep, ${asleep.cancelled} cancelled`),
  );
  tool("fail", {}, async () => {
    throw new Error("the rack fell down");
  });
  tool("ask", { what: z.string() }, async (args, context) => ask(args, context));
  tool("count", { to: z.number() }, count);
  tool("log", {}, log);
  tool("touch", {}, async () => {
    grown.touched += 1;
    await server.server.sendResourceUpdated({ uri: "shelf://top/touched" });
    return text("touched");
  });
  tool("grow", {}, async () => {
    grown.tools += 1;
    tool(`leaf_${grown.tools}`, {}, async () => text("leaf")); // tells of it by itself
    return text("grown");
  });
  tool("era", {}, async (_, { mcpReq }) =>
    text(mcpReq.envelope?.["io.modelcontextprotocol/protocolVersion"] ?? "legacy"),
  );
  const resource = (name, read) =>
    server.registerResource(name, `shelf://top/${name}`, { mimeType: "text/plain" }, async (uri) => ({
      contents: [{ uri: String(uri), mimeType: "text/plain", text: read() }],
    }));
  resource("note", () => "héllo");
  resource("touched", () => String(grown.touched));
  const names = (typed) => ["Ada", "Adele", "Bob"].filter((name) => name.startsWith(typed));
  server.registerPrompt(
    "greet",
    { title: "Greet", argsSchema: z.object({ name: completable(z.string(), names) }) },
    async ({ name }) => ({
      messages: [{ role: "user", content: { type: "text", text: `Greet ${name}.` } }],
    }),
  );
  return server;
});
