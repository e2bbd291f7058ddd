import { Session } from 'node:inspector/promises';
import { wait as delay } from '@edge-gateway/core';
import type { Request } from 'express';
import { adminError } from '../error-codes.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { html } from '../page/html.ts';
import { plainPage } from '../page/layout.ts';

const MAX_SECONDS = 60;
const DEFAULT_SECONDS = 10;

const INDEX = html`<ul>
<li><a href="/debug/pprof/profile">profile</a>: where time goes, <code>?seconds=N</code>, 1 to ${MAX_SECONDS}, ${DEFAULT_SECONDS} unless given</li>
<li><a href="/debug/pprof/heap">heap</a>: who allocates what stays, <code>?seconds=N</code> as well</li>
</ul>
<p>Open the files in the developer tools of a browser (Performance and Memory). A full heap snapshot is not offered: it would contain every secret.</p>`;

/** Records a profile; `wait` resolves after its duration, or early if the client disconnects. */
type Profile = (session: Session, wait: () => Promise<void>) => Promise<object>;

const cpu: Profile = async (session, wait) => {
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  await wait();
  return (await session.post('Profiler.stop')).profile;
};

/** Names and sizes, no contents. */
const heap: Profile = async (session, wait) => {
  await session.post('HeapProfiler.startSampling');
  await wait();
  return (await session.post('HeapProfiler.stopSampling')).profile;
};

/** Returns `/debug/pprof` and its profiles of this process, one at a time, in V8's own formats. */
export function pprofEndpoints(): Endpoint[] {
  let isBusy = false;
  const profile = (path: `/${string}`, help: string, file: string, take: Profile): Endpoint => ({
    paths: [path],
    help: `${help} profile, ?seconds=N`,
    respond: async (parameters, req) => {
      const ms = durationMs(parameters);
      if (isBusy) throw adminError('ERR_ADMIN_BUSY');
      isBusy = true;
      const session = new Session();
      session.connect();
      try {
        const body = JSON.stringify(await take(session, () => waitFor(ms, req)));
        return { type: 'json', body, headers: { 'content-disposition': `attachment; filename="${file}"` } };
      } finally {
        session.disconnect();
        isBusy = false;
      }
    },
  });
  return [
    {
      paths: ['/debug/pprof', '/debug/pprof/'],
      help: 'profiles of this process',
      respond: () => plainPage('Profiles', INDEX),
    },
    profile('/debug/pprof/profile', 'CPU', 'gateway.cpuprofile', cpu),
    profile('/debug/pprof/heap', 'heap', 'gateway.heapprofile', heap),
  ];
}

function durationMs(parameters: URLSearchParams): number {
  const seconds = Number(parameters.get('seconds') || DEFAULT_SECONDS);
  if (Number.isFinite(seconds) && seconds > 0 && seconds <= MAX_SECONDS) return seconds * 1000;
  throw adminError('ERR_ADMIN_BAD_PARAMETER', `seconds must be a number up to ${MAX_SECONDS}.`);
}

/** Resolves after a time, or early if the client disconnects. */
async function waitFor(ms: number, { res }: Request): Promise<void> {
  const controller = new AbortController();
  res!.once('close', () => controller.abort());
  await delay(ms, undefined, { signal: controller.signal, ref: false }).catch(() => {});
}
