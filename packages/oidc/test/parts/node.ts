import { oidc, type OidcOptions } from '../../src/index.ts';
import { startSite } from './site.ts';

/** One server of several, as a process of its own: `node node.ts '<options as JSON>'`. Prints its address. */
const site = await startSite();
site.use(oidc(JSON.parse(process.argv[2] ?? '{}') as OidcOptions));
console.log(site.url);
