import type { IncomingMessage, ServerResponse } from 'node:http';
import { escapeHtml, htmlPage, PAGE_HEADERS } from '../html.ts';
import { startService, type Service } from './http-service.ts';

/** Characters of a header value that are shown. */
const SHOWN = 120;

/**
 * The page behind the login: who is logged in, by the claims of the header `jwt`, and every header that arrived. It checks
 * nothing itself: every request has passed the gateway. `/goodbye` is the page after a logout. `x-logout-path` sets the target of its logout link, default `/logout`.
 */
export function startAccountPage(address: { host?: string; port?: number } = {}): Promise<Service> {
  return startService('account-page', servePage, address);
}

function servePage(req: IncomingMessage, res: ServerResponse): void {
  req.resume();
  const isGoodbye = req.url === '/goodbye';
  res.writeHead(200, PAGE_HEADERS);
  if (req.method === 'HEAD') res.end();
  else res.end(isGoodbye ? GOODBYE : accountPage(req));
}

const GOODBYE = htmlPage('You are logged out', '<p>Your session has ended. <a href="/account">Log in again</a></p>');

function accountPage(req: IncomingMessage): string {
  const claims = claimsOf(textOf(req.headers['jwt']));
  const email = claims['email'];
  const who =
    typeof email === 'string'
      ? `You are logged in as <strong id="who">${escapeHtml(email)}</strong>.`
      : 'Nobody is logged in.';
  const rows = Object.entries(req.headers).map(([name, value]) => row(name, textOf(value)));
  const logout = textOf(req.headers['x-logout-path']) || '/logout';
  const body = `<p>${who}</p>
<p><a id="logout" referrerpolicy="origin" href="${escapeHtml(logout)}">Log out</a></p>
<h2>What this service received</h2>
<p><code>${escapeHtml(req.method ?? '')} ${escapeHtml(req.url ?? '')}</code>, ${req.headers.cookie === undefined ? 'no cookies' : '<strong>with cookies</strong>'}</p>
<table id="headers">
${rows.join('\n')}
</table>
<h2>Claims</h2>
<pre id="claims">${escapeHtml(JSON.stringify(claims, undefined, 2))}</pre>`;
  return htmlPage('Your account', body);
}

function row(name: string, value: string): string {
  const shown = value.length > SHOWN ? `${value.slice(0, SHOWN)}… (${value.length} characters)` : value;
  return `<tr><th>${escapeHtml(name)}</th><td data-header="${escapeHtml(name)}">${escapeHtml(shown)}</td></tr>`;
}

function textOf(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join(', ') : (value ?? '');
}

/** The claims of a token, unchecked; none when it is not one. */
function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? { ...claims } : {};
  } catch {
    return {};
  }
}
