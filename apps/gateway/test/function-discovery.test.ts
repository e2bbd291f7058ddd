import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { startShop, type ShopServer } from '../../../packages/routing/test/transcode/shop-server.ts';
import { descriptorSet, SHOP, shopDescriptors } from '../../../packages/routing/test/transcode/shop.ts';
import { GatewayProcess, until } from './gateway-process.ts';

const SWAGGER = {
  swagger: '2.0',
  basePath: '/api',
  paths: {
    '/pets/{id}': {
      get: {
        operationId: 'findPetById',
        parameters: [
          { in: 'path', name: 'id', type: 'integer', required: true },
          { in: 'query', name: 'tag', type: 'string' },
        ],
      },
    },
    '/pets': {
      post: { operationId: 'addPet', parameters: [{ in: 'body', name: 'pet', schema: { type: 'object' } }] },
      get: { operationId: 'findPets' },
    },
  },
};

const upstream = (name: string, port: number, more = '', label = 'enabled'): string => `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: ${name}, namespace: gw-system, labels: { discovery.vendor.io/function_discovery: ${label} } }
spec:
  static:
    hosts: [{ addr: 127.0.0.1, port: ${port} }]${more}
---`;

const MINE = `
    serviceSpec: { rest: { transformations: { findPets: { headers: { ':path': { text: /mine } } } } } }`;

const rest = (path: string, name: string, parameters: string): string => `
      - matchers: [{ prefix: ${path} }]
        routeAction:
          single:
            upstream: { name: pets, namespace: gw-system }
            destinationSpec: { rest: { functionName: ${name}, parameters: ${parameters} } }`;

const ROUTES = `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: found, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    routes:${rest('/find/', 'findPetById', '{ path: "/find/{id}", headers: { x-tag: "{tag}" } }')}${rest('/add', 'addPet', '{}')}${rest('/all', 'findPets', '{}')}
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: shop, namespace: gw-system } } }
---`;

describe('discovery of functions in the gateway', () => {
  const gateway = new GatewayProcess();
  let pets: Server;
  let petsPort: number;
  let shop: ShopServer;
  let mistaken: ShopServer;

  before(async () => {
    pets = createServer((req, res) => {
      if (req.url === '/swagger.json') return void res.end(JSON.stringify(SWAGGER));
      if (!req.url!.startsWith('/api/') && req.url !== '/mine') return void res.writeHead(404).end();
      const parts: Buffer[] = [];
      req.on('data', (part: Buffer) => parts.push(part));
      req.on('end', () => res.end(`${req.method} ${req.url} ${Buffer.concat(parts).toString()}`));
    });
    await new Promise<void>((done) => pets.listen(0, '127.0.0.1', done));
    petsPort = (pets.address() as AddressInfo).port;
    shop = await startShop({ reflection: shopDescriptors });
    const { Get } = SHOP;
    mistaken = await startShop({
      reflection: () => descriptorSet({ Shop: { Get: { ...Get!, rule: { at: 'GET /v1/books/{unknown}' } } } }),
    });
    gateway.write('routes.yaml', ROUTES);
    gateway.write('pets.yaml', upstream('pets', petsPort, MINE));
    gateway.write('shop.yaml', upstream('shop', shop.port) + upstream('mistaken', mistaken.port));
    await gateway.start();
  });
  after(async () => {
    await gateway.close();
    pets.closeAllConnections();
    pets.close();
    shop.close();
    mistaken.close();
  });

  async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; text: string }> {
    const response = await fetch(gateway.url + path, init);
    return { status: response.status, text: await response.text() };
  }

  async function input(kind: string, name: string): Promise<any> {
    const { data } = (await (await fetch(`${gateway.stats}/snapshots/input`)).json()) as { data: any[] };
    return data.find((each) => each.kind === kind && each.metadata.name === name);
  }

  it('calls the functions of a Swagger document', async () => {
    await until(async () => (await ask('/find/7')).status === 200, 'the function findPetById');
    expect((await ask('/find/7?x=1')).text).to.equal('GET /api/pets/7 ');
    expect((await ask('/find/7', { headers: { 'x-tag': 'a.b' } })).text).to.equal('GET /api/pets/7?tag=a.b ');
    const body = '{"name":"Rex"}';
    expect((await ask('/add', { method: 'PUT', body })).text).to.equal(`POST /api/pets ${body}`);
    expect((await ask('/add', { method: 'PUT', body: 'name=Rex' })).status).to.equal(400);
  });

  it('keeps the functions of the resource', async () => {
    expect((await ask('/all')).text).to.equal('GET /mine ');
  });

  it('translates JSON to gRPC by the descriptors of a service with reflection', async () => {
    await until(async () => (await ask('/v1/books/7')).status === 200, 'the transcoder');
    expect(JSON.parse((await ask('/v1/books/7')).text)).to.include({ id: '7' });
    const { spec } = await input('Upstream', 'shop');
    expect(spec.static.serviceSpec.grpcJsonTranscoder.services).to.deep.equal(['shop.Shop']);
  });

  it('shows the functions, and reports those that cannot be used', async () => {
    const { spec } = await input('Upstream', 'pets');
    expect(spec.static.serviceSpec.rest.transformations).to.have.all.keys('addPet', 'findPetById', 'findPets');
    await until(async () => JSON.stringify(await input('Upstream', 'mistaken')).includes('unknown'), 'the warning');
    const { spec: faulty, status } = await input('Upstream', 'mistaken');
    expect(faulty.static).to.not.have.property('serviceSpec');
    expect(JSON.stringify(status)).to.include('functions cannot be discovered: shop.Shop.Get');
  });

  it('removes the functions of an upstream with the label disabled', async () => {
    gateway.write('pets.yaml', upstream('pets', petsPort, MINE, 'disabled'));
    const isRejected = async () => {
      const { status } = await input('VirtualService', 'found');
      return status.statuses['gw-system'].reason?.includes("has no function 'findPetById' (known: findPets)");
    };
    await until(isRejected, 'the end of the function');
    expect((await ask('/find/7')).text, 'the last good version').to.equal('GET /api/pets/7 ');
    expect((await ask('/all')).text).to.equal('GET /mine ');
    const { spec } = await input('Upstream', 'pets');
    expect(spec.static.serviceSpec.rest.transformations).to.have.all.keys('findPets');
  });
});
