import { createContext, type Context, type Loggers, type Metrics, type Secrets } from '@edge-gateway/core';
import type { ServingSettings } from '../settings.ts';
import { createDataPlane, type DataPlane } from './data-plane.ts';
import { readErrorPages } from './error-pages.ts';
import { shownVariables } from './shown-variables.ts';

interface ServingParts {
  readonly log: Loggers;
  readonly metrics: Metrics;
  readonly secrets: Secrets;
}

/** Creates the data plane of a process, with workers if the settings say so. It opens no port before the first state. */
export async function createServing(
  settings: ServingSettings,
  parts: ServingParts,
): Promise<{ readonly context: Context; readonly dataPlane: DataPlane }> {
  const context = createContext({
    ...parts,
    env: shownVariables(settings),
    ...(settings.errorPages !== undefined && { pages: readErrorPages(settings.errorPages) }),
  });
  const dataPlane =
    settings.workers > 1
      ? (await import('../workers/worker-pool.ts')).createWorkerPool(context, settings)
      : createDataPlane(context, settings);
  return { context, dataPlane };
}
