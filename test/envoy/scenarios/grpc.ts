import { ask, envoys, ours, type Group } from '../scenario.ts';

const GRPC = ['content-type: application/grpc', 'Content-Length: 0'];
const STATUSES = [200, 401, 403, 404, 409, 429, 500, 502, 503, 504];

const statusRoute = (status: number) => ({
  ours: { matchers: [{ exact: `/${status}` }], directResponseAction: { status, body: `é ${status} %` } },
  envoy: { match: { path: `/${status}` }, direct_response: { status, body: { inline_string: `é ${status} %` } } },
});
const ROUTES = STATUSES.map(statusRoute);

export const grpc: readonly Group[] = [
  {
    name: 'gRPC request',
    ours: {
      listener: { grpcWeb: { disable: true } },
      routes: [
        ...ROUTES.map((route) => route.ours),
        ours({ prefix: '/up' }),
        ours({ prefix: '/refused' }, {}, '$refused'),
      ],
    },
    envoy: {
      routes: [
        ...ROUTES.map((route) => route.envoy),
        envoys({ prefix: '/up' }),
        envoys({ prefix: '/refused' }, { cluster: '$refused' }),
      ],
    },
    cases: {
      ...Object.fromEntries(STATUSES.map((status) => [`gets ${status}`, ask(`POST /${status}`, GRPC)])),
      'without a route': ask('POST /other', GRPC),
      'to a closed port': ask('POST /refused', GRPC),
      'with a format': ask('POST /403', ['content-type: application/grpc+proto', 'Content-Length: 0']),
      'with a parameter': ask('POST /403', ['content-type: application/grpc;a=b', 'Content-Length: 0']),
      'with another type': ask('POST /403', ['content-type: application/grpcx', 'Content-Length: 0']),
      'of gRPC-Web without its filter': ask('POST /403', ['content-type: application/grpc-web', 'Content-Length: 0']),
      'that ends before the head': { request: ask('POST /up', GRPC), upstream: [(to) => to.end()] },
    },
  },
];
