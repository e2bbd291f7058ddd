// Plain JavaScript, loaded before each program: prints one line in place of a stack if Node is too old or a dependency is missing.
import { readFileSync } from 'node:fs';

function fail(message) {
  console.error(message);
  process.exit(1);
}

if (!process.features.typescript) {
  fail(`Node ${process.version} cannot run this example: install Node 22.18 or later, which runs TypeScript.`);
}
const { dependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const required = [...Object.keys(dependencies), ...(process.argv[1]?.endsWith('provider.ts') ? ['oidc-provider'] : [])];
for (const name of required) {
  try {
    import.meta.resolve(name);
  } catch {
    fail(`${name} is not installed: follow the steps in README.md, which end with npm install.`);
  }
}
