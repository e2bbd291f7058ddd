import { once } from 'node:events';
import { until, type GatewayProcess } from '../../apps/gateway/test/gateway-process.ts';

/** The flags of a process whose memory is measured. */
export const INSPECTED: readonly string[] = ['--inspect=127.0.0.1:0'];

/** What a process uses after its garbage was collected, in bytes. */
export interface UsedMemory {
  /** Of the heap. */
  readonly heap: number;
  /** Of buffers and other memory outside of the heap. */
  readonly external: number;
}

interface Reply {
  readonly id?: number;
  readonly result?: { readonly result?: { readonly value?: unknown } };
}

/** Measures the memory of a process by its inspector. Several collections stop the process: for some tenths of a second, or for seconds on a busy machine. */
export async function inspectMemory(process: GatewayProcess) {
  const url = await until(() => /^Debugger listening on (ws:\S+)/m.exec(process.errors)?.[1], 'the inspector');
  const socket = new WebSocket(url!);
  await once(socket, 'open');
  const pending = new Map<number, (reply: Reply) => void>();
  let last = 0;
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    if (reply.id === undefined) return;
    pending.get(reply.id)?.(reply);
    pending.delete(reply.id);
  });
  function call(method: string, params: object = {}): Promise<Reply> {
    const id = ++last;
    const replied = new Promise<Reply>((resolve) => pending.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    return replied;
  }
  return {
    async used(): Promise<UsedMemory> {
      await call('HeapProfiler.collectGarbage');
      const expression = 'JSON.stringify(process.memoryUsage())';
      const { result } = await call('Runtime.evaluate', { expression });
      const { heapUsed: heap, external } = JSON.parse(String(result?.result?.value)) as NodeJS.MemoryUsage;
      return { heap, external };
    },
    close: () => socket.close(),
  };
}
