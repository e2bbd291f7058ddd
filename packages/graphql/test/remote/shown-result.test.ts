import { expect } from 'chai';
import { graphqlApi, type GraphQLApiOptions } from '../../src/index.ts';
import { createResultFilter } from '../../src/remote/shown-result.ts';
import { ask, serve, serveHandler } from '../servers.ts';

const STACK = { code: 'X', stacktrace: ['Error: at /srv/app.js:1'], exception: { sql: 'SELECT' }, retryAfter: 3 };

describe('what clients see of the errors of a server', () => {
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const each of open.splice(0).toReversed()) await each.close();
  });

  for (const [name, options, extensions, result] of [
    ['the code only', {}, { code: 'X' }, undefined],
    ['what is listed', { errorExtensions: ['retryAfter', 'toString'] }, { retryAfter: 3 }, undefined],
    ['nothing where the list is empty', { errorExtensions: [] }, undefined, undefined],
    ['listed extensions of the result', { resultExtensions: ['cost'] }, { code: 'X' }, { cost: 1 }],
  ] as const) {
    it(`is ${name}`, () => {
      const shown = createResultFilter(options)({
        data: { a: 1 },
        errors: [{ message: 'no', path: ['a'], extensions: STACK }],
        extensions: { cost: 1, tracing: { resolvers: [] } },
      });
      expect(shown).to.deep.equal({
        data: { a: 1 },
        errors: [{ message: 'no', path: ['a'], ...(extensions && { extensions }) }],
        ...(result && { extensions: result }),
      });
    });
  }

  for (const [message, shown] of [
    [
      'Cannot query field "x" on type "Query". Did you mean "secret" or "secrets"?',
      'Cannot query field "x" on type "Query".',
    ],
    ['Cannot query field "x". Did you mean to use an inline fragment on "Hidden"?', 'Cannot query field "x".'],
    ['Value "A" does not exist in "E" enum. Did you mean the enum value "B"?', 'Value "A" does not exist in "E" enum.'],
    ['No such city. Did you mean Paris?', 'No such city. Did you mean Paris?'],
  ]) {
    it(`contains no suggestion of a hidden name: ${message}`, () => {
      const { errors } = createResultFilter({})({ errors: [{ message: message! }] });
      expect(errors).to.deep.equal([{ message: shown }]);
    });
  }

  const REMOTE = { upstreamRef: { name: 'books' } };
  const DECLARED = 'type Query { book: String }';
  const joined = {
    stitchedSchema: { subschemas: [{ name: 'books' }] },
    apis: { books: { executableSchema: { schemaDefinition: DECLARED, executor: { remote: REMOTE } } } },
  };
  for (const [name, api] of [
    ['a remote API', { schemaDefinition: DECLARED, remote: REMOTE }],
    ['a joined API', joined],
  ] as readonly (readonly [string, Partial<GraphQLApiOptions>])[]) {
    it(`has no stack trace, through ${name}`, async () => {
      const server = await serve((_req, res) =>
        res.end(JSON.stringify({ data: null, errors: [{ message: 'no', extensions: STACK }] })),
      );
      const handler = graphqlApi({ ...api, upstreams: { books: server.url } });
      const front = await serveHandler(handler);
      open.push(server, front, { close: async () => handler.close?.() });
      const { body } = await ask(front.url, '{ book }');
      expect(body.errors[0]).to.deep.include({ message: 'no', extensions: { code: 'X' } });
    });
  }
});
