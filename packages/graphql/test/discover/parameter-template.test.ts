import { expect } from 'chai';
import { discover } from '../../src/discover/discover.ts';
import { compileRestTemplate } from '../../src/resolvers/rest/rest-request.ts';

const upstream = { name: 'colors', namespace: 'gw-system' };
const CLIENT = { header: () => undefined, metadata: new Map() };
const LIST = { type: 'array', items: { type: 'string' } };
const OBJECT = {
  type: 'object',
  properties: { R: { type: 'integer' }, G: { type: 'integer' }, B: { type: 'integer' } },
};
const VALUES = {
  empty: [{ type: 'string' }, ''],
  string: [{ type: 'string' }, 'blue'],
  array: [LIST, ['blue', 'black', 'brown']],
  object: [OBJECT, { R: 100, G: 200, B: 150 }],
} as const;

/** Discovers an operation with one parameter. */
function found(parameter: { readonly in: string }, document: object = { openapi: '3.1.0' }) {
  const path = parameter.in === 'path' ? '/a/{color}' : '/a';
  const get = { operationId: 'get', parameters: [{ name: 'color', ...parameter }], responses: {} };
  const { spec, skipped } = discover(upstream, {
    type: 'openapi',
    document: { ...document, paths: { [path]: { get } } },
  });
  const { executor, schemaDefinition } = spec.executableSchema!;
  const { request } = executor!.local!.resolutions!['Query|get']!.restResolver!;
  const { render } = compileRestTemplate({ request });
  return {
    schemaDefinition,
    skipped,
    request,
    render: (color: unknown) => render({ args: { color }, client: CLIENT }),
  };
}

/** Returns what is sent for a parameter, without what is before it. */
function sent(parameter: { readonly in: string }, value: unknown, document?: object): string | undefined {
  const { path, headers } = found(parameter, document).render(value);
  if (parameter.in === 'header') return headers[headers.indexOf('color') + 1];
  return path.slice(parameter.in === 'path' ? '/a/'.length : '/a?'.length);
}

/** The table of the OpenAPI specification (Style Examples): empty text, text, list, object. */
const TABLE: readonly (readonly [string, string, boolean, ...(string | undefined)[]])[] = [
  ['path', 'matrix', false, ';color', ';color=blue', ';color=blue,black,brown', ';color=R,100,G,200,B,150'],
  ['path', 'matrix', true, ';color', ';color=blue', ';color=blue;color=black;color=brown', ';R=100;G=200;B=150'],
  ['path', 'label', false, undefined, '.blue', '.blue,black,brown', '.R,100,G,200,B,150'],
  ['path', 'label', true, undefined, '.blue', '.blue.black.brown', '.R=100.G=200.B=150'],
  ['path', 'simple', false, undefined, 'blue', 'blue,black,brown', 'R,100,G,200,B,150'],
  ['path', 'simple', true, undefined, 'blue', 'blue,black,brown', 'R=100,G=200,B=150'],
  ['header', 'simple', false, '', 'blue', 'blue,black,brown', 'R,100,G,200,B,150'],
  ['header', 'simple', true, '', 'blue', 'blue,black,brown', 'R=100,G=200,B=150'],
  ['query', 'form', false, 'color=', 'color=blue', 'color=blue,black,brown', 'color=R,100,G,200,B,150'],
  ['query', 'form', true, 'color=', 'color=blue', 'color=blue&color=black&color=brown', 'R=100&G=200&B=150'],
  [
    'query',
    'spaceDelimited',
    false,
    'color=',
    'color=blue',
    'color=blue%20black%20brown',
    'color=R%20100%20G%20200%20B%20150',
  ],
  [
    'query',
    'pipeDelimited',
    false,
    'color=',
    'color=blue',
    'color=blue%7Cblack%7Cbrown',
    'color=R%7C100%7CG%7C200%7CB%7C150',
  ],
  ['query', 'spaceDelimited', true, 'color=', 'color=blue', 'color=blue&color=black&color=brown', 'R=100&G=200&B=150'],
  ['query', 'pipeDelimited', true, 'color=', 'color=blue', 'color=blue&color=black&color=brown', 'R=100&G=200&B=150'],
  [
    'query',
    'deepObject',
    true,
    'color=',
    'color=blue',
    'color=blue&color=black&color=brown',
    'color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150',
  ],
];

describe('parameters of an OpenAPI document', () => {
  for (const [place, style, explode, ...expected] of TABLE) {
    it(`has ${place} parameters of the style ${style} ${explode ? 'with' : 'without'} explode`, () => {
      for (const [index, [schema, value]] of Object.values(VALUES).entries()) {
        const parameter = { in: place, style, explode, schema };
        // Without a value, the path would be another.
        if (expected[index] === undefined) expect(() => sent(parameter, value)).to.throw(/would change|is empty/);
        else expect(sent(parameter, value)).to.equal(expected[index]);
      }
    });
  }

  it('explodes form, and nothing else, by default', () => {
    const array = VALUES.array[1];
    expect(sent({ in: 'query', schema: LIST } as never, array)).to.equal('color=blue&color=black&color=brown');
    expect(sent({ in: 'query', schema: OBJECT } as never, VALUES.object[1])).to.equal('R=100&G=200&B=150');
    const defaults: [string, string | undefined, string][] = [
      ['query', 'spaceDelimited', 'color=blue%20black%20brown'],
      ['query', 'pipeDelimited', 'color=blue%7Cblack%7Cbrown'],
      ['path', undefined, 'blue,black,brown'],
      ['path', 'label', '.blue,black,brown'],
      ['path', 'matrix', ';color=blue,black,brown'],
      ['header', undefined, 'blue,black,brown'],
    ];
    for (const [place, style, expected] of defaults) {
      const parameter = { in: place, schema: LIST, ...(style && { style }) };
      expect(sent(parameter, array), `${place} ${style}`).to.equal(expected);
    }
    const deep = { in: 'query', style: 'deepObject', schema: OBJECT };
    expect(sent(deep, { R: 100, G: null })).to.equal('color%5BR%5D=100');
  });

  it('leaves out parameters without elements, and elements that are null', () => {
    for (const explode of [false, true]) {
      const query = { in: 'query', explode, schema: LIST };
      for (const value of [[], [null], null, undefined]) expect(sent(query, value)).to.equal('');
      expect(found({ in: 'header', schema: LIST } as never).render([]).headers).not.to.include('color');
    }
    expect(sent({ in: 'query', explode: false, schema: LIST } as never, ['a', null, 'b'])).to.equal('color=a,b');
    expect(() => sent({ in: 'path', schema: LIST } as never, [])).to.throw('is empty');
  });

  it('escapes values, so that they add no parameter and no segment', () => {
    const hostile = ['a&admin=1#', '../x', ';x=1,y'];
    const escaped = ['a%26admin%3D1%23', '..%2Fx', '%3Bx%3D1%2Cy'];
    expect(sent({ in: 'query', explode: false, schema: LIST } as never, hostile)).to.equal(
      `color=${escaped.join(',')}`,
    );
    const matrix = { in: 'path', style: 'matrix', explode: true, schema: LIST };
    expect(sent(matrix, hostile)).to.equal(escaped.map((each) => `;color=${each}`).join(''));
    expect(sent({ in: 'path', schema: LIST } as never, hostile)).to.equal(escaped.join(','));
    expect(() => sent({ in: 'path', style: 'label', schema: LIST } as never, ['.'])).to.throw('would change the path');
    const free = { type: 'object', additionalProperties: true };
    const deep = { in: 'query', style: 'deepObject', schema: free };
    expect(sent(deep, { 'a]=1&b': 'c' })).to.equal('color%5Ba%5D%3D1%26b%5D=c');
    expect(sent({ in: 'query', schema: free } as never, { 'a=1&b': 'c&d' })).to.equal('a%3D1%26b=c%26d');
    expect(() => sent({ in: 'header', schema: LIST } as never, ['a\r\nb'])).to.throw('cannot be sent in a header');
  });

  it('keeps reserved characters if the document allows them, except those that end a value', () => {
    const reserved = { in: 'query', allowReserved: true, schema: { type: 'string' } };
    expect(sent(reserved, "/a?b:@!$'()*,=c")).to.equal("color=/a?b:@!$'()*,=c");
    expect(sent(reserved, 'a&b#c;d+e f[g]')).to.equal('color=a%26b%23c%3Bd%2Be%20f%5Bg%5D');
    expect(sent(reserved, '50% is %2F')).to.equal('color=50%25%20is%20%2F');
    expect(sent({ ...reserved, schema: LIST } as never, ['a/b', 'c&d'])).to.equal('color=a/b&color=c%26d');
  });

  it('sends a parameter with content as JSON', () => {
    const schema = { type: 'object', properties: { a: { type: 'integer' } } };
    const json = { in: 'query', content: { 'application/json': { schema } } };
    expect(sent(json, { a: 1 })).to.equal('color=%7B%22a%22%3A1%7D');
    expect(found(json).schemaDefinition).to.include('color: GetColorInput');
    expect(sent(json, null)).to.equal('');
  });

  it('has no style where a value is the same without it', () => {
    for (const type of ['string', 'integer', 'number', 'boolean']) {
      const { queryParams } = found({
        in: 'query',
        style: 'deepObject',
        schema: { type, format: 'int64' },
      } as never).request!;
      expect(queryParams).to.deep.equal({ color: '{$args.color}' });
    }
    const schema = { type: 'string', enum: ['A', 'B'] };
    expect(found({ in: 'query', explode: false, schema } as never).request!.queryParams).to.deep.equal({
      color: '{$args.color}',
    });
  });

  it('uses the default style, and reports it, if the place does not have the declared one', () => {
    for (const style of ['matrix', 'label', 'none', 'toString']) {
      const { skipped, render } = found({ in: 'query', style, explode: false, schema: LIST } as never);
      expect(render(['a', 'b']).path).to.equal('/a?color=a,b');
      expect(skipped.map(({ reason }) => reason)).to.deep.equal([
        `query parameter 'color': the style '${style}' is not allowed; it is form`,
      ]);
    }
  });
});

describe('parameters of a Swagger 2 document', () => {
  const swagger = { swagger: '2.0' };
  const formats: [string, string | undefined, string][] = [
    ['query', undefined, 'color=a,b'],
    ['query', 'csv', 'color=a,b'],
    ['query', 'ssv', 'color=a%20b'],
    ['query', 'tsv', 'color=a%09b'],
    ['query', 'pipes', 'color=a%7Cb'],
    ['query', 'multi', 'color=a&color=b'],
    ['path', undefined, 'a,b'],
    ['path', 'ssv', 'a%20b'],
    ['path', 'tsv', 'a%09b'],
    ['path', 'pipes', 'a%7Cb'],
    ['header', undefined, 'a,b'],
    ['header', 'ssv', 'a b'],
    ['header', 'pipes', 'a|b'],
  ];
  for (const [place, collectionFormat, expected] of formats) {
    it(`has lists of the format ${collectionFormat ?? 'that is the default'} in a ${place}`, () => {
      const parameter = { in: place, ...LIST, ...(collectionFormat && { collectionFormat }), required: true };
      expect(sent(parameter, ['a', 'b'], swagger)).to.equal(expected);
    });
  }
});
