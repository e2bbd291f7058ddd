import { isHost } from '../../syntax/host.ts';

/** Returns why a text is not a valid host; `undefined` if it is. */
export function hostProblem(host: string): string | undefined {
  return isHost(host) ? undefined : `invalid host '${host}': use a name or an IP address, optionally with a port`;
}
