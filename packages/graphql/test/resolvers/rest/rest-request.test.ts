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
});
