import { keyOf } from '../../resource/resource.ts';
import type { LocatedProblem } from '../status/report.ts';
import type { ListenerTls } from './listener-tls.ts';

/** Returns the TLS problems of a listener, at the virtual services that require TLS. */
export function tlsProblems({ blamed, problems, claims }: ListenerTls): readonly LocatedProblem[] {
  return problems.flatMap((problem) => {
    const { hosts, path } = blamed.get(problem.message) ?? { hosts: [], path: [] };
    const blamedClaims = claims.filter(({ host }) => hosts.includes(host));
    return blamedClaims.map(({ host, namespace }) => {
      const key = keyOf('VirtualService', { namespace, name: host.slice(namespace.length + 1) });
      return { key, problem: { ...problem, path } };
    });
  });
}
