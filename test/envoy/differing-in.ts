import { DIFFERENCES, type Difference } from './differences.ts';
import type { Differing } from './observe.ts';
import type { Versions } from './versions.ts';

/** Returns all fields in which a scenario differs in these versions. */
export function differingOf(name: string, versions: Versions): Differing {
  return Object.assign({}, ...DIFFERENCES.map((difference) => differingIn(difference, name, versions))) as Differing;
}

function differingIn(difference: Difference, name: string, versions: Versions): Differing {
  const ofTls = versions.tls ? difference.tls?.[name] : undefined;
  return ofTls ?? withScheme(differingByVersion(difference, name, versions), versions);
}

/** URLs of requests over TLS have its scheme. */
function withScheme(differing: Differing, { tls }: Versions): Differing {
  if (!tls) return differing;
  return Object.fromEntries(
    Object.entries(differing).map(
      ([name, [ours, envoy]]) =>
        [
          name,
          [ours.replaceAll('http://$host', 'https://$host'), envoy.replaceAll('http://$host', 'https://$host')],
        ] as const,
    ),
  );
}

function differingByVersion({ scenarios, http2, onlyHttp1 }: Difference, name: string, versions: Versions): Differing {
  const differing = scenarios[name] ?? {};
  const [client, upstream] = [versions.client === 2, versions.upstream === 2];
  if (!client && !upstream) return differing;
  const ofBoth = client && upstream ? http2?.both?.[name] : undefined;
  const ofClient = client ? http2?.client?.[name] : undefined;
  const ofUpstream = upstream ? http2?.upstream?.[name] : undefined;
  if (ofBoth) return ofBoth;
  if (ofClient || ofUpstream) return { ...ofClient, ...ofUpstream };
  const isOther = onlyHttp1 === 'both' || (onlyHttp1 === 'client' && client) || (onlyHttp1 === 'upstream' && upstream);
  return isOther ? {} : inVersions(differing, versions);
}

/** Fields that HTTP/2 does not have. */
const CONNECTION_FIELD = / (?:connection|keep-alive|transfer-encoding)$/;
const RESPONSE = /^response(?: \d+)?(?= |$)/;
const REQUEST = /^(?:other )?request(?: \d+)?(?= |$)/;

/** Returns what differs over HTTP/1.1 as it appears in other versions. */
function inVersions(differing: Differing, { client, upstream }: Versions): Differing {
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
