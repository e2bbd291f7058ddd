import { oidc, type OidcOptions } from '../../src/index.ts';
import { createFileStore } from './file-store.ts';
import { startSite } from './site.ts';

/** One server of several, as a process of its own: `node node.ts '<options as JSON>' [<directory of sessions>]`. Prints its address. */
const site = await startSite();
const [, , json = '{}', directory = ''] = process.argv;
const options = JSON.parse(json) as OidcOptions;
const own = directory === '' ? {} : { store: createFileStore(directory) };
site.use(oidc({ ...options, session: { ...(options.session as object), ...own } }));
console.log(site.url);
