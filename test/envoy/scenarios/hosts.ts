import { ask, askRaw, envoyText, ourText, type Group } from '../scenario.ts';

const host = (name: string): string => askRaw(['GET / HTTP/1.1', `Host: ${name}`]);
const virtualHosts = (text: (name: string) => object): object[] => [
  { domains: ['*.$host'], routes: [text('suffix')] },
  { domains: ['*.long.$host'], routes: [text('long suffix')] },
  { domains: ['a.$host'], routes: [text('exact')] },
  { domains: ['p.$host.*'], routes: [text('prefix')] },
  { domains: ['$host:8443'], routes: [text('port')] },
  { domains: ['*-x.$host'], routes: [text('hyphen')] },
];
/** A domain that no group has. */
const CATCH_ALL = { domains: ['*'] };

export const hosts: readonly Group[] = [
  {
    name: 'domain',
    ours: { routes: [ourText('plain')], virtualHosts: virtualHosts((name) => ourText(name)) },
    envoy: { routes: [envoyText('plain')], virtualHosts: virtualHosts((name) => envoyText(name)) },
    cases: {
      'equals the host': host('$host'),
      'matches an exact name before a wildcard': host('a.$host'),
      'matches a suffix': host('b.$host'),
      'matches a suffix of several labels': host('c.b.$host'),
      'matches the longest suffix': host('x.long.$host'),
      'matches a suffix within a label': host('y-x.$host'),
      'does not match an empty part': host('.$host'),
      'matches a prefix': host('p.$host.example'),
      'matches a port that it names': host('$host:8443'),
      'does not match a port that it does not name': host('$host:8080'),
      'does not match an unknown name': host('unknown.example'),
      'matches an upper-case name': host('A.$host'),
    },
  },
  {
    name: 'all hosts',
    ours: {
      virtualHost: CATCH_ALL,
      routes: [ourText('any')],
      listener: { httpConnectionManagerSettings: { stripAnyHostPort: true } },
    },
    envoy: { virtualHost: CATCH_ALL, routes: [envoyText('any')], manager: { strip_any_host_port: true } },
    cases: {
      'match any name': host('whatever.example'),
      'match an address': host('127.0.0.1'),
      'match an IPv6 address': host('[::1]:80'),
    },
  },
  {
    name: 'stripAnyHostPort',
    ours: { listener: { httpConnectionManagerSettings: { stripAnyHostPort: true, via: 'strip' } } },
    envoy: { manager: { strip_any_host_port: true, via: 'strip' } },
    cases: {
      'matches without the port and forwards the host without it': host('$host:8080'),
      'leaves a host without port': host('$host'),
    },
  },
  {
    name: 'absolute target',
    cases: {
      'with the host of the header': askRaw(['GET http://$host/a?b HTTP/1.1', 'Host: $host']),
      'with another host': askRaw(['GET http://other.example/a HTTP/1.1', 'Host: $host']),
      'without path': askRaw(['GET http://$host HTTP/1.1', 'Host: $host']),
      'of OPTIONS with a star': ask('OPTIONS *'),
    },
  },
];
