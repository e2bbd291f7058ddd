import {
  createContext,
  GatewayError,
  type ActionKind,
  type Context,
  type Listener,
  type Route,
  type Snapshot,
} from '@edge-gateway/core';
import { compileVirtualHost, type CompiledHost } from '../compile/virtual-host.ts';
import { ERROR_CODES } from '../error-codes.ts';
import { parseAbsoluteTarget } from '../listen/check-host.ts';
import { canonicalPath } from '../match/canonical-path.ts';
import { createDomainIndex } from '../match/domain.ts';
import { findRoute } from '../match/route-index.ts';
import { applyHeaderOps } from '../options/header-manipulation.ts';
import { compileManagerSettings, type ManagerSettings } from '../options/manager-settings.ts';
import { appliedOptions } from './applied-options.ts';
import { chooseListener } from './choose-listener.ts';
import type { Admission, Explanation, Outcome, RequestToExplain } from './explanation.ts';
import { takeInToExplain, type ExplainedRequest, type Surroundings } from './explained-request.ts';
import { outcomeOf } from './outcome.ts';
import { judgeRoutes } from './route-verdicts.ts';

/** Nothing is answered here; that something would is enough to explain it. */
const EXPLAINED_ACTIONS: readonly ActionKind[] = [{ action: 'graphql', compile: () => () => {} }];

/**
 * Says what a snapshot does with a request and why, with the code that serves: listener, virtual host, routes with the
 * conditions that do not hold, options, and what would go upstream. Sends nothing. Concerns are not asked, but what stands
 * for them in `asked.admit` is. Values of secrets are only filled in from a `context` that has them. Throws
 * `ERR_ROUTING_BAD_TARGET` for a URL that is none.
 *
 * @example
 * const { outcome } = explainRequest(snapshot, { method: 'GET', url: 'http://a.example:8080/pets' });
 */
export function explainRequest(
  snapshot: Snapshot,
  asked: RequestToExplain,
  context: Context = createContext({ secrets: { get: () => ({ type: 'Opaque', data: {} }) } }),
): Explanation {
  const url = readUrl(asked.url);
  const { listener, verdicts } = chooseListener(snapshot, url, asked.listener);
  const bare = { listeners: verdicts, otherDomains: [], routes: [], options: [] };
  if (!listener) {
    const request = { method: asked.method, host: url.authority, path: url.path };
    return { ...bare, request, outcome: reply(0, '', 'no listener takes the request') };
  }
  const settings = settingsOf(listener);
  if (!settings) {
    const request = { method: asked.method, host: url.authority, path: url.path };
    return { ...bare, request, outcome: reply(500, '', 'the settings of the listener cannot be used') };
  }
  const request = takeInToExplain(asked, url, { listener, settings, context });
  applyHeaderOps(request.headers, settings.earlyHeaders, request);
  const explained = explainTaken(snapshot, { listener, settings, context, admit: asked.admit }, request);
  const shown = { method: request.method, host: request.authority, path: request.originalPath };
  return { ...bare, ...explained, request: shown };
}

type Explained = Pick<Explanation, 'outcome'> & Partial<Explanation>;

interface Place extends Surroundings {
  readonly admit: Admission | undefined;
}

function explainTaken(snapshot: Snapshot, place: Place, request: ExplainedRequest): Explained {
  if (request.refuse) return { outcome: refusal(request.refuse) };
  const canonical = canonicalPath(request.path, place.settings.path);
  if ('refuse' in canonical) return { outcome: refusal(canonical.refuse) };
  if ('redirect' in canonical) {
    return { outcome: { type: 'redirect', status: canonical.status, location: canonical.redirect } };
  }
  request.takePath(canonical.path);
  const { virtualHosts } = place.listener;
  const domains = virtualHosts.flatMap((value) => value.domains.map((domain) => ({ domain, value })));
  const found = createDomainIndex(domains)(request.authority);
  if (!found) {
    const outcome = reply(404, '', 'no virtual host has this domain');
    return { otherDomains: domains.map(({ domain }) => domain), outcome };
  }
  return explainHost(snapshot, place, { request, host: found.value, domain: found.domain });
}

interface FoundHost {
  readonly request: ExplainedRequest;
  readonly host: Listener['virtualHosts'][number];
  readonly domain: string;
}

function explainHost(snapshot: Snapshot, place: Place, { request, host, domain }: FoundHost): Explained {
  const compiled = compileVirtualHost(host, {
    actions: EXPLAINED_ACTIONS,
    concerns: [],
    context: place.context,
    settings: place.settings,
    shared: snapshot.settings,
    mostSpecificWins: place.listener.routeOptions.mostSpecificHeaderMutationsWins === true,
  });
  const virtualHost = { name: host.name, virtualService: host.virtualService, domain };
  const way = { host, index: compiled.index, request };
  const refused = admitted(way, place.admit);
  const routes = judgeRoutes(host.routes, request);
  const { entry } = request;
  if (!entry) return { virtualHost, routes, outcome: refused ?? reply(404, '', 'no route fits') };
  const options = appliedOptions(place.listener, host, entry.route.compiled.source);
  return { virtualHost, routes, options, outcome: refused ?? outcomeOf(snapshot, request, entry) };
}

interface Way {
  readonly host: Listener['virtualHosts'][number];
  readonly index: CompiledHost['index'];
  readonly request: ExplainedRequest;
}

/** Finds the route and asks whether it lets the request in; the answer when it does not. */
function admitted({ host, index, request }: Way, admit: Admission | undefined): Outcome | undefined {
  const route = (): Route | undefined => {
    request.entry = findRoute(index, request);
    if (request.entry) request.take(request.entry, host.name);
    return request.entry?.route.compiled.source;
  };
  const found = route();
  if (!found || !admit) return undefined;
  const facts = request.shareFacts();
  const reroute = () => {
    request.takeFacts(facts);
    return route();
  };
  const answer = admit({ virtualHost: host, route: found, facts, reroute });
  request.takeFacts(facts);
  return answer && reply(answer.status, answer.body, answer.reason);
}

/** A URL, with its path as it is written. */
export interface WrittenUrl {
  readonly tls: boolean;
  readonly authority: string;
  readonly path: string;
  readonly port: number | undefined;
}

/** Takes a URL apart without resolving dot segments, as `URL` would. Its fragment is not part of a request. */
function readUrl(written: string): WrittenUrl {
  const absolute = parseAbsoluteTarget(written.replace(/#.*$/, ''));
  if (!absolute) {
    const { message } = ERROR_CODES.ERR_ROUTING_BAD_TARGET;
    throw new GatewayError(`${written}: ${message}`, { code: 'ERR_ROUTING_BAD_TARGET', status: 400 });
  }
  const port = /:(\d+)$/.exec(absolute.authority)?.[1];
  return {
    tls: /^https:/i.test(written),
    authority: absolute.authority,
    path: absolute.path,
    port: port === undefined ? undefined : Number(port),
  };
}

function settingsOf(listener: Listener): ManagerSettings | undefined {
  try {
    return compileManagerSettings(listener.httpOptions);
  } catch {
    return undefined;
  }
}

function refusal(code: keyof typeof ERROR_CODES): Outcome {
  const { status, message } = ERROR_CODES[code];
  return reply(status, message, code);
}

function reply(status: number, body: string, reason: string): Outcome {
  return { type: 'reply', status, body, reason };
}
