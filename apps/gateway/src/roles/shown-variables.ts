import type { ServingSettings } from '../settings.ts';

/** Returns the variables of the environment that templates may read. */
export function shownVariables({ templateEnv = [] }: Pick<ServingSettings, 'templateEnv'>): NodeJS.ProcessEnv {
  return Object.fromEntries(templateEnv.map((name) => [name, process.env[name]]));
}
