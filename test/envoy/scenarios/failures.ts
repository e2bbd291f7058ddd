import { ask, envoys, ours, post, reply, LATER_MS, LIMIT, type Group, type Reply } from '../scenario.ts';

const hang: Reply = () => {};
const raw = (text: string): Reply => text.replaceAll('\n', '\r\n');
const failing = (...upstream: Reply[]) => ({ request: ask('GET /'), upstream });

export const failures: readonly Group[] = [
  {
    name: 'upstream',
    ours: { routes: [ours({ prefix: '/refused' }, {}, '$refused'), ours()] },
    envoy: { routes: [envoys({ prefix: '/refused' }, { cluster: '$refused' }), envoys()] },
    cases: {
      'refuses the connection': ask('GET /refused'),
      'refuses the connection of a POST': post('/refused', 'hello'),
      'refuses the connection of HEAD': ask('HEAD /refused'),
      'resets before the head': failing((to) => to.reset()),
      'ends before the head': failing((to) => to.end()),
      'ends within the head': failing((to) => (to.send('HTTP/1.1 200 OK\r\ncontent-le'), to.end())),
      'ends within the body': failing((to) => (to.send('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'), to.end())),
      'resets within the body': failing(
        (to) => (to.send('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'), setTimeout(to.reset, LATER_MS)),
      ),
      'ends within a chunk': failing(
        (to) => (to.send('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhe'), to.end()),
      ),
      'sends no HTTP': failing(raw('hello\n\n')),
      'sends HTTP/2.0 in text': failing(raw('HTTP/2.0 200 OK\ncontent-length: 0\n\n')),
      'sends HTTP/1.0': failing((to) => (to.send('HTTP/1.0 200 OK\r\n\r\nhi'), to.end())),
      'sends status 1000': failing(raw('HTTP/1.1 1000 Odd\ncontent-length: 0\n\n')),
      'sends status 600': failing(raw('HTTP/1.1 600 Odd\ncontent-length: 0\n\n')),
      'sends 101 that nobody asked for': failing(
        raw('HTTP/1.1 101 Switching Protocols\nupgrade: foo\nconnection: upgrade\n\n'),
      ),
      'sends Content-Length and Transfer-Encoding': failing(
        raw('HTTP/1.1 200 OK\ncontent-length: 5\ntransfer-encoding: chunked\n\n0\n\n'),
      ),
      'sends two Content-Length': failing(raw('HTTP/1.1 200 OK\ncontent-length: 2\ncontent-length: 3\n\nok!')),
      'sends an invalid Content-Length': failing(raw('HTTP/1.1 200 OK\ncontent-length: x\n\nok')),
      'sends NUL in a header': failing(raw('HTTP/1.1 200 OK\nx-a: a\0b\ncontent-length: 0\n\n')),
      'sends a bare LF': failing('HTTP/1.1 200 OK\ncontent-length: 0\n\n'),
      'sends a folded header': failing(raw('HTTP/1.1 200 OK\nx-a: a\n b\ncontent-length: 0\n\n')),
      'sends a header of 64 KiB': failing(reply('200 OK', [`x-a: ${'a'.repeat(65_536)}`])),
      'sends 101 headers': failing(
        reply(
          '200 OK',
          Array.from({ length: 110 }, (_, i) => `x-${i}: a`),
        ),
      ),
      'sends an invalid chunk': failing(raw('HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\nxyz\nhello\n0\n\n')),
      'sends 204 with a body': failing(raw('HTTP/1.1 204 No Content\ncontent-length: 5\n\nhello')),
      'sends more than its length': {
        request: [ask('GET /a'), ask('GET /b')],
        upstream: [reply('200 OK', [], 'a') + reply('200 OK', [], 'poison'), reply('200 OK', [], 'b')],
      },
    },
  },
  {
    name: 'timeout',
    ours: { routes: [ours({ prefix: '/none' }, { timeout: '0s' }), ours({ prefix: '/' }, { timeout: LIMIT })] },
    envoy: { routes: [envoys({ prefix: '/none' }, { timeout: '0s' }), envoys({ prefix: '/' }, { timeout: LIMIT })] },
    cases: {
      'is sent upstream': ask('GET /'),
      'of 0 is off': ask('GET /none'),
      'before the head': failing(hang),
      'within the body': failing('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'),
      'of HEAD': { request: ask('HEAD /'), upstream: [hang] },
    },
  },
  {
    name: 'no route to the upstream',
    ours: { routes: [{ matchers: [{ prefix: '/' }], routeAction: { clusterHeader: 'x-cluster' } }] },
    envoy: { routes: [envoys({ prefix: '/' }, { cluster: undefined, cluster_header: 'x-cluster' })] },
    cases: { 'by a header that is missing': ask('GET /'), 'by an unknown name': ask('GET /', ['x-cluster: nobody']) },
  },
];
