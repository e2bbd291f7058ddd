import type { Case } from '../scenario.ts';
import type { Versions } from '../versions.ts';
import { http2RequestsOf } from './forms.ts';
import { hasHttp2Form } from './reply-writer.ts';

/** The scripted upstream has tunnels over HTTP/1.1 only. */
const TUNNEL = /^CONNECT |\r\nupgrade:/i;

/** Whether a scenario has a form in these versions. */
export function existsIn({ request, upstream: replies = [], end }: Case, { client, upstream }: Versions): boolean {
  if (client === 2 && (end || !http2RequestsOf(request))) return false;
  const isCall = typeof request === 'object' && 'http2' in request;
  if (client === 1 && isCall) return false;
  if (upstream === 1) return replies.every((reply) => typeof reply !== 'object');
  const parts = isCall ? [] : [request].flat();
  return !parts.some((part) => TUNNEL.test(part)) && replies.every(hasHttp2Form);
}
