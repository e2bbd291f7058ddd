import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { skip } from '../parts/skip.ts';
import { ROOT } from '../docs/workspace.ts';
import { allGatewayApiDefinitions, gatewayApiConformance } from '../parts/gateway-api.ts';
import { ARTIFACTS } from '../parts/go-program.ts';
import { findProgram } from '../parts/apt.ts';
import { skipWithoutKubernetes } from '../parts/kubernetes.ts';
import { readResults, resultsPage, type ConformanceResults } from './results.ts';
import type { RunOptions } from './run.ts';

const PAGE = join(ROOT, 'docs', 'gateway-api-conformance.md');
/** Only this test, for debugging. */
const ONLY = process.env.CONFORMANCE_TEST;
/** Any address of the network is one of this machine. */
const NETWORK = 'ip link set lo up && ip route add local 198.18.0.0/15 dev lo && exec "$@"';

describe('conformance with the Gateway API', function () {
  this.timeout(1_800_000);
  let results: ConformanceResults;
  let version: string;

  before(async function () {
    if (!findProgram('unshare') || !findProgram('ip')) return skip(this, 'there is no unshare or ip');
    const kubernetes = await skipWithoutKubernetes(this);
    const { program, directory } = await gatewayApiConformance(this);
    const definitions = await allGatewayApiDefinitions(this);
    version = directory.slice(directory.lastIndexOf('@v') + 2);
    const folder = join(ARTIFACTS, 'gateway-api-conformance');
    mkdirSync(folder, { recursive: true });
    const output = join(folder, 'output.txt');
    const files = definitions.map((text, i) => {
      const file = join(folder, `definition-${i}.yaml`);
      writeFileSync(file, text);
      return file;
    });
    const options: RunOptions = {
      kubernetes,
      conformance: program,
      module: directory,
      definitions: files,
      output,
      log: join(folder, 'control-plane.log'),
      ...(ONLY && { test: ONLY }),
    };
    this.timeout(1_800_000);
    const script = [
      process.execPath,
      '--conditions=source',
      join(import.meta.dirname, 'run.ts'),
      JSON.stringify(options),
    ];
    const args = ['--map-root-user', '--net', 'sh', '-c', NETWORK, 'sh', ...script];
    const child = spawn('unshare', args, { stdio: ['ignore', 'inherit', 'inherit'] });
    await once(child, 'close');
    results = readResults(readFileSync(output, 'utf8'));
    const { passed, failed, leftOut } = results;
    const skipped = [...leftOut.values()].flat().length;
    console.log(`      passed ${passed.length}, failed ${failed.length} (${failed.join(', ')}), left out ${skipped}`);
  });

  it('passes all tests for the features that it reports', () => {
    expect(results.failed).to.deep.equal([]);
    expect(results.passed).to.not.deep.equal([]);
  });

  it('is as its page says', function () {
    if (ONLY) return skip(this, 'the page has the results of all tests');
    const page = resultsPage(results, version);
    if (process.env.UPDATE_GOLDEN) writeFileSync(PAGE, page);
    // The formatter aligns tables.
    const words = (text: string): string => text.replaceAll(/[\s|-]+/g, ' ');
    expect(words(readFileSync(PAGE, 'utf8'))).to.equal(words(page));
  });
});
