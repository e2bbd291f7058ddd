import { expect } from 'chai';
import { graphqlApi } from '../../src/middleware.ts';
import { post, serveHandler } from '../servers.ts';

describe('conditions of an operation', () => {
  it('are not those of another operation whose variable has the same name', async () => {
    const front = await serveHandler(
      graphqlApi({
        schemaDefinition: 'type Query { a(n: Int): String @resolve(name: "a") }',
        resolutions: { a: { mockResolver: { syncResponse: 'A' } } },
      }),
    );
    const query = 'query Own($x: Int) { a(n: $x) } query Other($x: Boolean!) { a @skip(if: $x) }';
    const request = { query, operationName: 'Own', variables: { x: null } };
    const { status, body } = await post(front.url, JSON.stringify(request));
    await front.close();
    expect(body).to.deep.equal({ data: { a: 'A' } });
    expect(status).to.equal(200);
  });
});
