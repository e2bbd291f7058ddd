import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  createPages,
  escapeHtml,
  factsOf,
  isNavigation,
  signsOf,
  type ActionExchange,
  type Facts,
} from '@edge-gateway/core';
import type { ExecutableApi } from '../execute/executable-api.ts';
import { exampleQuery } from '../explain/example-query.ts';

/** Sends the text of the editor to this address, and shows the response. */
const SCRIPT = `const at = (id) => document.getElementById(id);
at('run').addEventListener('click', async () => {
  try {
    const variables = at('variables').value.trim();
    const body = JSON.stringify({ query: at('query').value, ...(variables && { variables: JSON.parse(variables) }) });
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const response = await fetch(location.pathname + location.search, { method: 'POST', headers, body });
    const text = await response.text();
    try {
      at('result').textContent = JSON.stringify(JSON.parse(text), undefined, 2);
    } catch {
      at('result').textContent = response.status + ' ' + text;
    }
  } catch (error) {
    at('result').textContent = String(error);
  }
});
`;

const STYLE = 'textarea,pre{display:block;width:100%;font:14px/1.4 monospace;overflow:auto}';

const USAGE = `<p>Send operations with POST as JSON to the address of this page:</p>
<pre><code>curl ADDRESS -H 'content-type: application/json' \\
  -d '${escapeHtml('{"query":"{ __typename }"}')}'</code></pre>`;

const pages = createPages();
const POLICY = pages.policy("'none'");
const SCRIPT_HASH = createHash('sha256').update(SCRIPT).digest('base64');
const EXPLORER_POLICY = `${POLICY}; script-src 'sha256-${SCRIPT_HASH}'; connect-src 'self'`;

/** Returns true if a browser opens the address of an API without an operation. */
export function isPageRequest(req: IncomingMessage, facts: Facts): boolean {
  if (req.method !== 'GET' && req.method !== 'HEAD') return false;
  const accept = facts.header('accept') ?? '';
  if (!/\btext\/html\b/i.test(accept) || /\bapplication\/(?:graphql-response\+)?json\b/i.test(accept)) return false;
  return !/[?&](?:query|extensions|operationName|variables)=/.test(facts.path) && isNavigation(signsOf(req));
}

/** Responds with a page that says how the API is used; for explorers, with an editor for queries. */
export async function sendPage(exchange: ActionExchange, api: ExecutableApi, isExplorer: boolean): Promise<void> {
  const { req, res, writeHead } = exchange;
  const html = isExplorer ? editor(await exampleOf(api, factsOf(req))) : USAGE;
  if (res.headersSent || res.destroyed) return;
  const page = pages.render({ templates: [], status: 200, title: 'GraphQL API', message: '', html });
  writeHead(200, [
    'content-type',
    'text/html; charset=utf-8',
    'content-security-policy',
    isExplorer ? EXPLORER_POLICY : POLICY,
    'x-content-type-options',
    'nosniff',
    'referrer-policy',
    'no-referrer',
    'cache-control',
    'no-store',
    'content-length',
    String(Buffer.byteLength(page)),
  ]);
  res.end(req.method === 'HEAD' ? undefined : page);
}

/** The schema of a remote server may be unknown while the server does not respond. */
async function exampleOf(api: ExecutableApi, facts: Facts): Promise<string> {
  try {
    await api.ready?.(facts);
    return exampleQuery(api.schema);
  } catch {
    return '{\n  __typename\n}\n';
  }
}

function editor(example: string): string {
  return `<style>${STYLE}</style>
<label for="query">Query</label><textarea id="query" rows="12" spellcheck="false">${escapeHtml(example)}</textarea>
<label for="variables">Variables, as JSON</label><textarea id="variables" rows="3" spellcheck="false"></textarea>
<p><button id="run" type="button">Run</button></p>
<pre id="result" aria-live="polite"></pre>
<script>${SCRIPT}</script>
${USAGE}`;
}
