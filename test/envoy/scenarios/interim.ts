import { ask, askRaw, post, reply, type Group } from '../scenario.ts';

const raw = (status: string, headers: readonly string[] = []): string => askRaw([`HTTP/1.1 ${status}`, ...headers]);
const OK = reply('200 OK', [], 'a');
const HINTS = raw('103 Early Hints', ['link: </a>; rel=preload']);

export const interim: readonly Group[] = [
  {
    name: 'proxy100Continue',
    ours: { listener: { httpConnectionManagerSettings: { proxy100Continue: true } } },
    envoy: { manager: { proxy_100_continue: true } },
    cases: {
      'waits for the upstream': [ask('POST /', ['Expect: 100-continue', 'Content-Length: 5']), 'hello'],
      'with a body at once': post('/', 'hello', ['Expect: 100-continue']),
      'without Expect': post('/', 'hello'),
      'passes on 100': { request: ask('GET /'), upstream: [raw('100 Continue') + OK] },
      'passes on 102': { request: ask('GET /'), upstream: [raw('102 Processing') + OK] },
      'passes on 103': { request: ask('GET /'), upstream: [HINTS + OK] },
      'drops 104': { request: ask('GET /'), upstream: [raw('104 Upload Resumption Supported') + OK] },
    },
  },
];
