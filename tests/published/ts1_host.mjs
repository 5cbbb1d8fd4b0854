// A scripted host with the official TypeScript SDK 1.x, legacy only; scripted.mjs says how it is run.
//
// FOLDER is that of the group sdk-ts1.

import { answers, capabilities, level, main, require, seen } from "./scripted.mjs";

const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const types = require("@modelcontextprotocol/sdk/types.js");

let version;

async function connect(mode, server) {
  if (mode !== "legacy") throw new Error(`there is no ${mode} in this SDK`);
  const client = new Client({ name: "scripted-ts1", version: "1.0.0" }, { capabilities });
  client.setRequestHandler(types.ElicitRequestSchema, answers.elicit);
  client.setRequestHandler(types.CreateMessageRequestSchema, answers.createMessage);
  client.setRequestHandler(types.ListRootsRequestSchema, answers.listRoots);
  client.setNotificationHandler(types.LoggingMessageNotificationSchema, ({ params }) =>
    seen.tell("log", [params.level, params.data]),
  );
  client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, ({ params }) =>
    seen.tell("updated", params.uri),
  );
  client.setNotificationHandler(types.ToolListChangedNotificationSchema, () =>
    seen.tell("tools", "changed"),
  );
  const transport = new StdioClientTransport(server);
  transport.setProtocolVersion = (agreed) => {
    version = agreed;
  };
  await client.connect(transport);
  return {
    client,
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    setLevel: () => client.setLoggingLevel(level),
    watch: async (uri) => {
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
  };
}

await main(connect, ({ client }) => ({
  version,
  server: client.getServerVersion(),
  capabilities: client.getServerCapabilities(),
  instructions: client.getInstructions(),
}));
