// `npm run pack`: writes every package as a tarball into a folder, by default `packed`.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pack, published } from './published.mjs';

const [folder = 'packed', ...rest] = process.argv.slice(2);
if (rest.length > 0 || folder.startsWith('-')) {
  console.error('usage: npm run pack [-- FOLDER]');
  process.exit(2);
}
const out = resolve(folder);
mkdirSync(out, { recursive: true });
// Otherwise a tarball of an earlier version would be installed too.
for (const name of readdirSync(out)) if (/^edge-gateway-.*\.tgz$/.test(name)) rmSync(join(out, name));

try {
  for (const tarball of pack(published, out)) console.log(relative(process.cwd(), tarball));
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
