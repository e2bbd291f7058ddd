import { expect } from 'chai';
import { serverAudits } from 'graphql-http';
import { graphqlApi } from '../../src/middleware.ts';
import { serveHandler, serveJson, type TestServer } from '../servers.ts';

const SCHEMA = 'type Query { hello: String @resolve(name: "hello") } type Mutation { hello: String }';

describe('GraphQL over HTTP', () => {
  let backend: TestServer;
  let front: TestServer;
  before(async () => {
    backend = await serveJson({ '/hello': { hello: 'world' } });
    front = await serveHandler(
      graphqlApi({
        schemaDefinition: SCHEMA,
        enableIntrospection: true,
        resolutions: {
          hello: {
            restResolver: {
              upstreamRef: { name: 'hello' },
              timeout: '30s',
              request: { headers: { ':path': '/hello' } },
              response: { resultRoot: 'hello' },
            },
          },
        },
        upstreams: { hello: backend.url },
      }),
    );
  });
  after(async () => {
    await front.close();
    await backend.close();
  });

  const audits = serverAudits({ url: () => `${front.url}/graphql`, fetchFn: fetch });
  for (const audit of audits) {
    it(`${audit.id}: ${audit.name}`, async () => {
      const result = await audit.fn();
      expect(result.status, 'reason' in result ? result.reason : '').to.equal('ok');
    });
  }
});
