import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BUILD_TIMEOUT_MS, buildGoSources, findGo, skipWithoutGo } from './go-program.ts';

const run = promisify(execFile);
const SOURCES = join(import.meta.dirname, 'gateway-api-conformance');
const KINDS = /_(gatewayclasses|gateways|httproutes|grpcroutes|referencegrants)\.yaml$/;
const ALL = /^gateway\.networking\.k8s\.io_[a-z]+\.yaml$/;

/** The conformance suite of the Gateway API. */
export interface GatewayApiConformance {
  /** The program of the suite. */
  readonly program: string;
  /** The folder of its module. */
  readonly directory: string;
}

/** Returns the definitions of the kinds that the gateway serves. Skips the suite, with the reason printed, without Go. */
export async function gatewayApiDefinitions(test: Mocha.Context): Promise<string[]> {
  skipWithoutGo(test);
  return definitions(KINDS);
}

/** Returns the definitions of all kinds of the standard channel. */
export async function allGatewayApiDefinitions(test: Mocha.Context): Promise<string[]> {
  skipWithoutGo(test);
  return definitions(ALL);
}

/** Returns the conformance suite, after building it once. Skips the suite, with the reason printed, without Go. */
export async function gatewayApiConformance(test: Mocha.Context): Promise<GatewayApiConformance> {
  test.timeout(BUILD_TIMEOUT_MS);
  skipWithoutGo(test);
  const program = await buildGoSources({
    name: 'gateway-api-conformance',
    sources: SOURCES,
    files: ['conformance_test.go', 'go.mod', 'go.sum'],
    args: ['test', '-c', '-mod=readonly'],
    timeoutMs: BUILD_TIMEOUT_MS,
  });
  return { program, directory: await moduleFolder('sigs.k8s.io/gateway-api/conformance') };
}

async function definitions(wanted: RegExp): Promise<string[]> {
  const directory = join(await moduleFolder('sigs.k8s.io/gateway-api'), 'config', 'crd', 'standard');
  return readdirSync(directory)
    .filter((file) => wanted.test(file))
    .map((file) => readFileSync(join(directory, file), 'utf8'));
}

/** Returns the folder with the version of a module that `go.mod` names, after downloading it. */
async function moduleFolder(module: string): Promise<string> {
  const go = findGo();
  if (!go) throw new Error('there is no go');
  const { stdout } = await run(go, ['mod', 'download', '-json', module], { cwd: SOURCES, maxBuffer: 2 ** 24 });
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}
