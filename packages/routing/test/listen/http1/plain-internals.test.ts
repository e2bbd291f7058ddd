import { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { findMissingInternals } from '../../../src/listen/http1/plain-internals.ts';

/** Replaces a method of Node during a call. */
function withMethod<T>(prototype: object, name: string, replacement: unknown, call: () => T): T {
  const original = Object.getOwnPropertyDescriptor(prototype, name);
  Object.defineProperty(prototype, name, { configurable: true, writable: true, value: replacement });
  try {
    return call();
  } finally {
    if (original) Object.defineProperty(prototype, name, original);
    else Reflect.deleteProperty(prototype, name);
  }
}

describe('internals of Node for plain connections', () => {
  it('are all in this version', () => {
    expect(findMissingInternals()).to.deep.equal([]);
  });

  const changes: readonly [missing: string, prototype: object, name: string, replacement: unknown][] = [
    ['Socket._httpMessage', ServerResponse.prototype, '_writeRaw', () => true],
    ['Socket._httpMessage', ServerResponse.prototype, '_storeHeader', () => {}],
    ['ServerResponse._last', ServerResponse.prototype, '_storeHeader', () => {}],
    ['kNeedDrain of ServerResponse', ServerResponse.prototype, 'write', () => true],
    ['IncomingMessage._addHeaderLines', IncomingMessage.prototype, '_addHeaderLines', () => {}],
    ['IncomingMessage._consuming', IncomingMessage.prototype, '_dump', undefined],
    ['IncomingMessage.push', IncomingMessage.prototype, 'push', () => false],
  ];
  for (const [missing, prototype, name, replacement] of changes) {
    it(`${missing} is reported if ${name} has changed`, () => {
      expect(withMethod(prototype, name, replacement, findMissingInternals)).to.include(missing);
      expect(findMissingInternals()).to.deep.equal([]);
    });
  }
});
