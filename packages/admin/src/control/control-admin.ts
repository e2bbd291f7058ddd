import { escapeHtml, issueData, LOG_LEVELS, type LogLevel } from '@edge-gateway/core';
import { createAdminServer, type AdminServer } from '../admin-server.ts';
import { adminError } from '../error-codes.ts';
import { createAdminApp } from '../http/admin-app.ts';
import { compactJson } from '../http/endpoint-response.ts';
import { byPath, type Endpoint } from '../http/endpoint.ts';
import { renderPrometheus } from '../http/exposition.ts';
import { page } from '../http/page.ts';
import type { ControlAdminOptions } from './options.ts';
import { pprofEndpoints } from './pprof.ts';
import { snapshotEndpoints } from './snapshots.ts';
import { zpages } from './zpages.ts';

const MAX_BODY_BYTES = 1024;

/**
 * Creates the admin port of the control plane (by convention 9091): snapshots of the state at each step, metrics, log level,
 * profiles, health of the components. It shows no secret value.
 *
 * @example
 * const admin = createControlAdmin({ state: () => controlPlane.state, loggers, metrics, version, components: () => [] });
 * const { port } = await admin.listen(9091);
 */
export function createControlAdmin(options: ControlAdminOptions): AdminServer {
  const endpoints = [
    ...ownEndpoints(options),
    ...snapshotEndpoints(options.state),
    ...pprofEndpoints(),
    zpages(options.translations),
    ...(options.pages ?? []).map(({ path, help, text }): Endpoint => ({
      paths: [path],
      help,
      respond: () => ({ type: 'text', body: text() }),
    })),
  ];
  const app = createAdminApp({
    endpoints: [...endpoints, indexPage(endpoints)],
    log: options.loggers.get('admin'),
    allowedHosts: options.allowedHosts,
    maxBodyBytes: MAX_BODY_BYTES,
  });
  return createAdminServer(app, 'control-plane admin');
}

function ownEndpoints(options: ControlAdminOptions): Endpoint[] {
  const { components, loggers, metrics, proxies, refresh, state, version } = options;
  return [
    { paths: ['/components'], help: 'health of the components', respond: () => compactJson(components()) },
    {
      paths: ['/metrics'],
      help: 'metrics for Prometheus',
      respond: async () => {
        await refresh?.('stats');
        return renderPrometheus(metrics);
      },
    },
    {
      paths: ['/proxies'],
      help: 'the connected proxies with the version that each serves',
      respond: () => compactJson(proxies?.() ?? []),
    },
    { paths: ['/version'], help: 'version of the running gateway', respond: () => compactJson({ version }) },
    {
      paths: ['/problems'],
      help: 'every problem of the configuration',
      respond: () => {
        const issues = state()?.issues ?? [];
        return compactJson({ total: issues.length, problems: issues.map(issueData) });
      },
    },
    {
      paths: ['/logging'],
      help: 'log level; PUT {"level":"debug"} sets it',
      respond: () => compactJson({ level: loggers.level('main') }),
      put: (body) => {
        const level = levelIn(body);
        loggers.setLevel(level);
        loggers.get('admin').info({ setTo: level }, 'log level set');
        return compactJson({ level });
      },
    },
  ];
}

function levelIn(body: unknown): LogLevel {
  const { level, ...others } = typeof body === 'object' && body !== null ? (body as { level?: unknown }) : {};
  const known = LOG_LEVELS.find((each) => each === level);
  if (known && Object.keys(others).length === 0) return known;
  const levels = LOG_LEVELS.join(', ');
  throw adminError('ERR_ADMIN_BAD_LEVEL', `The body must be {"level": "<level>"} with one of ${levels}.`);
}

/** `/`: links to all other pages. */
function indexPage(endpoints: readonly Endpoint[]): Endpoint {
  const rows = byPath(endpoints).map(
    ({ paths: [path], help }) => `<tr><td><a href="${path}">${path}</a></td><td>${escapeHtml(help)}</td></tr>`,
  );
  const body = page('Control plane', `<table>\n${rows.join('\n')}\n</table>`);
  return { paths: ['/'], help: 'this page', respond: () => ({ type: 'html', body }) };
}
