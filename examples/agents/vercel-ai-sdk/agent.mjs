// Vercel AI SDK with the Node SDK of OpenTelemetry.   node agent.mjs [stuck|premature|healthy]
import { OpenTelemetry } from '@ai-sdk/otel';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { generateText, isStepCount, registerTelemetry, tool } from 'ai';
import { z } from 'zod';

process.env.OTEL_SERVICE_NAME ??= 'vercel-ai-sdk-example';
const sdk = new NodeSDK(); // exporter, protocol and compression come from the OTEL_ variables
sdk.start();
registerTelemetry(new OpenTelemetry());

const files = { 'src/calc.py': 'def add(a, b):\n    return a - b\n' };
const text = z.string();
const tools = {
  read_file: tool({
    description: 'Read a file.',
    inputSchema: z.object({ path: text }),
    execute: async ({ path }) => {
      if (!(path in files)) throw new Error(`ENOENT: no such file or directory, open '${path}'`);
      return files[path];
    },
  }),
  edit_file: tool({
    description: 'Replace a text in a file.',
    inputSchema: z.object({ path: text, old: text, new: text }),
    execute: async (edit) => {
      files[edit.path] = files[edit.path].replace(edit.old, edit.new);
      return `edited ${edit.path}`;
    },
  }),
  bash: tool({
    description: 'Run a shell command.',
    inputSchema: z.object({ command: text }),
    execute: async () =>
      files['src/calc.py'].includes('a + b')
        ? { stdout: '3 passed in 0.02s', exitCode: 0 }
        : { stdout: '1 failed, 2 passed in 0.03s', exitCode: 1 },
  }),
};
const baseURL = process.env.OPENAI_BASE_URL ?? 'http://localhost:8811/v1';
const model = createOpenAICompatible({ name: 'offline', baseURL, apiKey: 'offline' })(process.argv[2] ?? 'stuck');
const answer = await generateText({
  model,
  tools,
  instructions: 'You are a coding agent. Use the tools. Only say it is done after the tests pass.',
  prompt: 'Fix the failing test in src/calc.py and run the tests.',
  stopWhen: isStepCount(8),
  telemetry: { isEnabled: true, functionId: 'coder' },
});
console.log(answer.text);
await sdk.shutdown();
