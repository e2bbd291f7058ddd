import { expect } from 'chai';
import { isNavigation, prefersJson } from '../../src/index.ts';

const CASES: readonly (readonly [what: string, method: string, headers: Record<string, string>, expected: boolean])[] =
  [
    ['a page opened in a browser', 'GET', { 'sec-fetch-mode': 'navigate', accept: 'text/html,*/*;q=0.8' }, true],
    ['a form sent by a browser', 'POST', { 'sec-fetch-mode': 'navigate' }, true],
    ['fetch in a browser', 'GET', { 'sec-fetch-mode': 'cors', accept: 'text/html' }, false],
    ['an image in a browser', 'GET', { 'sec-fetch-mode': 'no-cors' }, false],
    ['a WebSocket in a browser', 'GET', { 'sec-fetch-mode': 'websocket' }, false],
    ['a browser without Fetch metadata', 'GET', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }, true],
    [
      'XMLHttpRequest without Fetch metadata',
      'GET',
      { accept: 'text/html', 'x-requested-with': 'XMLHttpRequest' },
      false,
    ],
    ['curl', 'GET', { accept: '*/*' }, false],
    ['a program that refuses HTML', 'GET', { accept: 'application/json, text/html;q=0' }, false],
    ['a program that prefers JSON', 'GET', { accept: 'application/json, text/html;q=0.9' }, false],
    ['a program that prefers neither', 'GET', { accept: 'application/json, text/html' }, true],
    ['a program without Accept', 'GET', {}, false],
    ['a program that deletes', 'DELETE', { accept: 'text/html' }, false],
  ];

describe('isNavigation', () => {
  for (const [what, method, headers, expected] of CASES) {
    it(`is ${expected} for ${what}`, () => {
      expect(isNavigation({ method, header: (name) => headers[name] })).to.equal(expected);
    });
  }
});

describe('prefersJson', () => {
  for (const [accept, expected] of [
    ['application/json', true],
    ['Application/JSON; charset=utf-8', true],
    ['application/problem+json', true],
    ['application/json, text/plain, */*', true],
    ['text/plain;q=0.5, application/json;q=0.6', true],
    ['application/json;q=0.5, text/plain', false],
    ['application/json, text/html', false],
    ['application/json;q=0', false],
    ['application/json;q=0.000', false],
    ['application/*', false],
    ['*/*', false],
    ['text/html', false],
    ['', false],
    [undefined, false],
  ] as const)
    it(`is ${expected} for ${accept}`, () => {
      expect(prefersJson({ header: (name) => (name === 'accept' ? accept : undefined) })).to.equal(expected);
    });
});
