// A scripted host with the official TypeScript SDK 2.x; scripted.mjs says how it is run.
//
// FOLDER is that of the group sdk-ts2.

import { answers, capabilities, level, main, require, seen } from "./scripted.mjs";

const { Client } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

async function connect(mode, server) {
  const negotiations = { legacy: undefined, auto: { mode: "auto" } };
  const versionNegotiation = mode in negotiations ? negotiations[mode] : { mode: { pin: mode } };
  const client = new Client(
    { name: "scripted-ts", version: "1.0.0" },
    { versionNegotiation, capabilities },
  );
  client.setRequestHandler("elicitation/create", answers.elicit);
  client.setRequestHandler("sampling/createMessage", answers.createMessage);
  client.setRequestHandler("roots/list", answers.listRoots);
  client.setNotificationHandler("notifications/message", ({ params }) =>
    seen.tell("log", [params.level, params.data]),
  );
  client.setNotificationHandler("notifications/resources/updated", ({ params }) =>
    seen.tell("updated", params.uri),
  );
  client.setNotificationHandler("notifications/tools/list_changed", () =>
    seen.tell("tools", "changed"),
  );
  await client.connect(new StdioClientTransport(server));
  const isModern = client.getProtocolEra() === "modern";
  // A modern host says with each request what it wants to be logged.
  const meta = isModern ? { _meta: { "io.modelcontextprotocol/logLevel": level } } : {};
  return {
    client,
    call: (name, args, options) => client.callTool({ name, arguments: args, ...meta }, options),
    setLevel: async () => {
      if (!isModern) await client.setLoggingLevel(level);
    },
    watch: async (uri) => {
      if (isModern) {
        const stream = await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] });
        return () => stream.close();
      }
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
  };
}

await main(connect, ({ client }) => ({
  version: client.getNegotiatedProtocolVersion(),
  server: client.getServerVersion(),
  capabilities: client.getServerCapabilities(),
  instructions: client.getInstructions(),
}));
