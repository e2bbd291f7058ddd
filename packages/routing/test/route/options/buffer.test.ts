import { connect } from 'node:net';
import { once } from 'node:events';
import { expect } from 'chai';
import { served, type Served } from '../../served.ts';

const LISTENER = { buffer: { maxRequestBytes: 10 } };

describe('buffer', () => {
  let gateway: Served;
  afterEach(() => gateway.close());

  const post = async (body: string, headers: Record<string, string> = {}): Promise<string> => {
    const answer = await gateway.ask('/', { method: 'POST', body, headers });
    return answer.status === 200 ? 'passed' : `${answer.status} ${answer.body}`;
  };

  it('rejects larger bodies, by their length or while they arrive', async () => {
    gateway = await served({ http: LISTENER });
    expect(await post('0123456789')).equal('passed');
    expect(await post('0123456789a')).equal('413 Payload Too Large');
    expect(await post('0123456789', { 'transfer-encoding': 'chunked' })).equal('passed');
    expect(await post('0123456789a', { 'transfer-encoding': 'chunked' })).equal('413 Payload Too Large');
  });

  it('sends a chunked body with its length', async () => {
    gateway = await served({ http: LISTENER });
    const { headers } = await gateway.seen('/', {
      method: 'POST',
      body: 'abc',
      headers: { 'transfer-encoding': 'chunked' },
    });
    expect(headers).include({ 'content-length': '3' });
    expect(headers).not.have.property('transfer-encoding');
  });

  it('contacts the upstream when the body is complete', async () => {
    gateway = await served({ http: LISTENER });
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: a.example\r\ncontent-length: 4\r\n\r\nab');
    const total = 'http.http.rq_total';
    while (gateway.stat(total) === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(gateway.stat('cluster.up_gw-system.upstream_rq_total')).equal(0);
    socket.write('cd');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).match(/^HTTP\/1.1 200 /);
    socket.destroy();
  });

  it('uses the limit of the most specific level', async () => {
    gateway = await served({
      http: LISTENER,
      host: { bufferPerRoute: { buffer: { maxRequestBytes: 2 } } },
      options: { bufferPerRoute: { buffer: { maxRequestBytes: 3 } } },
    });
    expect(await post('abc')).equal('passed');
    expect(await post('abcd')).equal('413 Payload Too Large');
  });

  it('buffers nothing where it is disabled, or if the listener does not buffer', async () => {
    gateway = await served({ http: LISTENER, options: { bufferPerRoute: { disabled: true } } });
    expect(await post('x'.repeat(100))).equal('passed');
    await gateway.close();
    gateway = await served({ options: { bufferPerRoute: { buffer: { maxRequestBytes: 2 } } } });
    expect(await post('x'.repeat(100))).equal('passed');
  });
});
