import { expect } from 'chai';
import { createLoginPaths } from '../../src/http/login-paths.ts';

describe('paths of a login', () => {
  const block = {
    appUrl: 'https://a.example/app/',
    callbackPath: '/callback',
    logoutPath: '/logout',
    frontChannelLogout: { path: '/channel' },
  };

  it('are found at the root and below the path of appUrl', () => {
    const fieldOf = createLoginPaths(block);
    expect(['/logout', '/app/callback', '/channel', '/app', '/other/logout'].map(fieldOf)).to.deep.equal([
      'logoutPath',
      'callbackPath',
      'frontChannelLogout',
      undefined,
      undefined,
    ]);
  });

  it('matches the callback path as a regular expression', () => {
    const fieldOf = createLoginPaths({ ...block, callbackPath: '/back.*', parseCallbackPathAsRegex: true });
    expect(['/back/1', '/callback'].map(fieldOf)).to.deep.equal(['callbackPath', undefined]);
  });

  it('are none without paths', () => {
    expect(createLoginPaths({})('/')).to.equal(undefined);
  });
});
