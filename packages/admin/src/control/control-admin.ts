import { issueData, type Secrets } from '@edge-gateway/core';
import { createAdminServer, type AdminServer } from '../admin-server.ts';
import { createAdminApp } from '../http/admin-app.ts';
import { compactJson, type EndpointResponse } from '../http/endpoint-response.ts';
import { byPath, type Endpoint } from '../http/endpoint.ts';
import { renderPrometheus } from '../http/exposition.ts';
import type { StatusSources } from '../page/sources.ts';
import { logs } from '../proxy/logs.ts';
import { framePages, statusPages, unknownPage } from '../page/status-page.ts';
import { levelEndpoint } from './level-endpoint.ts';
import type { Component, ControlAdminOptions } from './control-options.ts';
import { pprofEndpoints } from './pprof.ts';
import { certificateProblems } from '../proxy/used-certificates.ts';
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
  const sources = statusSources(options, endpoints);
  const framed = framePages(sources, options.token);
  const app = createAdminApp({
    endpoints: [...endpoints, ...statusPages(sources, framed)],
    unknownPage: unknownPage(sources, framed),
    log: options.loggers.get('admin'),
    allowedHosts: options.allowedHosts,
    maxBodyBytes: MAX_BODY_BYTES,
    token: options.token,
  });
  return createAdminServer(app, 'control-plane admin');
}

function ownEndpoints(options: ControlAdminOptions): Endpoint[] {
  const { certificates, commit, components, loggers, metrics, proxies, refresh, state, version } = options;
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
    { paths: ['/ready'], help: 'LIVE while everything works, otherwise 503', respond: () => readiness(components()) },
    { paths: ['/version'], help: 'version of the running gateway', respond: () => compactJson({ version, commit }) },
    {
      paths: ['/problems'],
      help: 'every problem of the configuration',
      respond: () => {
        const { issues = [], replacedDefaultPorts = [] } = state() ?? {};
        const expiring = certificateProblems(certificates?.() ?? [], Date.now());
        const all = [...issues, ...expiring];
        return compactJson({ total: all.length, problems: all.map(issueData), replacedDefaultPorts });
      },
    },
    levelEndpoint(loggers),
    ...(loggers.recent ? [logs(loggers, loggers.recent)] : []),
  ];
}

function readiness(components: readonly Component[]): EndpointResponse {
  const states = new Set(components.map(({ state }) => state));
  if (states.has('draining')) return { status: 503, body: 'DRAINING\n' };
  return states.has('starting') ? { status: 503, body: 'INITIALIZING\n' } : { body: 'LIVE\n' };
}

const NO_SECRETS: Secrets = { get: () => undefined };

function statusSources(options: ControlAdminOptions, endpoints: readonly Endpoint[]): StatusSources {
  const {
    certificates,
    components,
    explain,
    hostStates,
    metrics,
    proxies,
    refresh,
    state,
    title = 'Control plane',
  } = options;
  return {
    title,
    home: '/',
    version: options.version,
    metrics,
    state,
    snapshots: () => [...(state()?.snapshots.values() ?? [])],
    secrets: () => options.secrets ?? state()?.secrets ?? NO_SECRETS,
    ownCertificates: certificates,
    components,
    hostStates,
    refresh,
    translations: options.translations,
    proxies,
    history: options.history,
    recent: options.loggers.recent,
    explain,
    links: byPath(endpoints).map(({ paths: [path], help }) => ({ path, help })),
    now: Date.now,
  };
}
