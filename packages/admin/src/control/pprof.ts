import type { Request } from 'express';
import type { Answer } from '../http/answer.ts';
import { adminError } from '../error-codes.ts';
import { page } from '../http/page.ts';
import type { ControlEndpoint, ControlEndpointFactory } from './endpoint.ts';
import type { Profiler } from './profiler.ts';

const MAX_SECONDS = 60;
const DEFAULT_SECONDS = 10;

const INDEX = `<ul>
<li><a href="/debug/pprof/profile">profile</a>: where time goes, <code>?seconds=N</code>, 1 to ${MAX_SECONDS}, ${DEFAULT_SECONDS} unless given</li>
<li><a href="/debug/pprof/heap">heap</a>: who allocates what stays, <code>?seconds=N</code> as well</li>
</ul>
<p>Open the files in the developer tools of a browser (Performance and Memory). A full heap snapshot is not offered: it would contain every secret.</p>`;

/** `/debug/pprof`: which profiles there are. */
export const pprofIndex: ControlEndpointFactory = () => ({
  paths: ['/debug/pprof', '/debug/pprof/'],
  help: 'profiles of this process',
  get: () => ({ type: 'html', body: page('Profiles', INDEX) }),
});

/** `/debug/pprof/profile`: a CPU profile. */
export function pprofProfile(profiler: Profiler): ControlEndpoint {
  return {
    paths: ['/debug/pprof/profile'],
    help: 'CPU profile, ?seconds=N',
    get: async (req) => attachment('gateway.cpuprofile', await profiler.cpu(durationMs(req), closed(req))),
  };
}

/** `/debug/pprof/heap`: a sampling heap profile. */
export function pprofHeap(profiler: Profiler): ControlEndpoint {
  return {
    paths: ['/debug/pprof/heap'],
    help: 'heap profile, ?seconds=N',
    get: async (req) => attachment('gateway.heapprofile', await profiler.heap(durationMs(req), closed(req))),
  };
}

function durationMs(req: Request): number {
  const query = new URLSearchParams(req.url.split('?', 2)[1] ?? '');
  const seconds = Number(query.get('seconds') || DEFAULT_SECONDS);
  if (Number.isFinite(seconds) && seconds > 0 && seconds <= MAX_SECONDS) return seconds * 1000;
  throw adminError('ERR_ADMIN_BAD_PARAMETER', { message: `seconds has to be a number up to ${MAX_SECONDS}.` });
}

function closed(req: Request): AbortSignal {
  const controller = new AbortController();
  req.res!.once('close', () => controller.abort());
  return controller.signal;
}

function attachment(name: string, profile: object): Answer {
  const headers = { 'content-disposition': `attachment; filename="${name}"` };
  return { type: 'json', headers, body: JSON.stringify(profile) };
}
