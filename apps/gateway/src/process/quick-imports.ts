import { registerHooks } from 'node:module';

/** The folder with the compiled modules of a package. */
const COMPILED = '/dist/';
const OWN_PACKAGES = '@edge-gateway/';
/** Exports of `node:http` that belong to the `fetch` of Node.js: their getters load it. */
const FETCH_EXPORTS = ['WebSocket', 'CloseEvent', 'MessageEvent'];

/** Makes the imports of this program faster. Call it before other modules are imported. */
export async function importQuickly(): Promise<void> {
  resolveOwnModules();
  await importHttp();
}

/**
 * Resolves imports within a package of this program without looking for files: Node.js would search the folders above each of a thousand modules for
 * the `package.json` with its format. Sources and other packages are resolved as usual.
 */
function resolveOwnModules(): void {
  const folders = new Set<string>();
  const add = (url: string): void => {
    const folder = folderOf(url);
    if (folder !== '') folders.add(folder);
  };
  add(import.meta.url);
  registerHooks({
    resolve(specifier, context, next) {
      const { parentURL } = context;
      if (specifier.startsWith('.') && specifier.endsWith('.js') && parentURL && folders.has(folderOf(parentURL)))
        return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true };
      const found = next(specifier, context);
      if (specifier.startsWith(OWN_PACKAGES)) add(found.url);
      return found;
    },
  });
}

/** Returns the folder with the compiled modules of a package; empty for any other module. */
function folderOf(url: string): string {
  // Sources may be below a folder of this name.
  if (!url.endsWith('.js')) return '';
  const at = url.lastIndexOf(COMPILED);
  return at === -1 ? '' : url.slice(0, at + COMPILED.length);
}

/**
 * Imports `node:http` without the `fetch` of Node.js, which this program does not use: an import reads all exports, and so calls their getters. Later
 * imports of these names from `node:http` return `undefined`; they remain properties of the module, and global.
 */
async function importHttp(): Promise<void> {
  const http = process.getBuiltinModule('node:http');
  const kept: [string, PropertyDescriptor][] = [];
  for (const name of FETCH_EXPORTS) {
    const found = Object.getOwnPropertyDescriptor(http, name);
    if (found?.get && found.configurable && Reflect.deleteProperty(http, name)) kept.push([name, found]);
  }
  await import('node:http');
  for (const [name, found] of kept) Object.defineProperty(http, name, found);
}
