import { createServer, type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { GatewayProcess } from '../gateway-process.ts';

describe('edge-gateway extauth', () => {
  let server: GatewayProcess;
  beforeEach(() => {
    server = new GatewayProcess();
  });
  afterEach(() => server.close());

  const start = (...flags: string[]) =>
    server.startRole('extauth', '--grpc-port', '0', '--stats-port', '0', ...flags).then(
      () => '',
      (error: Error) => error.message,
    );

  it('opens only its port, reports its state, and ends at SIGTERM', async () => {
    server.write(
      'broken.yaml',
      'apiVersion: enterprise.gw.vendor.io/v1\nkind: AuthConfig\nmetadata: { name: a }\nspec: {}\n',
    );
    expect(await start()).to.equal('');
    expect(server.ready).to.include.all.keys('grpcPort', 'statsPort');
    expect(server.ready).to.include({ problems: 1 }).and.not.have.any.keys('httpPort', 'adminPort', 'listeners');
    const components = await (await fetch(`${server.stats}/components`)).json();
    expect(components).to.deep.equal([
      { name: 'control-plane', kind: 'control-plane', state: 'ready' },
      { name: `extauth-127.0.0.1-${server.ready.grpcPort}`, kind: 'listener', state: 'ready' },
    ]);
    expect((await fetch(`${server.stats}/metrics`)).status).to.equal(200);
    server.child.kill('SIGTERM');
    expect(await server.ended()).to.equal(0);
  });

  it('names the port that is in use', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    try {
      expect(await start('--grpc-port', String(port)))
        .to.include(`port ${port} (checks over gRPC (Envoy ext_authz)) is in use`)
        .and.include('--grpc-port N');
    } finally {
      taken.close();
    }
  });
});
