import { expect } from 'chai';
import { compileRestTemplate } from '../../../src/resolvers/rest/rest-request.ts';

const request = {
  headers: { ':path': '/pets?kind=all', 'x-tag': '{$args.tag}', 'x-text': 'tag {$args.tag}' },
  queryParams: { limit: '{$args.limit}', status: '{$args.status}', text: 'is {$args.limit}', for: '{$headers.x-user}' },
};
const render = (args: object) => compileRestTemplate({ request }).render({ args, client: CLIENT });
const CLIENT = { header: () => undefined, metadata: new Map() };

describe('a request to a REST service', () => {
  it('leaves out parameters and headers whose only expression has no value', () => {
    for (const args of [{}, { limit: null, status: null, tag: null }]) {
      const { path, headers } = render(args);
      expect(path).to.equal('/pets?kind=all&text=is%20&for=');
      expect(headers).to.deep.equal(['accept', 'application/json', 'accept-encoding', 'identity', 'x-text', 'tag ']);
    }
  });

  it('keeps those whose value is empty, false or 0', () => {
    expect(render({ limit: 0, status: '' }).path).to.equal('/pets?kind=all&limit=0&status=&text=is%200&for=');
    expect(render({ limit: false }).path).to.equal('/pets?kind=all&limit=false&text=is%20false&for=');
    expect(render({ tag: '' }).headers).to.include('x-tag');
  });

  it('trims header values, e.g. of YAML blocks', () => {
    const headers = { 'x-a': 'one\n', 'x-b': ' {$args.b}\n' };
    const made = compileRestTemplate({ request: { headers } }).render({ args: { b: 'two' } });
    expect(made.headers).to.deep.equal([
      'accept',
      'application/json',
      'accept-encoding',
      'identity',
      'x-a',
      'one',
      'x-b',
      'two',
    ]);
    expect(() => compileRestTemplate({ request: { headers: { 'x-a': 'a\nb' } } })).to.throw('cannot be sent');
  });

  it('repeats a parameter for each element of a list, without parameter injection', () => {
    const status = ['available', 'a&admin=1#', null, 7];
    expect(render({ status }).path).to.equal(
      '/pets?kind=all&status=available&status=a%26admin%3D1%23&status=7&text=is%20&for=',
    );
    expect(render({ status: [] }).path).to.equal('/pets?kind=all&text=is%20&for=');
  });

  it('writes lists and objects as the style of the expression says', () => {
    const styled = { ':path': '/a{$args.path|matrix*:p q}', 'x-list': '{$args.list|pipeDelimited}' };
    const made = compileRestTemplate({ request: { headers: styled, queryParams: { f: '{$args.filter|deepObject}' } } });
    const { path, headers } = made.render({ args: { path: ['x', 'y'], list: [1, 2], filter: { a: 1, b: [2] } } });
    expect(path).to.equal('/a;p%20q=x;p%20q=y?f%5Ba%5D=1&f%5Bb%5D=%5B2%5D');
    expect(headers.slice(-2)).to.deep.equal(['x-list', '1|2']);
    const batch = compileRestTemplate({ request: { queryParams: { id: '{$batch.keys|form*}' } } });
    expect(batch.render({ batch: { keys: [1, 'b,c'] } }).path).to.equal('/?id=1&id=b%2Cc');
  });

  it('rejects styles that a place does not have', () => {
    const compiled = (made: object) => () => compileRestTemplate({ request: made });
    const inPath = (text: string) => compiled({ headers: { ':path': `/${text}` } });
    const inQuery = (text: string) => compiled({ queryParams: { a: text } });
    expect(inPath('{$args.a|form}')).to.throw('the style form is not allowed here; those of a path are simple, label,');
    expect(inPath('{$args.a|matrix}')).to.throw('needs the name of the parameter');
    expect(inPath('{$args.a|label:a}')).to.throw('needs the name of the parameter');
    expect(inPath('{$args.a|simple+}')).to.throw('+ is allowed in query parameters only');
    expect(inQuery('{$args.a|label}')).to.throw('the style label is not allowed here');
    expect(inQuery('a {$args.a|form}')).to.throw('must be the whole value of a query parameter');
    expect(compiled({ headers: { 'x-a': '{$args.a|deepObject}' } })).to.throw('those of a header are simple,');
    expect(compiled({ body: { a: '{$args.a|form}' } })).to.throw('only parameters of REST requests have one');
  });
});
