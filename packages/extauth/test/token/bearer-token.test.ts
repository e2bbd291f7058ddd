import type { AuthRequest } from '@edge-gateway/core';
import { expect } from 'chai';
import { bearerToken, MAX_TOKEN_LENGTH } from '../../src/token/bearer-token.ts';

const request = (path: string, authorization?: string): AuthRequest => ({
  requestId: '',
  method: 'GET',
  scheme: 'http',
  host: '',
  path,
  header: (name) => (name === 'authorization' ? authorization : undefined),
  headers: () => [],
  clientAddress: '',
  state: {},
  metadata: new Map(),
});

describe('the bearer token of a request', () => {
  const longest = 'a'.repeat(MAX_TOKEN_LENGTH);
  for (const [what, path, authorization, token] of [
    ['is in the header', '/', 'Bearer t', 't'],
    ['is in the header, whatever the case of its scheme', '/', 'bEARER  t', 't'],
    ['is in the query', '/?a=b&access_token=t', undefined, 't'],
    ['is in the query under an escaped name', '/?access%5Ftoken=t', undefined, 't'],
    ['is as long as it may be', '/', `Bearer ${longest}`, longest],
    ['is not longer', '/', `Bearer ${longest}a`, undefined],
    ['is not longer in the query either', `/?access_token=${longest}a`, undefined, undefined],
    ['is not in both', '/?access_token=t', 'Bearer t', undefined],
    ['is not beside an empty one', '/?access_token=', 'Bearer t', undefined],
    ['is not in the query beside other credentials', '/?access_token=t', 'Basic dDp0', undefined],
    ['is not twice in the query', '/?access_token=t&access_token=t', undefined, undefined],
    ['is not in other parameters', '/?token=t', undefined, undefined],
    ['is not in the path', '/access_token=t', undefined, undefined],
    ['is no other text', '/', 'Bearer t,u', undefined],
  ] as const) {
    it(what, () => expect(bearerToken(request(path, authorization))).to.equal(token));
  }
});
