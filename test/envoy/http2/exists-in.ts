import type { Case } from '../scenario.ts';
import type { Versions } from '../versions.ts';
import { http2RequestsOf } from './forms.ts';
import { hasHttp2Form } from './reply-writer.ts';

const TUNNEL = /^CONNECT |\r\nupgrade:/i;

/** Whether a scenario has a form in these versions. */
export function existsIn(
  { request, upstream: replies = [], end, onlyHttp1Upstream }: Case,
  { client, upstream }: Versions,
): boolean {
  if (client === 2 && (end || !http2RequestsOf(request))) return false;
  const isCall = typeof request === 'object' && 'http2' in request;
  if (client === 1 && isCall) return false;
  if (upstream === 1) return replies.every((reply) => typeof reply !== 'object');
  if (onlyHttp1Upstream) return false;
  // Requests that a gateway forwards over HTTP/2 have a form in it.
  const requests = http2RequestsOf(request);
  if (!requests && TUNNEL.test([request].flat().join(''))) return false;
  const method = requests?.some(({ opensTunnel }) => opensTunnel) ? 'CONNECT' : 'GET';
  return replies.every((reply) => hasHttp2Form(reply, method));
}
