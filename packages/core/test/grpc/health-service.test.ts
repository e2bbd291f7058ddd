import { Client, credentials, Metadata, Server, ServerCredentials, status, type ServiceError } from '@grpc/grpc-js';
import { expect } from 'chai';
import { createHealthService, type HealthService } from '../../src/grpc/health-service.ts';

describe('createHealthService', () => {
  let health: HealthService;
  let server: Server;
  let client: Client;
  beforeEach(async () => {
    health = createHealthService(['', 'a.B']);
    server = new Server();
    server.addService(health.definition, health.implementation);
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
    client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  });
  afterEach(() => {
    client.close();
    server.forceShutdown();
  });

  function check(service: string): Promise<{ status: number }> {
    const { Check } = health.definition;
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        Check!.path,
        Check!.requestSerialize as never,
        Check!.responseDeserialize as never,
        { service },
        (error: ServiceError | null, response?: { status: number }) => (error ? reject(error) : resolve(response!)),
      );
    });
  }

  /** The statuses of a watch until it ends. */
  function watch(service: string, onStatus: (status: number) => void): Promise<void> {
    const { Watch } = health.definition;
    const call = client.makeServerStreamRequest(
      Watch!.path,
      Watch!.requestSerialize as never,
      Watch!.responseDeserialize as never,
      { service },
      new Metadata(),
    );
    call.on('data', (response: { status: number }) => onStatus(response.status));
    return new Promise((resolve, reject) => call.on('end', () => resolve()).on('error', reject));
  }

  it('reports SERVING until setServing(false)', async () => {
    expect(await check('a.B')).to.deep.equal({ status: 1 });
    health.setServing(false);
    expect(await check('')).to.deep.equal({ status: 2 });
    health.setServing(true);
    expect(await check('')).to.deep.equal({ status: 1 });
  });

  it('rejects unknown services', async () => {
    const error = await check('other').catch((error: ServiceError) => error);
    expect(error).to.include({ code: status.NOT_FOUND });
  });

  it('sends each change to a watch, and ends it when the server stops', async () => {
    const seen: number[] = [];
    await watch('a.B', (status) => {
      seen.push(status);
      if (status === 1) health.setServing(false);
    });
    expect(seen).to.deep.equal([1, 2]);
    await watch('', (status) => seen.push(status));
    expect(seen).to.deep.equal([1, 2, 2]);
  });

  it('reports SERVICE_UNKNOWN to a watch of an unknown service', async () => {
    const seen: number[] = [];
    await watch('other', (status) => {
      seen.push(status);
      health.setServing(false);
    });
    expect(seen).to.deep.equal([3]);
  });
});
