import { expect } from 'chai';
import { startBookinfo, type Service } from '../../src/index.ts';

describe('the bookinfo services', () => {
  let service: Service;
  before(async () => {
    service = await startBookinfo();
  });
  after(() => service.close());

  const get = async (path: string, method = 'GET'): Promise<[number, any]> => {
    const response = await fetch(`http://127.0.0.1:${service.port}${path}`, { method });
    return [response.status, await response.json()];
  };

  it('list the books', async () => {
    const [status, books] = await get('/api/v1/products');
    expect(status).to.equal(200);
    expect(books[0]).to.include({ id: '0', title: 'The Comedy of Errors', pages: 200, year: 1595 });
  });

  for (const [path, expected] of [
    ['/api/v1/products/1', { title: 'Much Ado About Nothing' }],
    ['/details/0', { publisher: 'PublisherA', 'ISBN-10': '1234567890' }],
    ['/reviews/0', { id: '0' }],
    ['/ratings/1', { id: '1' }],
  ] as const) {
    it(`return ${path}`, async () => {
      const [status, body] = await get(path);
      expect(status).to.equal(200);
      expect(body).to.include(expected);
    });
  }

  it('return 404 for an unknown book and 405 for methods other than GET', async () => {
    expect((await get('/details/7'))[0]).to.equal(404);
    expect((await get('/nothing'))[0]).to.equal(404);
    expect((await get('/details/0', 'POST'))[0]).to.equal(405);
  });
});
