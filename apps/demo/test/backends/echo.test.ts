import { request } from 'node:http';
import { expect } from 'chai';
import { startEcho, type Service } from '../../src/index.ts';

describe('the echo service', () => {
  let service: Service;
  before(async () => {
    service = await startEcho({ name: 'mirror' });
  });
  after(() => service.close());

  it('mirrors method, path, headers and body', async () => {
    const response = await fetch(`http://127.0.0.1:${service.port}/a?b=c`, {
      method: 'POST',
      body: 'hello',
      headers: { 'x-mine': 'yes' },
    });
    expect(response.status).to.equal(200);
    const seen = (await response.json()) as Record<string, any>;
    expect(seen).to.include({ service: 'mirror', method: 'POST', path: '/a?b=c', body: 'hello' });
    expect(seen.headers['x-mine']).to.equal('yes');
  });

  it('responds to a path that is not a valid URL', async () => {
    const { port } = service;
    const path = await new Promise<string>((resolve, reject) => {
      const req = request({ port, host: '127.0.0.1', path: '//?status=418', agent: false }, (res) => {
        let text = '';
        res
          .on('data', (chunk) => (text += chunk))
          .on('end', () => resolve(`${res.statusCode} ${JSON.parse(text).path}`));
      });
      req.on('error', reject).end();
    });
    expect(path).to.equal('418 //?status=418');
  });

  it('returns the requested status, and 200 if it is invalid', async () => {
    expect((await fetch(`http://127.0.0.1:${service.port}/?status=418`)).status).to.equal(418);
    expect((await fetch(`http://127.0.0.1:${service.port}/?status=99`)).status).to.equal(200);
  });
});
