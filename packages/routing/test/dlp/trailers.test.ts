import { request } from 'node:http';
import { expect } from 'chai';
import type { Dlp } from '@edge-gateway/core/schema';
import { served, type Served } from '../served.ts';
import { endpointOf, start, upstreamOf } from '../snapshots.ts';

const SSN = { actionType: 'SSN' } as const;
const ACCOUNT = {
  actionType: 'KEYVALUE',
  keyValueAction: { keyToMask: 'X-Account', maskChar: '*', percent: { value: 100 } },
} as const;

describe('dlp and trailers', () => {
  let gateway: Served;
  afterEach(() => gateway.close());

  /** Returns the trailers of a response through a route that masks. */
  async function trailersWith(dlp: Dlp, isSplit = false): Promise<NodeJS.Dict<string>> {
    const { port } = await start((_req, res) => {
      res.writeHead(200, { trailer: 'x-number, x-account' });
      const end = (): void => {
        res.addTrailers({ 'X-Number': '123-45-6789', 'X-Account': '12-345' });
        res.end();
      };
      if (isSplit) res.write('body', () => setImmediate(end));
      else {
        res.write('body');
        end();
      }
    });
    const upstream = upstreamOf([endpointOf(port)]);
    const connectionConfig = { http1ProtocolOptions: { enableTrailers: true } };
    gateway = await served({
      options: { dlp },
      http: { httpConnectionManagerSettings: { enableTrailers: true } },
      upstreams: [{ ...upstream, spec: { ...upstream.spec, connectionConfig } }],
    });
    return await new Promise((resolve, reject) => {
      const req = request({ port: gateway.port, host: '127.0.0.1', agent: false }, (res) =>
        res.resume().on('end', () => resolve(res.trailers)),
      );
      req.on('error', reject).end();
    });
  }

  for (const isSplit of [false, true])
    it(`masks them with bodies by patterns and names ${isSplit ? 'after a body in chunks' : 'with a short body'}`, async () => {
      const trailers = await trailersWith({ actions: [SSN, ACCOUNT] }, isSplit);
      expect(trailers).to.deep.equal({ 'x-number': 'XXX-XX-X789', 'x-account': '**-***' });
      expect(gateway.stat('http.http.dlp.values_found')).to.equal(2);
    });

  it('masks them by name where headers are masked', async () => {
    const plain = { 'x-number': '123-45-6789', 'x-account': '**-***' };
    expect(await trailersWith({ enabledFor: 'ALL', actions: [ACCOUNT] })).to.deep.equal(plain);
    await gateway.close();
    expect(await trailersWith({ enabledFor: 'ACCESS_LOGS', actions: [SSN, ACCOUNT] })).to.deep.equal(plain);
  });

  it('leaves them unchanged where only logs are masked by patterns', async () => {
    const trailers = await trailersWith({ enabledFor: 'ACCESS_LOGS', actions: [SSN] });
    expect(trailers).to.deep.equal({ 'x-number': '123-45-6789', 'x-account': '12-345' });
  });

  it('only counts what a shadow action finds', async () => {
    const trailers = await trailersWith({ actions: [{ ...SSN, shadow: true }] });
    expect(trailers).to.deep.equal({ 'x-number': '123-45-6789', 'x-account': '12-345' });
    expect(gateway.stat('http.http.dlp.values_found')).to.equal(1);
  });
});
