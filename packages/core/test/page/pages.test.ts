import { expect } from 'chai';
import { createPages, errorPage, type PageContent } from '../../src/index.ts';

const HOSTILE = `<script>alert("1")</script>'{{ title }}`;
const content: PageContent = {
  templates: ['403', '4xx', 'error'],
  status: 403,
  title: 'Access denied',
  message: 'RBAC: access denied',
};

describe('createPages', () => {
  it('renders the built-in page without external resources and scripts', () => {
    const page = createPages().render({ ...content, code: 'ERR_RBAC_DENIED', requestId: 'r-1', user: 'ann' });
    expect(page).to.match(/^<!doctype html>/);
    for (const text of ['<h1>Access denied</h1>', 'RBAC: access denied', 'signed in as ann', 'ERR_RBAC_DENIED', 'r-1'])
      expect(page).to.contain(text);
    expect(page).to.not.match(/<script|src=|https?:\/\/|\{\{/);
    expect(page).to.contain('prefers-color-scheme: dark').and.contain('width=device-width');
    expect(createPages().policy()).to.contain("default-src 'none'").and.contain("form-action 'self'");
  });

  it('escapes every text, and expands no placeholder inside it', () => {
    const hostile: PageContent = {
      ...content,
      title: HOSTILE,
      message: HOSTILE,
      user: HOSTILE,
      code: HOSTILE,
      requestId: HOSTILE,
      links: [{ href: `"><script>`, text: HOSTILE }],
    };
    const all = '{{ title }}{{ message }}{{ user }}{{ code }}{{ request_id }}{{ content }}{{ links }}{{ details }}';
    for (const pages of [createPages(), createPages(new Map([['error', all]]))]) {
      const page = pages.render(hostile);
      expect(page).to.not.contain('<script').and.not.contain('alert("');
      expect(page).to.contain('&#60;script&#62;').and.contain('{{ title }}');
    }
  });

  for (const href of ['javascript:alert(1)', '//evil.example', '/\\evil.example', 'data:text/html,x', 'logout']) {
    it(`links to / instead of ${href}`, () => {
      expect(createPages().render({ ...content, links: [{ href, text: 'x' }] })).to.contain('<a href="/">x</a>');
    });
  }

  it('uses the most specific template of the operator', () => {
    const pages = createPages(
      new Map([
        ['403', 'only 403: {{status}} {{ message }}'],
        ['4xx', 'client {{ status }}'],
        ['error', 'any {{ status }}'],
      ]),
    );
    expect(pages.render(content)).to.equal('only 403: 403 RBAC: access denied');
    expect(pages.render(errorPage({ status: 404, body: '' }))).to.equal('client 404');
    expect(pages.render(errorPage({ status: 503, body: '' }))).to.equal('any 503');
    expect(pages.render({ ...content, templates: ['log-out'] })).to.match(/^<!doctype html>/);
    expect(pages.policy('https://idp.example'))
      .to.contain("style-src 'self'")
      .and.contain('form-action https://idp.example');
  });

  it('rejects an unknown placeholder, with its line and the known ones', () => {
    expect(() => createPages(new Map([['404', 'a\n{{ secret }}']]))).to.throw(
      '404.html:2: unknown placeholder {{ secret }}: use one of code, content,',
    );
  });
});

describe('errorPage', () => {
  it('offers to switch accounts on 403 only to signed-in users', () => {
    const links = (facts: object) => errorPage({ status: 403, body: '', ...facts }).links?.map(({ text }) => text);
    expect(links({ user: 'ann', logoutPath: '/logout' })).to.include('Switch accounts');
    expect(links({ user: 'ann' })).to.not.include('Switch accounts');
    expect(links({ logoutPath: '/logout' })).to.not.include('Switch accounts');
  });

  it('names the page to return to in the link that switches accounts', () => {
    const facts = { status: 403, body: '', user: 'ann', logoutPath: '/logout' };
    const [link] = errorPage({ ...facts, path: '/reports?year=1&b' }).links!;
    expect(link!.href).to.equal('/logout?switch_account=%2Freports%3Fyear%3D1%26b');
    expect(errorPage(facts).links![0]!.href).to.equal('/logout?switch_account=');
  });

  it('has a default title for other statuses', () => {
    expect(errorPage({ status: 418, body: '' }).title).to.equal('The request was rejected');
    expect(errorPage({ status: 500, body: '' }).title).to.equal('Something went wrong');
  });
});
