import { installBeside, moduleIn } from './installed.ts';

const FOLDER = 'hive';

/** What is compared with. */
const DEPENDENCIES = {
  '@graphql-hive/gateway': '2.15.1',
  '@graphql-mesh/transport-rest': '0.12.2',
  '@theguild/federation-composition': '0.26.3',
};

/** Installs Hive gateway beside the workspace where it is missing. Throws where npm cannot. */
export function installHive(): void {
  installBeside(FOLDER, DEPENDENCIES);
}

/** A module of what was installed. */
export function hiveModule(name: string): Promise<Record<string, unknown>> {
  return moduleIn(FOLDER, name);
}
