import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { escapeHtml, type ResourceRef } from '@edge-gateway/core';
import express, { type Response, type Router } from 'express';
import { adminError } from '../error-codes.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { html, type Markup } from '../page/html.ts';
import type { Framed } from '../page/layout.ts';
import { PATHS } from '../page/paths.ts';
import type { GraphQLExplorer } from './proxy-options.ts';

/** The files that the page loads; a build copies them from their packages. */
const ASSETS = new Set(['react.js', 'react-dom.js', 'graphiql.js', 'graphiql.css']);

const START = `const url = location.pathname + '/query';
const { createElement } = React;
const fetcher = GraphiQL.createFetcher({ url });
const root = document.getElementById('explorer');
const defaultQuery = root.dataset.query || undefined;
ReactDOM.createRoot(root).render(createElement(GraphiQL, { fetcher, defaultQuery }));
`;

/** Stacks the panels of GraphiQL on narrow screens; `!important` overrides the sizes that its script sets. */
const STYLE = `html,body,#explorer{height:100%;margin:0}
@media (max-width:700px){
  .graphiql-container{flex-direction:column;height:auto;min-height:100%;overflow:visible}
  .graphiql-container .graphiql-sidebar{flex-direction:row;width:auto}
  .graphiql-container .graphiql-sidebar>button{margin:0!important}
  .graphiql-container .graphiql-main,.graphiql-container #graphiql-session{flex-direction:column}
  .graphiql-container .graphiql-sessions{margin:0 8px 8px}
  .graphiql-container .graphiql-editors{flex:none!important;height:26rem}
  .graphiql-container .graphiql-response{flex:1 0 16rem!important}
  .graphiql-container .graphiql-plugin{border:0;flex:none!important;max-height:26rem;min-width:0!important}
  .graphiql-horizontal-drag-bar{display:none}
}`;

/** Scripts and styles of this port only; GraphiQL writes styles of its own and carries its fonts within. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src data:; img-src data:; " +
  "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/** `/graphql`: the GraphQL APIs that are served, each with a link to a page to try queries on. */
export function graphqlApis(explorer: GraphQLExplorer, framed: Framed): Endpoint {
  return {
    paths: [PATHS.graphql, '/graphql/'],
    help: 'GraphQL APIs, each with a page to run queries',
    respond: (_parameters, req) =>
      framed(req, { path: PATHS.graphql, heading: 'GraphQL APIs', content: listOf(explorer.apis()) }),
  };
}

/** Below `/graphql`: the pages to try queries on. Their scripts are served from here. */
export function graphqlExplorer(explorer: GraphQLExplorer): Router {
  const router = express.Router({ strict: true, caseSensitive: true });
  router.get('/assets/start.js', (_req, res) => sendAsset(res, 'text/javascript', START));
  router.get('/assets/:name', (req, res, next) => {
    const { name } = req.params;
    if (!ASSETS.has(name)) return next(adminError('ERR_ADMIN_NOT_FOUND'));
    const type = name.endsWith('.css') ? 'text/css' : 'text/javascript';
    return sendAsset(res, type, readFileSync(join(folder(), name)));
  });
  router.get('/:namespace/:name', async (req, res, next) => {
    const { params } = req;
    if (!explorer.apis().some((api) => isSame(api, params))) return next(adminError('ERR_ADMIN_NOT_FOUND'));
    // The page reports itself what is wrong with the API.
    const example = await Promise.resolve(explorer.example?.(params, req)).catch(() => undefined);
    return sendPage(res, explorerPage(params, example));
  });
  router.post('/:namespace/:name/query', (req, res, next) => {
    const serve = explorer.serve(req.params);
    if (!serve) return next(adminError('ERR_ADMIN_NOT_FOUND'));
    return serve(req, res, next);
  });
  router.use((req, _res, next) => next(req.path === '/' ? undefined : adminError('ERR_ADMIN_NOT_FOUND')));
  return router;
}

function isSame(a: ResourceRef, b: ResourceRef): boolean {
  return a.name === b.name && a.namespace === b.namespace;
}

function listOf(apis: readonly ResourceRef[]): Markup {
  if (apis.length === 0) return html`<p class="empty">No route serves a GraphQLApi.</p>`;
  const items = apis.map(({ namespace, name }) => {
    const path = `/graphql/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
    return html`<li><a href="${path}">${namespace}/${name}</a></li>`;
  });
  return html`<ul>${items}</ul>`;
}

function explorerPage({ namespace, name }: ResourceRef, example = ''): string {
  const title = escapeHtml(`${namespace}/${name}`);
  const scripts = ['react.js', 'react-dom.js', 'graphiql.js', 'start.js'].map(
    (file) => `<script defer src="/graphql/assets/${file}"></script>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><link rel="stylesheet" href="/graphql/assets/graphiql.css">
<style>${STYLE}</style>
${scripts.join('\n')}</head>
<body><div id="explorer" data-query="${escapeHtml(example)}"></div></body></html>
`;
}

function sendPage(res: Response, body: string): void {
  res.set('content-security-policy', POLICY).type('html').send(body);
}

function sendAsset(res: Response, type: string, body: string | Buffer): void {
  res.set('cache-control', 'private, max-age=3600').type(type).send(body);
}

function folder(): string {
  return join(dirname(createRequire(import.meta.url).resolve('@edge-gateway/admin/package.json')), 'assets');
}
