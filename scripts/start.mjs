// `npm start`: the gateway with the demo's backends and resources, or with `--config DIR` the gateway alone. Other roles run without the demo.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { whenParentEnds } from './parent.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const args = process.argv.slice(2);
/** The role is the first argument: no flag may precede it. */
const role = args[0] === undefined || args[0].startsWith('-') ? 'all' : args[0];
const hasConfig = args.some((arg) => arg === '--config' || arg.startsWith('--config=')) || process.env.GATEWAY_CONFIG;
const isDemo = role === 'all' && !hasConfig;
const demoFolder = join(root, 'apps/gateway/demo');
const gatewayArgs = isDemo ? ['--config', demoFolder, ...args] : args;
/** The default ports of gatewayctl. */
const DEFAULT_PORTS = { adminPort: 19_000, statsPort: 9091 };

/** Programs that this one started, the gateway last. */
const children = [];

/** Starts a program; when it ends, so do the others. */
function run(script, scriptArgs) {
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc'];
  // Compiled code of the last start: a quarter less CPU time until the gateway serves.
  const env = { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile'), ...process.env };
  const child = spawn(process.execPath, [join(root, script), ...scriptArgs], { cwd: process.cwd(), stdio, env });
  children.push(child);
  child.on('exit', (code) => {
    for (const other of children) if (other !== child) other.kill('SIGTERM');
    process.exitCode ||= code ?? 0;
  });
  return child;
}

/** Resolves with the ready message of a program, or with nothing if it ends before. */
function outcome(child) {
  return new Promise((resolve) => {
    child.on('message', (message) => {
      if (message?.ready) resolve(message);
    });
    child.on('exit', () => resolve({}));
  });
}

/** The gateway, once it is started: requests in progress need the demo until it has ended. */
let gateway;
let isStopping = false;

/** Ends the gateway and then the demo. Again, it ends the gateway at once. */
function stop(signal = 'SIGTERM') {
  isStopping = true;
  if (gateway) gateway.kill(signal);
  else for (const child of children) child.kill('SIGTERM');
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => stop(signal === 'SIGHUP' ? 'SIGTERM' : signal));
// A second signal would cut off the requests in progress.
whenParentEnds(() => isStopping || stop());

// A failure of this program must not leave the others running.
process.on('exit', () => {
  for (const child of children) child.kill('SIGTERM');
});

// Without the demo, the gateway itself does so.
if (isDemo) await checkArguments();
const demo = isDemo ? await startDemo() : { ready: true };
if (demo.ready) {
  gateway = run('apps/gateway/bundle/edge-gateway.js', gatewayArgs);
  const { ready } = await outcome(gateway);
  // The log shows the addresses of the other roles.
  if (ready && role === 'all') await greet(ready);
}

/** Prints help or what is wrong with the arguments, and ends, before the demo is started. */
async function checkArguments() {
  const [{ createProgram }, { rejectOptionsKeptByNpm }] = await Promise.all([
    import('../apps/gateway/dist/command-line/program.js'),
    import('../apps/gateway/dist/command-line/npm-options.js'),
  ]);
  const program = createProgram(async () => {});
  rejectOptionsKeptByNpm(program, args);
  await program.parseAsync(gatewayArgs, { from: 'user' });
}

async function startDemo() {
  const generated = join(demoFolder, 'generated');
  const { ensureSecrets } = await import('../apps/demo/dist/index.js');
  await ensureSecrets(generated);
  return outcome(run('apps/demo/dist/main.js', [generated]));
}

/** Prints the listeners of the gateway, those that are missing, and commands to try. */
async function greet(ready) {
  const { listeners, unserved = [], problems, firstProblems = [], adminPort, statsPort } = ready;
  const urls = listeners.map((each) => `${each.protocol}://localhost:${each.port}`);
  if (urls.length === 0) urls.push(`no listener yet${unserved.length === 0 ? ': no virtual service' : ''}`);
  const moreProblems = firstProblems.filter((line) => !unserved.some(({ reason }) => line.includes(reason)));
  const rows = [
    ['requests', urls],
    ...unserved.map((each) => ['not served', unservedLines(each)]),
    ...(problems > 0 ? [['problems', [`${problems}, listed by:`, `${gatewayctl(ready)} check`, ...moreProblems]]] : []),
    ['proxy admin', [`http://localhost:${adminPort}`]],
    ['GraphQL', [`http://localhost:${adminPort}/graphql (explorer)`]],
    ['control plane', [`http://localhost:${statsPort} (status page)`]],
  ];
  const state = unserved.length === 0 ? '.' : ', but some listeners are not served.';
  console.error(`\nThe gateway is running${state}\n${rows.map((row) => rowOf(...row)).join('\n')}\n`);
  const http = listeners.find((each) => each.protocol === 'http');
  const tcp = listeners.find((each) => each.protocol === 'tcp');
  if (isDemo && http) {
    const url = `http://localhost:${http.port}`;
    console.error(`Try, in another terminal:
  curl ${url}/api/v1/products
  curl -i ${url}/echo/hello
  curl --http2-prior-knowledge -i ${url}/echo/hello
${tcp ? `  curl -i http://localhost:${tcp.port}/over/tcp\n` : ''}  ${gatewayctl(ready)} get virtualservices
`);
  }
  if (isDemo) await greetUsers(listeners);
  if (isDemo && unserved.length > 0)
    console.error(
      `Ports in use are tried again until they are free. To use others, change bindPort in ${demoFolder}/gateways.yaml.`,
    );
  // Only gateways that no resource declares use these flags.
  if (isDemo && args.some((arg) => /^--https?-port\b/.test(arg)))
    console.error(
      `--http-port and --https-port have no effect: ${demoFolder}/gateways.yaml sets the ports of the demo.`,
    );
  console.error('Press Ctrl-C to stop.');
}

/** The name of a listener, why it is not served, and the resources with the problem. */
function unservedLines({ name, reason, resources = [] }) {
  // The status of the resource has these words in front.
  const cause = reason.replace(/\b\w+ (?:Error|Warning): \w+\. Reason: /, '');
  return [name, cause, ...resources.map((each) => `see ${each.kind} ${each.namespace}/${each.name}`)];
}

/** A label and its lines beside it, wrapped at spaces to the width of the terminal, except commands, which are copied. */
function rowOf(label, lines) {
  const width = Math.max(20, (process.stderr.columns || Infinity) - 17);
  const wrapped = lines.flatMap((line) => {
    if (line.startsWith('npm ')) return line;
    const pieces = [''];
    for (const word of line.split(' ')) {
      const last = pieces.at(-1);
      if (last !== '' && last.length + 1 + word.length > width) pieces.push(word);
      else pieces[pieces.length - 1] = last === '' ? word : `${last} ${word}`;
    }
    return pieces;
  });
  return `  ${label.padEnd(15)}${wrapped.join(`\n${' '.repeat(17)}`)}`;
}

/** The command line that reaches this gateway. */
function gatewayctl({ adminPort, statsPort }) {
  const server = statsPort === DEFAULT_PORTS.statsPort ? '' : ` --server http://localhost:${statsPort}`;
  const admin = adminPort === DEFAULT_PORTS.adminPort ? '' : ` --proxy-admin http://localhost:${adminPort}`;
  return `npm run gatewayctl --${server}${admin}`;
}

/** Prints where to log in and as whom, if the listener is on the port in the demo's resources. */
async function greetUsers(listeners) {
  const { DEMO_APP_URL, DEMO_USERS } = await import('../apps/demo/dist/index.js');
  const port = Number(new URL(DEMO_APP_URL).port);
  if (!listeners.some((each) => each.protocol === 'https' && each.port === port)) return;
  const users = DEMO_USERS.map(({ email, password }) => `  ${email.padEnd(20)} password ${password}`);
  console.error(`Try, in a browser (its certificate is self-signed):
  ${DEMO_APP_URL}/account
      a login; the tokens stay in the gateway
  ${DEMO_APP_URL}/cookies/account
      the same, with the tokens in cookies
${users.join('\n')}
`);
}
