import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { restoreBody } from '../../src/http/parsed-body.ts';

function requestWith(type: string, more: object, length?: number): IncomingMessage {
  const headers = { 'content-type': type, ...(length !== undefined && { 'content-length': String(length) }) };
  return Object.assign(new IncomingMessage(new Socket()), { headers, ...more });
}

const JSON_TYPE = 'application/json; charset=utf-8';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const deep = JSON.parse('['.repeat(40_000) + ']'.repeat(40_000)) as unknown;

describe('a body that a parser has read', () => {
  for (const [what, req, text, isVerbatim] of [
    ['bytes that were kept', requestWith('a/b', { rawBody: Buffer.from('raw'), body: { a: 1 } }), 'raw', true],
    ['bytes', requestWith('a/b', { body: Buffer.from('bytes') }), 'bytes', true],
    ['JSON', requestWith(JSON_TYPE, { body: { a: [1] } }), '{"a":[1]}', false],
    ['JSON of another type', requestWith('application/ld+json', { body: { a: 1 } }), '{"a":1}', false],
    ['JSON that was read as text', requestWith(JSON_TYPE, { body: '"é"' }, 4), '"é"', false],
    ['a JSON string that was parsed', requestWith(JSON_TYPE, { body: 'é' }, 4), '"é"', false],
    ['text', requestWith('text/plain', { body: 'text' }), 'text', false],
    [
      'a nested form',
      requestWith(FORM_TYPE, { body: { a: { b: 'c d' }, e: ['1', '2'] } }),
      'a[b]=c%20d&e=1&e=2',
      false,
    ],
  ] as const)
    it(`is restored: ${what}`, () => {
      const restored = restoreBody(req);
      expect(restored.bytes?.toString()?.replaceAll('%5B', '[').replaceAll('%5D', ']')).to.equal(text);
      expect(restored).to.have.property('isVerbatim', isVerbatim);
    });

  for (const [what, req, isMissing] of [
    ['nothing was left', requestWith('text/plain', {}), true],
    ['a multipart body', requestWith('multipart/form-data; boundary=x', { body: { a: '1' } }), false],
    ['no content type', requestWith('', { body: { a: '1' } }), false],
    ['a string that may be parsed or not', requestWith(JSON_TYPE, { body: 'a' }), false],
    ['JSON that is nested too deeply', requestWith(JSON_TYPE, { body: deep }), false],
    ['a form that is nested too deeply', requestWith(FORM_TYPE, { body: { a: deep } }), false],
  ] as const)
    it(`cannot be restored: ${what}`, () => {
      expect(restoreBody(req)).to.include({ isMissing }).and.to.have.property('reason').that.is.a('string');
    });
});
