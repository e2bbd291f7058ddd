import { GatewayError } from '@edge-gateway/core';
import type { Explain } from '../written-request.ts';
import { html, type Content, type Markup } from '../html.ts';
import type { PageBody } from '../layout.ts';
import { PATHS } from '../paths.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

/** The form for a request, and its explanation. `proxies` are the names to choose from. */
export async function explainPage(
  explain: Explain,
  form: URLSearchParams,
  proxies: readonly string[],
): Promise<PageBody> {
  const answer = form.get('url') ? await answerOf(explain, form) : undefined;
  return {
    path: PATHS.explain,
    heading: 'Explain a request',
    ...(answer?.isError && { status: 400 }),
    content: html`<p class="hint">Shows which listener, virtual host and route a request gets, and what is sent upstream, as
<code>gatewayctl explain</code> does. Nothing is sent, no signature is verified, and external auth is not called.</p>
${formOf(form, proxies)}
${answer?.content}`,
  };
}

async function answerOf(explain: Explain, form: URLSearchParams): Promise<{ isError: boolean; content: Content }> {
  const claims = form.get('claims')?.trim();
  const proxy = form.get('proxy');
  try {
    const text = await explain({
      method: form.get('method') ?? 'GET',
      url: form.get('url')!.trim(),
      headers: (form.get('headers') ?? '').split(/\r?\n/).filter((line) => line.trim() !== ''),
      ...(claims && { claims }),
      ...(proxy && { proxy }),
    });
    return { isError: false, content: html`<h2 id="answer">Explanation</h2>\n${explanation(text)}` };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { isError: true, content: html`<p class="error" role="alert">${error.message}</p>` };
  }
}

/** Lines without indentation are titles. */
function explanation(text: string): Markup {
  const lines = text.split('\n').map((line) => {
    if (/^\S/.test(line)) return html`<b>${line}</b>\n`;
    const mark = /^(\s*)([✓✗])(.*)$/.exec(line);
    if (!mark) return html`${line}\n`;
    return html`${mark[1]}<span class="${mark[2] === '✓' ? 'yes' : 'no'}">${mark[2]}</span>${mark[3]}\n`;
  });
  return html`<pre class="explanation" tabindex="0" aria-labelledby="answer">${lines}</pre>`;
}

function formOf(form: URLSearchParams, proxies: readonly string[]): Markup {
  const value = (name: string): string => form.get(name) ?? '';
  const option = (each: string, chosen: string): Markup =>
    html`<option${each === chosen && html` selected`}>${each}</option>`;
  return html`<form class="explain" action="${PATHS.explain}" method="post">
<p><label for="method">Method</label>
<input id="method" name="method" list="methods" value="${value('method') || 'GET'}" required autocapitalize="characters" spellcheck="false">
<datalist id="methods">${METHODS.map((each) => html`<option value="${each}"></option>`)}</datalist></p>
<p class="grow"><label for="url">URL</label>
<input id="url" name="url" value="${value('url')}" required placeholder="http://shop.example/cart" spellcheck="false"></p>
${
  proxies.length > 1 &&
  html`<p><label for="proxy">Proxy</label> <select id="proxy" name="proxy">${proxies.map((each) => option(each, value('proxy')))}</select></p>`
}
<p class="half"><label for="headers">Headers, one a line</label>
<textarea id="headers" name="headers" rows="3" placeholder="x-beta: 1" spellcheck="false" autocomplete="off">${'\n'}${value('headers')}</textarea></p>
<p class="half"><label for="claims">Claims of a verified token, as JSON</label>
<textarea id="claims" name="claims" rows="3" placeholder="${'{"email": "a@example.com"}'}" spellcheck="false" autocomplete="off">${'\n'}${value('claims')}</textarea></p>
<p class="row"><button>Explain</button></p>
</form>`;
}
