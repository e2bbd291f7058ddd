import { expect } from 'chai';
import { request } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { createContext, type SnapshotUpstream } from '@edge-gateway/core';
import { certificates, secretsOf } from '../upstream/certificates.ts';
import { closeAll, gateway, listen, snapshotOf, until, whenDone, type Gateway } from './harness.ts';

const UPLOADS = 20;
const REFUSAL = 'x'.repeat(20_000);
const ANSWER = `HTTP/1.1 413 Too Large\r\nconnection: close\r\ncontent-length: ${REFUSAL.length}\r\n\r\n${REFUSAL}`;

/** A gateway before an upstream that answers when an upload has begun and closes at once, without reading the rest. */
async function refusing(answer: string, tls: boolean): Promise<Gateway> {
  const onSocket = (socket: Socket): void => {
    socket
      .on('error', () => {})
      .once('data', () => {
        socket.pause();
        socket.write(answer, () => socket.destroy());
      });
  };
  const server = tls ? createTlsServer(certificates().server, onSocket) : createServer(onSocket);
  const port = await listen(server);
  whenDone(() => server.close());
  const endpoints = [{ address: '127.0.0.1', port, weight: 1, sni: 'api.example.com' }];
  const spec = tls ? { sslConfig: { secretRef: { name: 'tls' } } } : {};
  return gateway({
    upstream: snapshotOf(port, { tls, spec, endpoints } as Partial<SnapshotUpstream>),
    context: createContext({ secrets: secretsOf({ tls: { 'ca.crt': certificates().ca } }) }),
  });
}

/** Uploads without end, and gives the status and the body of the answer. */
function upload(url: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const chunk = Buffer.alloc(10_000);
    const req = request(url, { method: 'POST', agent: false }, (res) => {
      let body = '';
      res.setEncoding('latin1').on('data', (text: string) => (body += text));
      res.on('end', () => {
        resolve({ status: res.statusCode!, body });
        req.destroy();
      });
    });
    const fill = (): void => {
      while (!req.destroyed && req.write(chunk));
    };
    req.on('drain', fill).on('error', reject);
    fill();
  });
}

describe('an upload that the upstream rejects by closing', () => {
  afterEach(closeAll);

  for (const [name, tls] of [
    ['plain', false],
    ['TLS', true],
  ] as const) {
    it(`receives the complete response (${name})`, async () => {
      const gw = await refusing(ANSWER, tls);
      for (let i = 0; i < UPLOADS; i++) {
        expect(await upload(gw.url)).to.deep.equal({ status: 413, body: REFUSAL });
      }
      await until(() => gw.outcomes.length === UPLOADS && gw.stat('upstream_cx_active') === 0);
      expect(gw.stat('upstream_cx_total')).to.equal(UPLOADS);
    });

    it(`fails without a response (${name})`, async () => {
      const gw = await refusing('', tls);
      expect(await upload(gw.url)).to.include({ status: 503 });
      await until(() => gw.outcomes.length === 1 && gw.stat('upstream_cx_active') === 0);
      expect(gw.outcomes[0]).to.include({ flags: 'UC' });
    });
  }
});
