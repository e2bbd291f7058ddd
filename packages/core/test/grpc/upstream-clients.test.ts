import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Metadata, status, type StatusObject } from '@grpc/grpc-js';
import { expect } from 'chai';
import { createGrpcClients } from '../../src/grpc/upstream-clients.ts';
import { SecretDiscovery } from '../../src/source/sds-protocol.ts';
import { startDiscovery } from '../source/discovery-server.ts';

describe('gRPC clients of an upstream', () => {
  it('end calls whose connection was lost, with keepaliveMs', async () => {
    const server = await startDiscovery({ secrets: () => ({}) });
    const sockets: Socket[] = [];
    const proxy = createServer((socket) => {
      const origin = connect(server.port, '127.0.0.1');
      sockets.push(socket, origin);
      for (const each of [socket, origin]) each.on('error', () => {});
      socket.pipe(origin).pipe(socket);
    });
    await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const endpoints = [{ address: '127.0.0.1', port, weight: 1 }];
    const upstream = { name: 'a', ref: { name: 'a', namespace: '' }, spec: {}, endpoints, tls: false };
    const secrets = { get: () => undefined };
    const clients = createGrpcClients(() => upstream, { secrets, maxBytes: 1000, keepaliveMs: 50 });
    const { path, requestSerialize, responseDeserialize } = SecretDiscovery.service['StreamSecrets']!;
    const { client } = clients.client();
    const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, new Metadata());
    stream.on('error', () => {});
    const ended = new Promise<StatusObject>((resolve) => stream.on('status', resolve));
    stream.once('data', () => {
      for (const socket of sockets) socket.unpipe().pause();
    });
    stream.write({ resource_names: ['a'] });
    expect((await ended).code).to.equal(status.UNAVAILABLE);
    clients.close();
    for (const socket of sockets) socket.destroy();
    proxy.close();
    server.stop();
  });

  const secrets = { get: () => undefined };
  const upstreamAt = (port: number) => {
    const endpoints = [{ address: '127.0.0.1', port, weight: 1 }];
    return { name: 'a', ref: { name: 'a', namespace: '' }, spec: {}, endpoints, tls: false };
  };

  it('connect before the first call, once for several requests to do so', async () => {
    const server = await startDiscovery({ secrets: () => ({}) });
    let connections = 0;
    const sockets: Socket[] = [];
    const proxy = createServer((socket) => {
      connections++;
      const origin = connect(server.port, '127.0.0.1');
      sockets.push(socket, origin);
      for (const each of [socket, origin]) each.on('error', () => {});
      socket.pipe(origin).pipe(socket);
    });
    await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
    const upstream = upstreamAt((proxy.address() as AddressInfo).port);
    const clients = createGrpcClients(() => upstream, { secrets, maxBytes: 1000 });
    expect(await Promise.all([clients.connect(), clients.connect()])).to.deep.equal([true, true]);
    expect(await clients.connect()).to.equal(true);
    expect(connections).to.equal(1);
    clients.close();
    for (const socket of sockets) socket.destroy();
    proxy.close();
    server.stop();
  });

  it('say that the first attempt to connect failed, without waiting for the connect timeout', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => void closed.listen(0, '127.0.0.1', resolve));
    const upstream = upstreamAt((closed.address() as AddressInfo).port);
    await new Promise((resolve) => closed.close(resolve));
    const clients = createGrpcClients(() => upstream, { secrets, maxBytes: 1000 });
    const began = performance.now();
    expect(await clients.connect()).to.equal(false);
    expect(performance.now() - began).to.be.below(4000);
    clients.close();
    const missing = createGrpcClients(() => undefined, { secrets, maxBytes: 1000 });
    expect(await missing.connect()).to.equal(false);
  });
});
