import type { Context, Handler, Responder, Snapshot } from '@edge-gateway/core';
import { compileListener, type CompiledListener, type ListenerEnvironment } from './compiled-listener.ts';
import type { CompiledHost } from '../route/compile/virtual-host.ts';

/** The listeners of the newest snapshot. */
export type ListenerTable = ReturnType<typeof createListenerTable>;

type Listeners = ReadonlyMap<string, CompiledListener>;

export function createListenerTable(environment: ListenerEnvironment) {
  const closing = new Set<Promise<void>>();
  /** Replaced, with requests under way. */
  const replaced = new Set<CompiledHost>();
  let listeners: Listeners = new Map();

  /** Called when the last request of a replaced virtual host is over. */
  function hostIdle(host: CompiledHost): void {
    replaced.delete(host);
    for (const handler of host.handlers) {
      const done: Promise<void> = closeHandler(handler, environment.context).then(() => void closing.delete(done));
      closing.add(done);
    }
    host.release();
  }

  function swap(next: Listeners): void {
    const before = listeners;
    listeners = next;
    for (const host of removedHosts(before, next)) {
      host.retired = true;
      if (host.inFlight === 0) hostIdle(host);
      else replaced.add(host);
    }
  }

  return {
    get: (name: string) => listeners.get(name),
    /** Compiles what changed and swaps. Handlers of replaced virtual hosts are closed when their last request is over. */
    apply: ({ listeners: next, settings }: Pick<Snapshot, 'listeners' | 'settings'>) =>
      swap(
        new Map(
          next.map((source) => {
            const before = listeners.get(source.name);
            return [source.name, compileListener(source, settings, environment, before)];
          }),
        ),
      ),
    hostIdle,
    /** Ends what has no end of its own, also of replaced virtual hosts. */
    drain() {
      const hosts = [...listeners.values()].flatMap((listener) => [...listener.hosts.values()]);
      for (const { handlers } of [...hosts, ...replaced]) for (const handler of handlers) handler.drain?.();
    },
    /** Forgets every listener and resolves when all handlers are closed. */
    async close() {
      swap(new Map());
      await Promise.all(closing);
    },
  };
}

function* removedHosts(before: Listeners, after: Listeners): Generator<CompiledHost> {
  for (const [name, listener] of before) {
    const now = after.get(name)?.hosts;
    for (const [source, host] of listener.hosts) if (now?.get(source) !== host) yield host;
  }
}

async function closeHandler(handler: Handler | Responder, context: Context): Promise<void> {
  try {
    await handler.close?.();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    context.log.get('config').warn({ handler: handler.name, reason }, 'concern could not be closed');
  }
}
