import { keyOf, type ControlPlane } from '@edge-gateway/core';
import type { EnvoyServices } from '@edge-gateway/core/envoy';
import { createEnvoyTranslation, type EnvoyProblem, type Translation } from '@edge-gateway/xds';
import { createProblemReport, type ResourceProblem } from './problem-report.ts';

/**
 * Creates the translation for Envoys. Routes and listeners that neither an Envoy nor a Node proxy serves become warnings in the status of
 * their resources.
 */
export function createEnvoys(services: EnvoyServices, controlPlane: ControlPlane): Translation {
  const report = createProblemReport(controlPlane, 'envoys');
  const byProxy = new Map<string, readonly EnvoyProblem[]>();
  let isReporting = false;
  return createEnvoyTranslation(services, (proxy, problems) => {
    byProxy.set(proxy, problems);
    if (isReporting) return;
    isReporting = true;
    // A status must not change while the state that it belongs to is published.
    setImmediate(() => {
      isReporting = false;
      report([...byProxy].flatMap(([name, found]) => found.map((problem) => problemOf(name, problem))));
    });
  });
}

function problemOf(proxy: string, { kind, ref, route, options }: EnvoyProblem): ResourceProblem {
  const effect = route === undefined ? 'they do not open the listener' : `route ${route} returns 500`;
  const message =
    `Envoys of proxy ${proxy} cannot express ${options.join(', ')}: ${effect}; ` +
    'set --envoy-node-proxies to hand it over to Node proxies';
  return [keyOf(kind, ref), { severity: 'warning', path: ['spec'], message }];
}
