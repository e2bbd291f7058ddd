import type { Differing } from './observe.ts';
import type { Versions } from './versions.ts';

/** Fields that HTTP/2 does not have. */
const CONNECTION_FIELD = / (?:connection|keep-alive|transfer-encoding)$/;
const RESPONSE = /^response(?: \d+)?(?= |$)/;
const REQUEST = /^(?:other )?request(?: \d+)?(?= |$)/;

/** Returns what differs over HTTP/1.1 as it appears in other versions. */
export function inVersions(differing: Differing, { client, upstream }: Versions): Differing {
  if (client === 1 && upstream === 1) return differing;
  const entries = Object.entries(differing).flatMap(([name, values]) => {
    const isOverHttp2 = (client === 2 && RESPONSE.test(name)) || (upstream === 2 && REQUEST.test(name));
    if (client === 2 && name === 'closed') return [];
    if (!isOverHttp2) return [[name, values] as const];
    if (CONNECTION_FIELD.test(name)) return [];
    const isStatus = RESPONSE.exec(name)?.[0] === name;
    const isLine = REQUEST.exec(name)?.[0] === name;
    const [ours, envoy] = values.map((value) =>
      isStatus ? value.replace(/^(\d+) .*/, '$1') : isLine ? value.replace(/ HTTP\/1\.1$/, ' HTTP/2') : value,
    ) as [string, string];
    return ours === envoy ? [] : [[name, [ours, envoy]] as const];
  });
  return Object.fromEntries(entries);
}
