// The code of a thread that evaluates one policy, so that a policy that takes long neither blocks other requests nor runs for ever.
import { parentPort, workerData } from 'node:worker_threads';
import { loadPolicy } from '@open-policy-agent/opa-wasm';
import { BUILTINS, LIBRARY_BUILTINS } from './builtins.ts';
import type { CompiledPolicy } from './compile.ts';

/** Message of the thread: first whether the policy is loaded, then a result for each input. */
export type ThreadMessage = { readonly value: unknown } | { readonly error: string };

/** 128 MiB. */
const MAX_PAGES = 2048;

interface Exports {
  builtins(): number;
  opa_json_dump(address: number): number;
}

async function load({ wasm, entrypoint, isList, data }: CompiledPolicy): Promise<(input: string) => unknown> {
  const policy = await loadPolicy(wasm as Uint8Array<ArrayBuffer>, { initial: 5, maximum: MAX_PAGES }, BUILTINS);
  const missing = Object.keys(builtinsOf(policy)).filter(
    (name) => !LIBRARY_BUILTINS.has(name) && !Object.hasOwn(BUILTINS, name),
  );
  if (missing.length > 0) throw new Error(`built-in functions that are not available: ${missing.join(', ')}`);
  const entrypoints = policy.entrypoints as Readonly<Record<string, number>>;
  if (!Object.hasOwn(entrypoints, entrypoint)) throw new Error(`the bundle has no entrypoint ${entrypoint}`);
  policy.setData(data ?? {});
  return (input) => {
    const [first] = policy.evaluate(bytesOf(input), entrypoint) as readonly { readonly result?: unknown }[];
    if (!isList) return first?.result;
    const list = first?.result as readonly unknown[] | undefined;
    return list?.length === 1 ? list[0] : undefined;
  };
}

/** The library takes JSON as an `ArrayBuffer` that it fills completely. */
function bytesOf(json: string): ArrayBuffer {
  return new TextEncoder().encode(json).slice().buffer;
}

/** Returns the functions that a policy imports, by name. */
function builtinsOf({ wasmInstance, mem }: Awaited<ReturnType<typeof loadPolicy>>): object {
  const { exports } = wasmInstance as unknown as { readonly exports: Exports };
  const start = exports.opa_json_dump(exports.builtins());
  const bytes = new Uint8Array(mem.buffer);
  return JSON.parse(Buffer.from(bytes.subarray(start, bytes.indexOf(0, start))).toString('utf8')) as object;
}

function send(message: ThreadMessage): void {
  // oxlint-disable-next-line require-post-message-target-origin
  parentPort!.postMessage(message);
}

/** The library throws texts and plain objects too. */
function messageOf(error: unknown): string {
  if (typeof error === 'string') return error;
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === 'string' ? message : 'the policy failed';
}

async function attempt(work: () => unknown): Promise<void> {
  try {
    send({ value: await work() });
  } catch (error) {
    send({ error: messageOf(error) });
  }
}

let evaluate: ((input: string) => unknown) | undefined;
await attempt(async () => {
  evaluate = await load(workerData as CompiledPolicy);
  return true;
});
parentPort!.on('message', (input: string) => void attempt(() => evaluate?.(input)));
