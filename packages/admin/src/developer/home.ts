import type { RequestHandler } from 'express';
import { send } from '../http/answer.ts';
import { page } from '../http/page.ts';

const LINKS = `<p>Deprecated: use <code>/snapshots</code> of the control-plane port.</p>
<ul><li><a href="/xds">/xds</a>: what each data plane gets</li><li><a href="/api">/api</a>: the resources in use</li></ul>`;

/** `/`: the links. */
export const home: RequestHandler = (_req, res) => send(res, { type: 'html', body: page('Developer API', LINKS) });
