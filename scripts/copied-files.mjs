// Files of other packages that ours carry, so that who installs ours does not install those.
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);

/** By folder: from which package which file or folder is copied, and to what. */
const FOLDERS = {
  // The scripts of the page to try GraphQL queries on.
  'packages/admin/assets': [
    ['graphiql', 'graphiql.min.js', 'graphiql.js'],
    ['graphiql', 'graphiql.min.css', 'graphiql.css'],
    ['graphiql', 'LICENSE', 'graphiql.LICENSE'],
    ['react', 'umd/react.production.min.js', 'react.js'],
    ['react-dom', 'umd/react-dom.production.min.js', 'react-dom.js'],
    ['react', 'LICENSE', 'react.LICENSE'],
  ],
  // The definitions of Envoy's API.
  'packages/xds/envoy-api': [
    ['@grpc/grpc-js-xds', 'deps/envoy-api/envoy', 'envoy'],
    ['@grpc/grpc-js-xds', 'deps/xds', '.'],
    ['@grpc/grpc-js-xds', 'deps/googleapis/google', 'google'],
    ['@grpc/grpc-js-xds', 'deps/protoc-gen-validate/validate', 'validate'],
  ],
};

const folderOf = (name) => dirname(require.resolve(`${name}/package.json`));
const versionOf = (name) => JSON.parse(readFileSync(join(folderOf(name), 'package.json'), 'utf8')).version;

/** Copies the files, unless those of the same versions are there. */
export function copyFiles() {
  for (const [folder, files] of Object.entries(FOLDERS)) {
    const to = join(root, folder);
    const wanted = JSON.stringify(files.map(([name, ...paths]) => [name, versionOf(name), ...paths]));
    const stamp = join(root, 'node_modules', `.copied-${folder.replaceAll('/', '-')}`);
    if (existsSync(to) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) continue;
    rmSync(to, { recursive: true, force: true });
    for (const [name, source, target] of files)
      cpSync(join(folderOf(name), source), join(to, target), { recursive: true });
    writeFileSync(stamp, wanted);
  }
}
