import { expect } from 'chai';
import { parseResultPath, parseTemplate, type Roots } from '../../src/template/expression.ts';
import { parseHeader, renderHeader, renderPath, renderValue } from '../../src/template/render.ts';

const path = (template: string, roots: Roots) => renderPath(parseTemplate(template), roots);
const value = (template: string, roots: Roots) => renderValue(parseTemplate(template), roots);
const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');
const header = (template: string, roots: Roots) => renderHeader(parseTemplate(template), roots);

describe('templates', () => {
  const parent = { id: 7, ok: false, none: null, list: [{ b: 1 }, { b: 2 }], map: { x: 1, y: 2 }, 'ISBN-10': '1' };

  const values: [string, unknown][] = [
    ['{$parent.id}', 7],
    ['{$parent.ok}', false],
    ['{$parent.none}', null],
    ['{$parent.missing.deeper}', null],
    ['{$parent.list[1].b}', 2],
    ['{$parent.list[*].b}', [1, 2]],
    [
      '{$parent.map[*]}',
      [
        ['x', 1],
        ['y', 2],
      ],
    ],
    ['{$parent.map[*][0]}', ['x', 'y']],
    ['{$parent.map[*][1]}', [1, 2]],
    ['{$parent.ISBN-10}', '1'],
    ['{$args}', { a: { b: 'c' } }],
    ['{$args.a.b}', 'c'],
    ['<{$args.a.b}>', '<c>'],
    ['<{$parent.none}>', '<>'],
    ['{$parent.id}{$parent.id}', '77'],
    ['{$parent.constructor}', null],
    ['{$parent.__proto__}', null],
    ['{$headers.x-a}', 'A'],
    ['{$headers.x-b}', ''],
    ['{$metadata.io.vendor.jwt:sub}', 'me'],
    ['plain {text} $args', 'plain {text} $args'],
  ];
  const roots: Roots = {
    parent,
    args: { a: { b: 'c' } },
    client: {
      header: (name) => (name === 'x-a' ? 'A' : undefined),
      metadata: new Map([['io.vendor.jwt', { sub: 'me' }]]),
    },
  };
  for (const [template, expected] of values) {
    it(`${template} gives ${JSON.stringify(expected)}`, () => {
      expect(value(template, roots)).to.deep.equal(expected);
    });
  }

  for (const wrong of [
    '{$nothing.a}',
    '{$headers}',
    '{$headers.a.b}',
    '{$args.}',
    '{$args[x]}',
    '{$args..a}',
    '{$args',
    '{$metadata.a}',
  ]) {
    it(`${wrong} is rejected when it is read`, () => {
      expect(() => parseTemplate(wrong)).to.throw();
    });
  }

  const paths: [string, unknown, string][] = [
    ['/a/{$args.v}', 'b', '/a/b'],
    ['/a/{$args.v}', 'b/c', '/a/b%2Fc'],
    ['/a/{$args.v}', '../x', '/a/..%2Fx'],
    ['/a/{$args.v}', 'b?x=1', '/a/b%3Fx%3D1'],
    ['/a/{$args.v}', 'b#c', '/a/b%23c'],
    ['/a/{$args.v}', 'b\\c', '/a/b%5Cc'],
    ['/a/{$args.v}', '%2e%2e', '/a/%252e%252e'],
    ['/a/{$args.v}', 'ä ö', '/a/%C3%A4%20%C3%B6'],
    ['/a/{$args.v}', '\r\nx: y', '/a/%0D%0Ax%3A%20y'],
    ['/a?q={$args.v}', 'b&c=d', '/a?q=b%26c%3Dd'],
    ['/a?q={$args.v}', '', '/a?q='],
    ['/a/x-{$args.v}', '.', '/a/x-.'],
    ['/a/{$args.v}', 5, '/a/5'],
    ['/a/{$args.v}', [1], '/a/%5B1%5D'],
  ];
  for (const [template, v, expected] of paths) {
    it(`${template} with ${JSON.stringify(v)} is ${expected}`, () => {
      expect(path(template, { args: { v } })).to.equal(expected);
    });
  }

  for (const v of ['.', '..', '', null, undefined, '\ud800']) {
    it(`a path segment ${JSON.stringify(v)} is rejected, for the path would be another`, () => {
      expect(() => path('/a/{$args.v}', { args: { v } })).to.throw();
      expect(() => path('/a/{$args.v}/b', { args: { v } })).to.throw();
    });
  }

  it('two values cannot make a dot segment together', () => {
    expect(() => path('/a/{$args.v}{$args.v}', { args: { v: '.' } })).to.throw();
  });

  for (const v of ['a\r\nx: y', 'a\nb', 'a\0', '\u007f']) {
    it(`a header value ${JSON.stringify(v)} is rejected`, () => {
      expect(() => header('Bearer {$args.v}', { args: { v } })).to.throw();
    });
  }

  it('a header value is sent as UTF-8', () => {
    const client = { header: () => bytesOf('Mikołaj'), metadata: new Map() };
    const roots = { args: { v: 'José €' }, client } as unknown as Roots;
    expect(header('ł {$args.v}', roots)).to.equal(bytesOf('ł José €'));
    expect(header('{$headers.x-name}', roots)).to.equal(bytesOf('Mikołaj'));
    expect(renderValue(parseTemplate('{$headers.x-name}'), roots)).to.equal('Mikołaj');
    expect(parseHeader('Mikołaj')).to.deep.equal(['Mikołaj']);
  });

  it('follows the path of a result', () => {
    expect(parseResultPath('a.b[0]')({ a: { b: [1] } })).to.equal(1);
    expect(parseResultPath('a.b')({ a: 1 })).to.equal(undefined);
    expect(() => parseResultPath('a..b')).to.throw();
  });
});
