import { expect } from 'chai';
import { startAccountPage, type Service } from '../../src/index.ts';

describe('the account page', () => {
  let service: Service;
  before(async () => {
    service = await startAccountPage();
  });
  after(() => service.close());

  const open = (headers: Record<string, string> = {}) => fetch(`http://127.0.0.1:${service.port}/account`, { headers });
  const token = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;

  it('shows the user, the received headers, and a logout link', async () => {
    const response = await open({
      jwt: token({ email: 'admin@example.com' }),
      'x-vendor-claim-email': 'admin@example.com',
      'x-logout-path': '/cookies/logout',
    });
    const text = await response.text();
    expect(response.headers.get('content-security-policy')).to.contain("default-src 'none'");
    expect(text).to.contain('<strong id="who">admin@example.com</strong>');
    expect(text).to.contain('<td data-header="x-vendor-claim-email">admin@example.com</td>');
    expect(text).to.contain('href="/cookies/logout"').and.to.contain('no cookies');
  });

  it('reports a missing login and received cookies', async () => {
    const text = await (await open({ jwt: 'nonsense', cookie: 'a=b' })).text();
    expect(text).to.contain('Nobody is logged in').and.to.contain('with cookies').and.to.contain('href="/logout"');
  });

  it('shows a page with a login link after a logout', async () => {
    const text = await (await fetch(`http://127.0.0.1:${service.port}/goodbye`)).text();
    expect(text).to.contain('<h1>You are logged out</h1>').and.to.contain('href="/account"');
  });

  it('escapes claims and headers', async () => {
    const text = await (await open({ jwt: token({ email: '<script>1</script>' }), 'x-odd': '"><img src=x>' })).text();
    expect(text).to.not.contain('<script>').and.to.not.contain('<img');
  });
});
