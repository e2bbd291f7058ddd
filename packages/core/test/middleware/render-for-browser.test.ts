import { expect } from 'chai';
import { createPages, errorResponse, renderForBrowser, GatewayError, withPage, type Reader } from '../../src/index.ts';

const reader = (facts?: Reader['facts'], method = 'GET'): Reader => ({
  request: { method, path: '/a?b', header: (name) => (name === 'sec-fetch-mode' ? 'navigate' : undefined) },
  requestId: 'r-1',
  pages: createPages(),
  facts,
});
const VARY = 'accept, sec-fetch-mode, x-requested-with';
const denied = (more: object = {}) =>
  new GatewayError('no', { code: 'ERR_X_DENIED', status: 403, headers: { 'x-a': '1' }, ...more });

describe('renderForBrowser', () => {
  it('keeps status and headers, and shows code, message and request id', () => {
    const page = renderForBrowser(errorResponse(denied(), 'r-1'), reader());
    expect(page).to.include({ status: 403, contentType: 'text/html; charset=utf-8' });
    expect(page.headers).to.include.members(['x-a', 'no-store', VARY]);
    expect(page.body).to.contain('ERR_X_DENIED').and.contain('r-1').and.contain('no');
  });

  it('adds Vary to the response for scripts, whose body stays the same', () => {
    const response = errorResponse(denied({ reply: { body: 'RBAC: access denied' } }), 'r-1');
    const script = { ...reader(), request: { method: 'GET', header: () => undefined } };
    expect(renderForBrowser(response, script)).to.deep.equal({
      ...response,
      headers: ['x-a', '1', 'x-request-id', 'r-1', 'vary', VARY],
    });
  });

  describe('for a client that prefers JSON', () => {
    const request = { method: 'GET', header: (name: string) => (name === 'accept' ? 'application/json' : undefined) };
    const shown = (reply: object | undefined, jsonErrors?: boolean) => {
      const { body, contentType, headers } = renderForBrowser(errorResponse(denied({ reply }), 'r-1'), {
        ...reader(),
        request,
        jsonErrors,
      });
      expect(headers.filter((each) => each === 'x-request-id' || each === 'r-1')).to.have.length(2);
      expect(headers).to.include.members(['x-a', '1', VARY]);
      return { body, contentType };
    };
    const json = (message: string) => ({
      body: JSON.stringify({ code: 'ERR_X_DENIED', message, requestId: 'r-1' }),
      contentType: 'application/json',
    });

    it('is JSON instead of an empty body', () => {
      expect(shown({ body: '' })).to.deep.equal(json('Forbidden'));
      expect(shown({ body: '', isFinal: true })).to.deep.equal(json('Forbidden'));
      expect(shown({ body: '' }, true)).to.deep.equal(json('Forbidden'));
      expect(shown(undefined)).to.deep.equal(json('no'));
    });

    it('is JSON instead of a text only with jsonErrors', () => {
      const text = { body: 'RBAC: access denied' };
      expect(shown(text)).to.deep.equal({ body: 'RBAC: access denied', contentType: 'text/plain' });
      expect(shown(text, true)).to.deep.equal(json('RBAC: access denied'));
    });

    it('is the body of another author', () => {
      const response = errorResponse(denied({ reply: { body: 'theirs', isFinal: true } }), 'r-1');
      expect(renderForBrowser(response, { ...reader(), request, jsonErrors: true })).to.equal(response);
      expect(response.headers).to.deep.equal(['x-a', '1', 'x-request-id', 'r-1']);
    });
  });

  it('shows the display name of the signed-in user', () => {
    const signedIn = (claims: object, method = 'GET') => {
      const identity = { provider: 'p', subject: '7', claims: { ...claims }, groups: [] };
      return renderForBrowser(errorResponse(denied(), 'r'), reader({ identity, logoutPath: '/bye' }, method)).body;
    };
    expect(signedIn({ email: 'ann@example.com', name: 'Ann' })).to.contain('signed in as ann@example.com');
    expect(signedIn({ preferred_username: 'ann' })).to.contain('signed in as ann.');
    expect(signedIn({ email: '<script>' }))
      .to.contain('&#60;script&#62;')
      .and.not.contain('<script>');
    expect(signedIn({})).to.contain('signed in as 7').and.contain('href="/bye?switch_account=%2Fa%3Fb"');
    expect(signedIn({}, 'POST'), 'only GET can be repeated').to.contain('href="/bye?switch_account="');
  });

  it('leaves pages, custom bodies and responses that are not errors unchanged', () => {
    const own = [
      errorResponse(denied({ headers: { 'content-type': 'text/html' }, reply: { body: '<p>' } }), 'r'),
      errorResponse(denied({ reply: { body: 'theirs', isFinal: true } }), 'r'),
      errorResponse(denied({ status: 302 }), 'r'),
      { status: 404, body: 'a route', contentType: 'text/plain', headers: [] },
    ];
    for (const response of own) expect(renderForBrowser(response, reader())).to.equal(response);
  });
});

describe('withPage', () => {
  it('renders the page of a denial, with its headers and form targets', () => {
    const page = { templates: ['log-out'], status: 200, title: 'Log out?', message: '' };
    const headers = ['set-cookie', 'a=b'];
    const out = withPage(
      { allowed: false, status: 200, reason: 'r', page, headers, formAction: 'https://idp.example' },
      createPages(),
    );
    expect(out.body).to.contain('<h1>Log out?</h1>');
    expect(out.headers).to.include.members(['content-type', 'set-cookie', 'a=b']);
    expect(out.headers?.join(' ')).to.contain('form-action https://idp.example');
    expect(out).to.not.have.any.keys('page', 'formAction');
  });

  it('shows the request id on a page with an error code', () => {
    const page = { templates: ['error'], status: 400, title: 'You are not logged in', message: '' };
    const bodyOf = (more: object) =>
      withPage({ allowed: false, status: 400, reason: 'r', page: { ...page, ...more } }, createPages(), 'r-1').body;
    expect(bodyOf({ code: 'ERR_OIDC_LOGIN_FAILED' }))
      .to.contain('ERR_OIDC_LOGIN_FAILED')
      .and.contain('Request r-1');
    expect(bodyOf({})).to.not.contain('r-1');
  });
});
