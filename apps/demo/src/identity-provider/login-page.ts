import { escapeHtml, htmlPage } from '../html.ts';
import { DEMO_USERS } from './users.ts';

/** The login form of an interaction, with everyone who can log in. */
export function loginPage(uid: string, failed?: 'failed'): string {
  const users = DEMO_USERS.map(
    ({ email, password }) => `<tr><td>${escapeHtml(email)}</td><td>${escapeHtml(password)}</td></tr>`,
  ).join('\n');
  return htmlPage(
    'Log in',
    `${failed ? '<p class="error" role="alert">Wrong e-mail or password.</p>' : ''}
<form method="post" action="/interaction/${escapeHtml(uid)}">
<label>E-mail <input name="email" type="email" autocomplete="username" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button type="submit">Log in</button>
</form>
<p>This is the identity provider of the demo. Its users:</p>
<table><tr><th>e-mail</th><th>password</th></tr>
${users}
</table>`,
  );
}

/** The page for an unknown or expired interaction; `again` is a URL that begins a new login. */
export function loginEndedPage(again: string): string {
  return htmlPage(
    'This login is over',
    `<p>It is unknown or has expired, or your browser has deleted its cookies. <a href="${escapeHtml(again)}">Log in again</a></p>`,
  );
}

/** The page that asks whether to end the session at the provider; `form` is the provider's own. */
export function logoutPage(form: string): string {
  return htmlPage(
    'Log out',
    `<p>End your session at the identity provider as well? If you stay logged in, the next login needs no password.</p>
${form}
<p><button type="submit" form="op.logoutForm" name="logout" value="yes">Log out</button>
<button type="submit" form="op.logoutForm">Stay logged in</button></p>`,
  );
}

/** Returns the page that ends the session at the provider without confirmation. `form` is the provider's form, `nonce` that of its script. */
export function loggingOutPage(form: string, nonce: string): string {
  return htmlPage(
    'Logging out',
    `${form}
<p><button type="submit" form="op.logoutForm" name="logout" value="yes">Log out</button></p>
<script nonce="${escapeHtml(nonce)}">document.querySelector('button').click();</script>`,
  );
}
