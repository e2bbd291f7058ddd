import type { Case } from '../scenario.ts';
import type { Versions } from '../versions.ts';
import { http2Requests } from './forms.ts';
import { hasHttp2Form } from './reply-writer.ts';

/** Upgrades are forwarded over HTTP/1.1 only. */
const UPGRADE = /\r\nupgrade:/i;

/** Whether a scenario has a form in these versions. */
export function existsIn(scenario: Case, { client, upstream }: Versions): boolean {
  const parts = [scenario.request].flat();
  if (client === 2 && (scenario.end || !http2Requests(parts))) return false;
  if (upstream === 1) return true;
  return !parts.some((part) => UPGRADE.test(part)) && (scenario.upstream ?? []).every(hasHttp2Form);
}
