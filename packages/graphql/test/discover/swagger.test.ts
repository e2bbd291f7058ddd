import { expect } from 'chai';
import { openDocument } from '../../src/discover/openapi/document.ts';

interface Converted {
  readonly parameters: readonly Record<string, any>[];
  readonly post: {
    readonly parameters: readonly Record<string, any>[];
    readonly requestBody?: { readonly required: boolean; readonly content: Record<string, { readonly schema: any }> };
    readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: any }> }>;
  };
}

/** Returns the path of a document with one operation, as OpenAPI 3. */
function converted(operation: object, more: object = {}, shared: readonly object[] = []): Converted {
  const { root } = openDocument({ swagger: '2.0', paths: { '/a': { parameters: shared, post: operation } }, ...more });
  return (root['paths'] as Record<string, Converted>)['/a']!;
}

const bodyOf = (title: string) => ({ in: 'body', name: 'pet', required: true, schema: { type: 'object', title } });
const field = (name: string, more: object = {}) => ({ in: 'formData', name, type: 'string', ...more });

describe('an operation of a Swagger 2 document', () => {
  it('has a body of the types that it, or else the document, consumes', () => {
    const types = (operation: object, more?: object) =>
      Object.keys(converted({ parameters: [bodyOf('Pet')], ...operation }, more).post.requestBody!.content);
    expect(types({})).to.deep.equal(['application/json']);
    expect(types({}, { consumes: ['application/xml'] })).to.deep.equal(['application/xml']);
    expect(types({ consumes: ['text/plain'] }, { consumes: ['application/xml'] })).to.deep.equal(['text/plain']);
    const { requestBody } = converted({ parameters: [bodyOf('Pet')] }).post;
    expect(requestBody).to.include({ required: true });
    expect(requestBody!.content['application/json']!.schema).to.deep.equal({ type: 'object', title: 'Pet' });
  });

  it('has a form of its fields', () => {
    const types = (parameters: object[], consumes?: string[]) =>
      Object.keys(converted({ parameters, ...(consumes && { consumes }) }).post.requestBody!.content);
    expect(types([field('a')])).to.deep.equal(['application/x-www-form-urlencoded']);
    expect(types([field('a'), field('b', { type: 'file' })])).to.deep.equal(['multipart/form-data']);
    expect(types([field('a')], ['application/json', 'multipart/form-data'])).to.deep.equal(['multipart/form-data']);
    expect(converted({ parameters: [field('a')] }).post.requestBody!.required).to.equal(false);
    expect(converted({ parameters: [field('a'), field('b', { required: true })] }).post.requestBody!.required).to.equal(
      true,
    );
  });

  it('has the body of its path unless it has its own', () => {
    const query = { in: 'query', name: 'q', type: 'string' };
    const title = ({ post }: Converted) => post.requestBody!.content['application/json']!.schema.title;
    const shared = converted({ parameters: [query] }, {}, [bodyOf('Shared'), query]);
    expect(title(shared)).to.equal('Shared');
    for (const { parameters } of [shared, shared.post]) expect(parameters.map(({ name }) => name)).to.deep.equal(['q']);
    expect(title(converted({ parameters: [bodyOf('Own')] }, {}, [bodyOf('Shared')]))).to.equal('Own');
    expect(converted({}).post.requestBody).to.equal(undefined);
  });

  it('has lists as one text, unless they are parameters that repeat', () => {
    const list = { in: 'query', type: 'array', items: { type: 'string' } };
    const formats = ['csv', 'ssv', 'tsv', 'pipes', 'multi'];
    const { parameters } = converted({
      parameters: [{ ...list, name: 'plain' }, ...formats.map((name) => ({ ...list, name, collectionFormat: name }))],
    }).post;
    expect(parameters.map(({ name, style, explode }) => [name, style, explode])).to.deep.equal([
      ['plain', undefined, false],
      ['csv', undefined, false],
      ['ssv', 'spaceDelimited', false],
      ['tsv', 'tabDelimited', false],
      ['pipes', 'pipeDelimited', false],
      ['multi', undefined, true],
    ]);
    for (const { schema } of parameters) expect(schema).to.deep.include({ type: 'array', items: { type: 'string' } });
  });

  it('has responses of the types that it, or else the document, produces', () => {
    const responses = {
      200: { description: 'ok', schema: { type: 'object' } },
      201: { description: 'photo', schema: { type: 'file' } },
      204: { description: 'nothing' },
      404: { $ref: '#/responses/missing' },
    };
    const missing = { description: 'missing', schema: { type: 'string' } };
    const types = (operation: object) => {
      const { post } = converted({ responses, ...operation }, { produces: ['text/xml'], responses: { missing } });
      return Object.entries(post.responses).map(([code, { content }]) => [code, content && Object.keys(content)[0]]);
    };
    expect(types({ produces: ['application/json'] })).to.deep.equal([
      ['200', 'application/json'],
      ['201', 'application/octet-stream'],
      ['204', undefined],
      ['404', 'application/json'],
    ]);
    expect(types({})[0]).to.deep.equal(['200', 'text/xml']);
  });

  it('keeps its form if it cannot be converted', () => {
    const broken = { parameters: [{ $ref: '#/parameters/none' }] };
    expect(converted(broken).post).to.equal(broken);
  });
});
