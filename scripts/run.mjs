// npm's scripts: sets up, builds, and runs the task on the repository's own Node.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyFiles } from './copied-files.mjs';
import { whenParentEnds } from './parent.mjs';
import { showProgress } from './progress.mjs';
import { setup } from './setup.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, 'node_modules', '.bin');
const [task, ...given] = process.argv.slice(2);

/**
 * What each task runs after the build, with which flags of Node, and whether it needs more than running does. npm runs scripts in the root of the repository;
 * `INIT_CWD` is the directory of its caller, which paths on the command line are relative to.
 */
const TASKS = {
  build: {},
  start: { script: 'scripts/start.mjs', cwd: process.env.INIT_CWD },
  'demo:kubernetes': { scope: 'all', script: 'scripts/demo-kubernetes.ts', flags: ['--conditions=source'] },
  test: { scope: 'all', script: 'scripts/test.mjs' },
  e2e: { scope: 'all', script: 'scripts/test.mjs', args: ['--e2e'] },
  bench: { scope: 'all', script: 'bench/main.ts', flags: ['--expose-gc', '--conditions=source'] },
  mutation: { scope: 'all', script: 'scripts/mutation.mjs' },
  pack: { script: 'scripts/pack.mjs', cwd: process.env.INIT_CWD },
  release: { scope: 'all', script: 'scripts/release.mjs' },
  docs: { scope: 'all', script: 'scripts/docs.ts', flags: ['--conditions=source'] },
  gateway: { script: 'apps/gateway/bundle/edge-gateway.js', cwd: process.env.INIT_CWD },
  gatewayctl: { script: 'packages/cli/bundle/gatewayctl.js', cwd: process.env.INIT_CWD },
};

if (!Object.hasOwn(TASKS, task)) {
  console.error(`run.mjs: unknown task ${task}; one of ${Object.keys(TASKS).join(', ')}`);
  process.exit(2);
}

const { scope = 'run', script, flags = [], args = [], cwd } = TASKS[task];
/** Set for programs that a task with everything starts, as tests do: the repository is installed and built. */
const isReady = process.env.REPOSITORY_READY === root && script !== undefined;
if (!isReady) await setup(scope);

const own = join(bin, process.platform === 'win32' ? 'node.cmd' : 'node');
const node = existsSync(own) ? own : process.execPath;
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
if (!isReady) await build();
if (!script) process.exit(0);

if (scope === 'all') env.REPOSITORY_READY = root;
const child = spawn(node, [...flags, join(root, script), ...args, ...given], { env, cwd, stdio: 'inherit' });
let isStopping = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    isStopping = true;
    child.kill(signal);
  });
// A second signal would cut off the requests in progress.
whenParentEnds(() => isStopping || child.kill('SIGTERM'));
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));

/** Builds what has changed; ends the process if that fails, or if Node is too old. */
async function build() {
  const [major, minor] = spawnSync(node, ['-p', 'process.versions.node'], { env })
    .stdout.toString()
    .split('.')
    .map(Number);
  if (major < 22 || (major === 22 && minor < 18)) {
    console.error(
      `This machine has Node ${major}.${minor} and no pinned one exists for ${process.platform} ${process.arch}.`,
    );
    console.error('Install Node 22.18 or later and run the command again.');
    process.exit(1);
  }

  copyFiles();
  const progress = showProgress('building');
  const flags = process.stdout.isTTY ? ['-b', '--pretty'] : ['-b'];
  const steps = await Promise.all([
    outcome(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), ...flags),
    outcome(join(root, 'scripts', 'bundle.mjs')),
  ]);
  progress.end();
  for (const { output } of steps) process.stdout.write(output);
  const failed = steps.find(({ code }) => code !== 0);
  if (failed) process.exit(failed.code ?? 1);
}

/** Runs a script, and resolves with its exit code and output. */
async function outcome(...argv) {
  const child = spawn(node, argv, { cwd: root, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  return { code, output };
}
