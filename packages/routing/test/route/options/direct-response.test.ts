import { expect } from 'chai';
import { directOf } from '../../snapshots.ts';
import { served, type Served } from '../../served.ts';

describe('headers of direct responses', () => {
  let gateway: Served;
  afterEach(() => gateway.close());

  it('keep an added location and content type', async () => {
    const responseHeadersToAdd = [
      { header: { key: 'location', value: '/there' } },
      { header: { key: 'content-type', value: 'text/html' } },
    ];
    const action = { type: 'direct', status: 302, body: 'moved' } as const;
    gateway = await served({
      routes: [directOf('', { action, options: { headerManipulation: { responseHeadersToAdd } } })],
    });
    const { status, headers, body } = await gateway.ask('/');
    expect([status, headers['location'], headers['content-type'], body]).to.deep.equal([
      302,
      '/there',
      'text/html',
      'moved',
    ]);
  });
});
