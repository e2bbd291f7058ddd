import { startUsersGrpc, type Service } from '@edge-gateway/demo';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { expect } from 'chai';
import { makeCertificates, type Certificates } from '../../../test/parts/certificates.ts';
import { GatewayProcess, until } from './gateway-process.ts';

const OPENAPI = `openapi: 3.0.0
paths:
  /pets/{id}:
    get:
      operationId: getPet
      parameters: [{ in: path, name: id, required: true, schema: { type: string } }]
      responses: { 200: { content: { application/json: { schema: { properties: { name: { type: string } } } } } } }
  /pets/{id}/photo:
    get: { responses: { 200: { content: { image/png: {} } } } }
`;

const upstream = (name: string, ports: readonly number[], more = ''): string => `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: ${name}, namespace: gw-system }
spec:
  static: { hosts: [${ports.map((port) => `{ addr: 127.0.0.1, port: ${port} }`).join(', ')}] }${more}
---`;

const TLS = `
  useHttp2: true
  sslConfig: { secretRef: { name: authority, namespace: gw-system }, verifySubjectAltName: [localhost] }`;

const authority = (file: string): string => `
apiVersion: v1
kind: Secret
metadata: { name: authority, namespace: gw-system }
type: Opaque
data: { ca.crt: ${readFileSync(file).toString('base64')} }
`;

const RESOURCES = `
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { discovery: { fdsMode: BLACKLIST } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: found, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: /users }]
        graphqlApiRef: { name: users, namespace: gw-system }
      - matchers: [{ prefix: /pets }]
        graphqlApiRef: { name: pets, namespace: gw-system }
---`;

describe('discovery in the gateway', () => {
  const gateway = new GatewayProcess();
  let certificates: Certificates;
  let users: Service;
  let secure: TlsServer;
  let pets: Server;

  before(async () => {
    certificates = makeCertificates();
    users = await startUsersGrpc();
    const [cert, key] = [readFileSync(certificates.cert), readFileSync(certificates.key)];
    secure = createTlsServer({ cert, key, ALPNProtocols: ['h2'] }, (socket) => {
      const behind = connect(users.port, '127.0.0.1');
      socket.pipe(behind).pipe(socket);
      socket.on('error', () => behind.destroy());
      behind.on('error', () => socket.destroy());
    });
    pets = createServer((req, res) => {
      if (req.url === '/pets/7') return void res.end('{"name":"Rabbit 1"}');
      res.writeHead(req.url === '/openapi.yaml' ? 200 : 404).end(req.url === '/openapi.yaml' ? OPENAPI : '');
    });
    for (const server of [secure, pets]) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const portOf = (server: Server | TlsServer): number => (server.address() as AddressInfo).port;
    gateway.write('resources.yaml', RESOURCES + authority(certificates.ca));
    gateway.write(
      'upstreams.yaml',
      upstream('users', [1, portOf(secure)], TLS) +
        upstream('unverified', [portOf(secure)], '\n  useHttp2: true\n  sslConfig: {}') +
        upstream('pets', [portOf(pets)]),
    );
    await gateway.start();
  });
  after(async () => {
    await gateway.close();
    secure.close();
    pets.closeAllConnections();
    pets.close();
    await users.close();
    certificates.remove();
  });

  async function ask(path: string, query: string): Promise<unknown> {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    return response.status === 200 ? response.json() : undefined;
  }

  it('discovers a gRPC service by reflection over TLS, from the host that responds', async () => {
    const query = '{ GetUser(user_search: { username: "frodo" }) { fullName } }';
    const expected = { data: { GetUser: { fullName: 'Frodo Baggins' } } };
    await until(async () => JSON.stringify(await ask('/users', query)) === JSON.stringify(expected), 'the user');
  });

  it('discovers a service from its YAML document, and names the skipped path', async () => {
    await until(async () => ask('/pets', '{ getPet(id: "7") { name } }'), 'the pet');
    expect(await ask('/pets', '{ getPet(id: "7") { name } }')).to.deep.equal({
      data: { getPet: { name: 'Rabbit 1' } },
    });
    expect(gateway.output + gateway.errors).to.include('GET /pets/{id}/photo');
  });

  it('shows the discovered APIs, and nothing from a server with an unverifiable certificate', async () => {
    const { data } = (await (await fetch(`${gateway.stats}/snapshots/input`)).json()) as { data: any[] };
    const names = data.filter(({ kind }) => kind === 'GraphQLApi').map(({ metadata }) => metadata.name);
    expect(names).to.have.members(['pets', 'users']);
  });
});
