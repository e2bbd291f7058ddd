// `npm start`: the gateway with the demo's backends and resources, or with `--config DIR` the gateway alone.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const args = process.argv.slice(2);
const ownResources =
  args.some((arg) => arg === '--config' || arg.startsWith('--config=')) || process.env.GATEWAY_CONFIG;
const answersItself = args.some((arg) => ['-h', '--help', '-V', '--version'].includes(arg));
const isDemo = !ownResources && !answersItself;

/** Programs that this one started, the gateway last. */
const children = [];

function run(script, scriptArgs, stdio) {
  const child = spawn(process.execPath, [join(root, script), ...scriptArgs], { cwd: process.cwd(), stdio });
  children.push(child);
  child.on('exit', (code) => {
    for (const other of children) if (other !== child) other.kill('SIGTERM');
    process.exitCode ||= code ?? 0;
  });
  return child;
}

/** Resolves with the addresses the gateway said it listens on. */
function listening(gateway) {
  return new Promise((resolve) => {
    gateway.on('message', (message) => {
      if (message?.ready) resolve(message.ready);
    });
  });
}

/** Prints where to log in and as whom, if the listener is where the demo's resources say it is. */
async function tellOfLogin() {
  const { DEMO_APP_URL, DEMO_USERS } = await import('../apps/demo/dist/index.js');
  const port = Number(new URL(DEMO_APP_URL).port);
  if (!ready.listeners.some((each) => each.protocol === 'https' && each.port === port)) return;
  const users = DEMO_USERS.map(({ email, password }) => `  ${email.padEnd(20)} password ${password}`);
  console.error(`Try, in a browser (its certificate is self-signed):
  ${DEMO_APP_URL}/account          a login; the tokens stay in the gateway
  ${DEMO_APP_URL}/cookies/account  the same with the tokens in cookies
${users.join('\n')}
`);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    for (const child of children) child.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
  });
}

const demoFolder = join(root, 'apps/gateway/demo');
if (isDemo) {
  const generated = join(demoFolder, 'generated');
  const { ensureSecrets } = await import('../apps/demo/dist/index.js');
  await ensureSecrets(generated);
  run('apps/demo/dist/main.js', [generated], 'inherit');
}
const gatewayArgs = isDemo ? ['--config', demoFolder, ...args] : args;
const gateway = run('apps/gateway/dist/main.js', gatewayArgs, ['inherit', 'inherit', 'inherit', 'ipc']);

const ready = await listening(gateway);
const http = ready.listeners.find((each) => each.protocol === 'http');
const url = http && `http://localhost:${http.port}`;
console.error(`
The gateway runs.
  requests       ${ready.listeners.map((each) => `${each.protocol}://localhost:${each.port}`).join('  ') || 'no listener yet: no virtual service'}
  proxy admin    http://localhost:${ready.adminPort}
  control plane  http://localhost:${ready.statsPort}
`);
if (isDemo && url) {
  console.error(`Try, in another terminal:
  curl ${url}/api/v1/products
  curl -i ${url}/echo/hello
  npm run gatewayctl -- get virtualservices
`);
}
if (isDemo) await tellOfLogin();
console.error('Ctrl-C stops it.');
