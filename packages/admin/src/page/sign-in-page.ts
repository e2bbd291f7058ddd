import type { EndpointResponse } from '../http/endpoint-response.ts';
import { html } from './html.ts';
import { documentOf } from './layout.ts';

/** Returns the form for the token of the port. `returnTo` is the path to show afterwards. */
export function signInPage(
  action: string,
  { returnTo, isWrong = false }: { readonly returnTo: string; readonly isWrong?: boolean },
): EndpointResponse {
  return documentOf({
    title: 'Sign in',
    status: 401,
    body: html`<main class="sign-in">
<h1>Sign in</h1>
<p class="hint">This port requires the token of its token file (<code>--admin-token-file</code>).</p>
${isWrong && html`<p class="error" role="alert">The token is wrong.</p>`}
<form action="${action}" method="post">
<input type="hidden" name="return" value="${returnTo}">
<label for="token">Token</label>
<input id="token" name="token" type="password" required autofocus autocomplete="current-password">
<button>Sign in</button>
</form>
</main>`,
  });
}
