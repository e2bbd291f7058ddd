import { expect } from 'chai';
import { rewritePrefix } from '../../../src/route/options/rewrite.ts';

const TABLE: readonly (readonly [path: string, matched: number, replacement: string, result: string | undefined])[] = [
  ['/api/x?y=/api', 4, '/v1', '/v1/x?y=/api'],
  ['/api/x?y=/../z', 4, '/v1', '/v1/x?y=/../z'],
  ['/api/x', 4, '/', '/x'],
  ['/api', 4, '/', '/'],
  ['/apix', 4, '/', '/x'],
  ['/api/x', 5, '/', '/x'],
  ['/exact?y', 6, '/new', '/new?y'],
  ['/api?y', 4, 'v1', '/v1?y'],
  ['/api../admin', 4, '/v1/', undefined],
  ['/api.%2e/admin', 4, '/v1/', undefined],
  ['/api//evil.example', 4, '/', '//evil.example'],
  ['//evil.example/x', 1, '/v1', '/v1/evil.example/x'],
];

describe('prefix rewrite', () => {
  for (const [path, matched, replacement, result] of TABLE) {
    it(`returns ${result ?? 'undefined'} for ${path} with ${replacement}`, () => {
      expect(rewritePrefix(path, matched, replacement)).to.equal(result);
    });
  }
});
